/** One connection to a running server: the language client, as we want it. */
import type * as vscode from "vscode";
import { CloseAction, ErrorAction, LanguageClient, type LanguageClientOptions } from "vscode-languageclient/node";
import { PROTOCOL_VERSION, type ClientOptions, type Notifications, type Requests } from "../protocol";
import type { ServerProcess } from "./process";

/** Requests that the server sends to the editor. */
export type EditorMethod = "document/save" | "editor/diagnostics" | "editor/context";
export type EditorHandlers = { [M in EditorMethod]: (params: Requests[M]["params"]) => Promise<Requests[M]["result"]> };

export type NotificationMethod = keyof Notifications;
export type Notified = (method: NotificationMethod, params: Notifications[NotificationMethod]) => void;

export interface ClientParts {
  channel: vscode.LogOutputChannel;
  options: Pick<ClientOptions, "trusted" | "settings">;
  handlers: EditorHandlers;
  notified: Notified;
}

const NOTIFICATIONS = {
  "session/created": true,
  "session/updated": true,
  "session/deleted": true,
  "session/status": true,
  "session/usage": true,
  "session/diff": true,
  "session/resync": true,
  "turn/started": true,
  "turn/ended": true,
  "message/updated": true,
  "message/removed": true,
  "part/updated": true,
  "part/delta": true,
  "part/removed": true,
  "permission/asked": true,
  "permission/resolved": true,
  "question/asked": true,
  "question/resolved": true,
  "todo/updated": true,
  "queue/changed": true,
  "file/edited": true,
  notice: true,
  "server/status": true,
} as const satisfies Record<NotificationMethod, true>;

/** Says nothing to the user by itself, for what to do and say about an end is ours. */
class QuietClient extends LanguageClient {
  override error(message: string, data?: unknown): void {
    super.error(message, data, false);
  }
}

function initializationOptions(options: ClientParts["options"]): { agentls: ClientOptions } {
  return {
    agentls: {
      protocolVersion: PROTOCOL_VERSION,
      clientId: "vscode",
      ui: { permission: true, question: true, diff: true },
      events: { deltas: true, coalesceMs: 33 },
      documents: { save: true, diagnostics: true, context: true },
      ...options,
    },
  };
}

function clientOptions({ channel, options }: ClientParts): LanguageClientOptions {
  return {
    documentSelector: [{ scheme: "file" }, { scheme: "untitled" }],
    outputChannel: channel,
    initializationOptions: initializationOptions(options),
    initializationFailedHandler: () => false,
    errorHandler: {
      error: () => ({ action: ErrorAction.Continue, handled: true }),
      closed: () => ({ action: CloseAction.DoNotRestart, handled: true }),
    },
  };
}

export function clientFor(running: ServerProcess, parts: ClientParts): LanguageClient {
  const client = new QuietClient("agentls", "agentls", () => Promise.resolve(running.child), clientOptions(parts));
  for (const method of Object.keys(NOTIFICATIONS) as NotificationMethod[]) {
    client.onNotification(method, (params: Notifications[NotificationMethod]) => {
      parts.notified(method, params);
    });
  }
  const { handlers } = parts;
  client.onRequest("document/save", (params: Requests["document/save"]["params"]) => handlers["document/save"](params));
  client.onRequest("editor/diagnostics", (params: Requests["editor/diagnostics"]["params"]) => handlers["editor/diagnostics"](params));
  client.onRequest("editor/context", (params: Requests["editor/context"]["params"]) => handlers["editor/context"](params));
  return client;
}

/** Absent if the server speaks our version; else what a person is told. */
export function versionProblem(client: LanguageClient, program: string): string | undefined {
  const offered = (client.initializeResult?.capabilities.experimental as { agentls?: { protocolVersion?: number } } | undefined)?.agentls;
  if (offered?.protocolVersion === PROTOCOL_VERSION) return undefined;
  const what = offered?.protocolVersion === undefined ? "is no agentls server" : `speaks version ${offered.protocolVersion} of the protocol`;
  return `${program} ${what}; this extension needs version ${PROTOCOL_VERSION}. Update both, then restart the server.`;
}
