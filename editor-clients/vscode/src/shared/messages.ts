/**
 * What the extension host and the webview say to each other. Both directions are closed unions.
 *
 * The host posts arrays (`ToWebview[]`), gathered over 16 ms, in order. The webview posts one message at a time. The
 * webview holds the copy of the session that it shows; the host holds the connection, what is not sent yet, the draft
 * and what waits for an answer.
 */
import type {
  AgentEntry,
  AgentInput,
  AttachResult,
  CommandEntry,
  DiagnosticsInputInput,
  FileInputInput,
  FoundFile,
  ImageInput,
  LineRangeInput,
  ModelEntry,
  ModelRef,
  Notifications,
  Requests,
  SelectionInputInput,
  Session,
} from "../protocol";

export type Mode = "ask" | "acceptEdits" | "auto";

/** A thing beside the words of a prompt: shown as a chip, sent as a part. */
export interface Chip {
  label: string;
  /** For a tooltip and for screen readers. */
  title: string;
  part: FileInputInput | SelectionInputInput | DiagnosticsInputInput | ImageInput | AgentInput;
}

/** What was typed and not sent. */
export interface Draft {
  text: string;
  chips: Chip[];
}

/** A prompt or shell command that the server has not taken yet. It is sent again when the server is back. */
export interface Unsent {
  messageId: string;
  kind: "prompt" | "shell" | "command";
  text: string;
  chips: Chip[];
}

/** What a page sends of the user's words. Said twice under one id it counts once. */
export type Sent = { messageId: string } & (
  /** Files chosen after `@` are chips whose label begins with `@`; words with `@` that were only typed are the host's to look up. */
  | { type: "prompt"; draft: Draft; delivery: "steer" | "queue" }
  | { type: "shell"; command: string }
  /** A command of `state.commands`. */
  | { type: "command"; command: string; arguments: string; chips: Chip[] }
);

/** What the editor keeps of a page for the one that takes its place. */
export interface PageState {
  /** The chat's name. */
  chat: string;
  sessionId?: string | undefined;
  /** What the host has not said yet that it has. */
  sending: Sent[];
}

/** Something that a person can do about a problem; the webview shows it as a button. */
export type Remedy = "restart" | "log" | "install" | "choosePath" | "readme" | "trust";

export interface ServerView {
  state: "starting" | "up" | "failed" | "down";
  /** Why it is not up: what happened and what to do. */
  reason?: string;
  remedies: Remedy[];
  version?: string;
}

export interface Folder {
  name: string;
  path: string;
}

/** A row of the sessions list. `status` and `asks` are of what this window has seen. */
export interface SessionRow {
  session: Session;
  status: "idle" | "busy" | "waiting" | "compacting" | "retry";
  /** Open permissions and questions. */
  asks: number;
}

/** The state of all that is not the session's. Replaces the one before, whole. */
export interface StateMessage {
  type: "state";
  server: ServerView;
  /** Where the shown session works, or where a new one will. Absent: no folder is open. */
  folder?: Folder;
  /** More than one: show which. */
  folders: Folder[];
  trusted: boolean;
  agents: AgentEntry[];
  models: ModelEntry[];
  commands: CommandEntry[];
  /** Sessions of `folder`, the newest first, not archived. */
  sessions: SessionRow[];
  unsent: Unsent[];
  /** What a session that does not exist yet will be created with. */
  chosen: { agent?: string; model?: ModelRef; mode?: Mode };
  settings: { enterSends: boolean; showThoughts: boolean };
}

/**
 * The session to show. Without `sessionId`: none yet, the first prompt creates it. With `attach`: apply it by the
 * protocol's rules (a snapshot replaces, changes are applied). With `error` it could not be opened.
 */
export interface SessionMessage {
  type: "session";
  sessionId?: string;
  attach?: AttachResult;
  error?: string;
}

/** A notification of the server about the shown session or one of its subtasks, as it came. */
export type EventMessage = {
  [M in keyof Notifications]: { type: "event"; method: M; params: Notifications[M] };
}[keyof Notifications];

/** The request methods that the webview may call. `sessionId` is filled in by the host where the params have one. */
export const WEBVIEW_METHODS = [
  "session/abort",
  "session/continue",
  "session/messages",
  "session/revert",
  "session/unrevert",
  "session/compact",
  "session/fork",
  "session/update",
  "session/todo",
  "queue/remove",
  "part/get",
  "tool/cancel",
  "permission/reply",
  "question/reply",
  "question/reject",
] as const satisfies readonly (keyof Requests)[];

export type WebviewMethod = (typeof WEBVIEW_METHODS)[number];

/** Params of a request; the host adds `sessionId`, so that a webview speaks only of the session that it shows. */
export type WebviewParams<M extends WebviewMethod> = Omit<Requests[M]["params"], "sessionId">;

export interface Failure {
  message: string;
  /** `error.data.kind` of the protocol; `gone`: the connection ended before the answer. */
  kind: string;
}

/** The answer to `request`. */
export type AnswerMessage = { type: "answer"; requestId: number; result: unknown };
export type FailedMessage = { type: "failed"; requestId: number; error: Failure };

export type ToWebview =
  | StateMessage
  | SessionMessage
  | EventMessage
  | AnswerMessage
  | FailedMessage
  /** Words that the page has sent are kept by the host now. */
  | { type: "taken"; messageId: string }
  /** After `ready`: what was typed before. */
  | { type: "draft"; draft: Draft }
  /** Puts words and chips behind what is typed, and the focus there if `focus`. */
  | { type: "insert"; text?: string; chips: Chip[]; focus: boolean }
  /** Could not be sent: belongs back into the prompt, before what was typed since. `reason` is for the person. */
  | { type: "giveBack"; draft: Draft; reason: string }
  /** The answer to `find`. */
  | { type: "files"; query: string; files: FoundFile[] }
  /** Puts the focus into the prompt, or on the card of a permission or question. */
  | { type: "focus"; on: "prompt" | { askId: string } };

export type FromWebview =
  /** The page stands, and `sending` is what the page before it had sent; the host sends `state`, `session` and `draft`. */
  | { type: "ready"; sending: Sent[] }
  /** It leaves the draft, is answered with `taken`, and shows up in `state.unsent` until the server has it. */
  | Sent
  | WebviewRequest
  /** A file, shown in the editor. */
  | { type: "open"; uri: string; range?: LineRangeInput }
  /** A link of an answer: http, https or mailto. */
  | { type: "link"; href: string }
  /** Shows in the diff editor what a permission asks for, or what a tool changed. */
  | { type: "diff"; permissionId: string }
  | { type: "diff"; partId: string }
  | { type: "copy"; text: string }
  /** Wants a chip of what the editor shows; the answer is `insert`, or a notice of the editor if there is none. */
  | { type: "attach"; what: "selection" | "diagnostics" | "activeFile" }
  /** Opens the editor's own picker. */
  | { type: "pick"; what: "agent" | "model" | "mode" | "session" | "folder" | "file" }
  /** A dialog of the editor for a permission or question that is shown as a card. */
  | { type: "ask"; askId: string }
  /** Typed text, to be kept over a reload. */
  | { type: "draft"; draft: Draft }
  | { type: "newSession" }
  | { type: "showSession"; sessionId: string }
  /** Files for `@`. */
  | { type: "find"; query: string }
  | { type: "remedy"; remedy: Remedy };

export type WebviewRequest = {
  [M in WebviewMethod]: { type: "request"; requestId: number; method: M; params: WebviewParams<M> };
}[WebviewMethod];
