/** The list of sessions: search, open, rename, archive, delete. */
import * as vscode from "vscode";
import type { Session } from "../protocol";
import { requestError } from "./failure";
import { folderFor, folders } from "./folders";
import { iconless, oneLine } from "./plain";
import { input } from "./quick";
import type { Server } from "./server";
import type { Sessions } from "./sessions";

type Deed = "tab" | "rename" | "archive" | "delete";
interface Button extends vscode.QuickInputButton {
  deed: Deed;
}
interface Row extends vscode.QuickPickItem {
  session?: Session;
}

const SEARCH_PAUSE = 200;
const FRESH: Row = { label: "$(add) New session", alwaysShow: true };

function button(deed: Deed, icon: string, tooltip: string): Button {
  return { deed, iconPath: new vscode.ThemeIcon(icon), tooltip };
}

const OPEN_BUTTONS = [button("tab", "split-horizontal", "Open in an editor tab"), button("rename", "edit", "Rename"), button("archive", "archive", "Archive"), button("delete", "trash", "Delete")];
const ARCHIVED_BUTTONS = [button("archive", "discard", "Take out of the archive"), button("delete", "trash", "Delete")];
const ARCHIVE = { iconPath: new vscode.ThemeIcon("archive"), tooltip: "Show archived sessions, or the others" };

export type Picked = { sessionId?: string; tab: boolean };

export class SessionPicker {
  readonly #quick = vscode.window.createQuickPick<Row>();
  #archived = false;
  #asked = 0;

  private constructor(
    private readonly server: Server,
    private readonly sessions: Sessions,
    private readonly done: (picked: Picked | undefined) => void,
  ) {}

  /** The session to show; absent if the user left. */
  static pick(server: Server, sessions: Sessions): Promise<Picked | undefined> {
    return new Promise((resolve) => {
      new SessionPicker(server, sessions, resolve).#show();
    });
  }

  #show(): void {
    const quick = this.#quick;
    let timer: NodeJS.Timeout | undefined;
    quick.placeholder = "Search by title";
    quick.matchOnDescription = true;
    quick.buttons = [ARCHIVE];
    quick.onDidChangeValue(() => {
      clearTimeout(timer);
      timer = setTimeout(() => void this.#load(), SEARCH_PAUSE);
    });
    quick.onDidTriggerButton(() => {
      this.#archived = !this.#archived;
      void this.#load();
    });
    quick.onDidTriggerItemButton(({ item, button: pressed }) => void this.#act(item, (pressed as Button).deed));
    quick.onDidAccept(() => {
      const row = quick.selectedItems[0];
      if (row) this.#close(row.session ? { sessionId: row.session.id, tab: false } : { tab: false });
    });
    quick.onDidHide(() => {
      clearTimeout(timer);
      this.done(undefined);
      quick.dispose();
    });
    quick.show();
    void this.#load();
  }

  #close(picked: Picked): void {
    this.done(picked);
    this.#quick.hide();
  }

  async #load(): Promise<void> {
    this.#asked += 1;
    const asked = this.#asked;
    this.#quick.busy = true;
    this.#quick.title = this.#archived ? "Archived sessions" : "Sessions";
    const query = this.#quick.value.trim();
    const rest = { archived: this.#archived, limit: 100, ...(query === "" ? {} : { query }) };
    try {
      const lists = await Promise.all(folders().map(({ path }) => this.server.request("session/list", { directory: path, ...rest })));
      if (asked !== this.#asked) return;
      const found = lists.flatMap((list) => list.sessions).filter(({ parentId }) => parentId === undefined);
      const rows = found.sort((one, other) => other.time.updated - one.time.updated).map((session) => this.#row(session));
      this.#quick.items = this.#archived ? rows : [FRESH, ...rows];
    } catch (error) {
      this.#quick.hide();
      void vscode.window.showErrorMessage(`The sessions could not be listed: ${requestError(error).message}`);
    }
    this.#quick.busy = false;
  }

  #row(session: Session): Row {
    const status = this.sessions.status(session.id);
    const doing = status === "idle" ? "" : ` · ${status}`;
    return {
      label: labelOf(session),
      description: `${ageOf(session.time.updated)}${placeOf(session)}${doing}`,
      buttons: this.#archived ? ARCHIVED_BUTTONS : OPEN_BUTTONS,
      session,
    };
  }

  async #act({ session }: Row, deed: Deed): Promise<void> {
    if (session === undefined) return;
    if (deed === "tab") {
      this.#close({ sessionId: session.id, tab: true });
      return;
    }
    try {
      await act(this.server, session, deed, this.#archived);
    } catch (error) {
      void vscode.window.showErrorMessage(`Not done: ${requestError(error).message}`);
    }
    if (deed === "archive") await this.#load();
  }
}

function ageOf(time: number, now = Date.now()): string {
  const minutes = Math.max(0, Math.floor((now - time) / 60_000));
  if (minutes < 60) return `${minutes} min ago`;
  const hours = Math.floor(minutes / 60);
  return hours < 24 ? `${hours} h ago` : `${Math.floor(hours / 24)} d ago`;
}

function labelOf(session: Session): string {
  return iconless(oneLine(session.title === "" ? "New session" : session.title, 80));
}

/** Where it works, if that is not the only place. */
function placeOf(session: Session): string {
  const folder = folders().length > 1 ? folderFor(session.directory)?.name : undefined;
  return folder === undefined ? "" : ` · ${folder}`;
}

async function act(server: Server, session: Session, deed: Exclude<Deed, "tab">, archived: boolean): Promise<void> {
  const sessionId = session.id;
  if (deed === "archive") await server.request("session/update", { sessionId, archived: !archived });
  else if (deed === "rename") {
    const title = await input({ title: "Rename the session", prompt: "Its title", value: session.title });
    if (title) await server.request("session/update", { sessionId, title });
  } else {
    const detail = "Its messages are gone for good. Files are left as they are.";
    const yes = await vscode.window.showWarningMessage(`Delete “${labelOf(session)}”?`, { modal: true, detail }, "Delete");
    if (yes === "Delete") await server.request("session/delete", { sessionId });
  }
}
