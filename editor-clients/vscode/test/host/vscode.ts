/** An editor made of a script: what the extension calls of VS Code, as far as tests outside of it meet it. */

interface Disposable {
  dispose(): void;
}

const nothing = (): Disposable => ({ dispose: () => undefined });

type Listener<T> = (event: T) => unknown;

export class EventEmitter<T> {
  readonly #listeners = new Set<Listener<T>>();

  readonly event = (listener: Listener<T>): Disposable => {
    this.#listeners.add(listener);
    return { dispose: () => this.#listeners.delete(listener) };
  };

  fire(event: T): void {
    for (const listener of [...this.#listeners]) listener(event);
  }

  dispose(): void {
    this.#listeners.clear();
  }
}

export class Uri {
  private constructor(
    readonly scheme: string,
    readonly authority: string,
    readonly path: string,
    readonly query: string,
  ) {}

  static parse(text: string): Uri {
    const [, scheme = "", authority = "", path = "", query = ""] = /^([\w-]+):(?:\/\/([^/?]*))?([^?]*)(?:\?(.*))?$/.exec(text) ?? [];
    return new Uri(scheme, authority, path, query);
  }

  static file(path: string): Uri {
    return new Uri("file", "", path, "");
  }

  static joinPath(uri: Uri, ...names: string[]): Uri {
    return uri.with({ path: [uri.path, ...names].join("/") });
  }

  get fsPath(): string {
    return this.path;
  }

  with({ scheme = this.scheme, authority = this.authority, path = this.path, query = this.query }: { scheme?: string; authority?: string; path?: string; query?: string }): Uri {
    return new Uri(scheme, authority, path, query);
  }

  toString(): string {
    return `${this.scheme}://${this.authority}${this.path}${this.query === "" ? "" : `?${this.query}`}`;
  }
}

/** An input box or a quick pick. As in the editor it is gone some time after it was hidden. */
export class Box {
  title = "";
  prompt = "";
  value = "";
  ignoreFocusOut = false;
  items: readonly { label: string }[] = [];
  selectedItems: readonly { label: string }[] = [];
  readonly #accepted = new EventEmitter<undefined>();
  readonly #hidden = new EventEmitter<undefined>();
  readonly #changed = new EventEmitter<string>();
  readonly onDidAccept = this.#accepted.event;
  readonly onDidHide = this.#hidden.event;
  readonly onDidChangeValue = this.#changed.event;

  show(): void {
    editor.boxes.push(this);
  }

  hide(): void {
    setImmediate(() => {
      this.#hidden.fire(undefined);
    });
  }

  dispose(): void {
    editor.boxes = editor.boxes.filter((box) => box !== this);
  }

  /** What a user does. */
  type(text: string): void {
    this.value = text;
    this.#changed.fire(text);
  }

  accept(...labels: string[]): void {
    this.selectedItems = this.items.filter(({ label }) => labels.some((one) => label.endsWith(one)));
    this.#accepted.fire(undefined);
  }
}

/** A chat in a tab, with the page's side of it. */
export class Panel {
  title = "";
  active = true;
  visible = true;
  readonly #disposed = new EventEmitter<undefined>();
  readonly #received = new EventEmitter<unknown>();
  readonly onDidDispose = this.#disposed.event;
  readonly onDidChangeViewState = nothing;
  readonly posted: unknown[] = [];
  readonly webview = {
    html: "",
    options: {},
    cspSource: "here",
    asWebviewUri: (uri: Uri) => uri,
    onDidReceiveMessage: this.#received.event,
    postMessage: (messages: unknown[]) => this.posted.push(...messages),
  };

  reveal(): void {
    this.active = true;
  }

  /** What the page says. */
  says(message: unknown): void {
    this.#received.fire(message);
  }

  dispose(): void {
    this.#disposed.fire(undefined);
  }
}

export class TabInputTextDiff {
  constructor(
    readonly original: Uri,
    readonly modified: Uri,
  ) {}
}

export interface Tab {
  label: string;
  input: unknown;
}

const tabsChanged = new EventEmitter<{ opened: Tab[]; closed: Tab[]; changed: Tab[] }>();

/** What tests look at, and the user's hand. */
export const editor = {
  said: [] as string[],
  boxes: [] as Box[],
  panels: [] as Panel[],
  tabs: [] as Tab[],
  /** How files are read. */
  read: (path: string): Promise<Uint8Array> => Promise.reject(new Error(`no ${path}`)),
  open(tab: Tab): void {
    editor.tabs.push(tab);
    tabsChanged.fire({ opened: [tab], closed: [], changed: [] });
  },
  close(tabs: readonly Tab[]): void {
    editor.tabs = editor.tabs.filter((tab) => !tabs.includes(tab));
    tabsChanged.fire({ opened: [], closed: [...tabs], changed: [] });
  },
  /** The box that is open, once it is another than `before`. */
  async box(before?: Box): Promise<Box> {
    for (;;) {
      const box = editor.boxes.at(-1);
      if (box && box !== before) return box;
      await new Promise(setImmediate);
    }
  },
};

function say(words: string): Promise<undefined> {
  editor.said.push(words);
  return Promise.resolve(undefined);
}

export const window = {
  activeTextEditor: undefined,
  showInformationMessage: say,
  showWarningMessage: say,
  showErrorMessage: say,
  createInputBox: () => new Box(),
  createQuickPick: () => new Box(),
  withProgress: (_: unknown, task: (progress: { report(): void }, token: { onCancellationRequested: () => Disposable }) => Promise<void>) => task({ report: () => undefined }, { onCancellationRequested: nothing }),
  createWebviewPanel: () => {
    const panel = new Panel();
    editor.panels.push(panel);
    return panel;
  },
  registerWebviewViewProvider: nothing,
  registerWebviewPanelSerializer: nothing,
  tabGroups: {
    get all() {
      return [{ tabs: editor.tabs }];
    },
    onDidChangeTabs: tabsChanged.event,
    close: (tabs: readonly Tab[]) => {
      editor.close(tabs);
      return Promise.resolve(true);
    },
  },
};

export const workspace = {
  textDocuments: [],
  workspaceFolders: [{ name: "ws", uri: Uri.file("/ws") }],
  getWorkspaceFolder: () => undefined,
  asRelativePath: ({ path }: Uri) => path.replace(/^.*\//, ""),
  registerTextDocumentContentProvider: nothing,
  fs: {
    readFile: ({ path }: Uri) => editor.read(path),
    stat: async ({ path }: Uri) => {
      await editor.read(path);
      return { type: FileType.File };
    },
  },
};

export const commands = {
  executeCommand: (name: string, ...args: unknown[]): Promise<void> => {
    const [original, modified, label] = args;
    if (name === "vscode.diff") editor.open({ label: label as string, input: new TabInputTextDiff(original as Uri, modified as Uri) });
    else if (name === "vscode.changes") editor.open({ label: original as string, input: undefined });
    return Promise.resolve();
  },
};

export const FileType = { File: 1, Directory: 2 };
export const ViewColumn = { Beside: -2 };
export const ProgressLocation = { Notification: 15 };
export const QuickPickItemKind = { Separator: -1, Default: 0 };
export const DiagnosticSeverity = { Error: 0, Warning: 1, Information: 2, Hint: 3 };
export const languages = { getDiagnostics: () => [] };

export class Range {
  readonly ends: number[];

  constructor(...ends: number[]) {
    this.ends = ends;
  }
}
