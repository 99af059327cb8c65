/** The copy of one session, kept by the protocol's rules. Knows nothing of the screen and of the connection. */
import type {
  AssistantMessage,
  AttachResult,
  Change,
  MessageWithParts,
  MessagesResult,
  Notifications,
  Owner,
  PartDelta,
  PartResult,
  Permission,
  Position,
  Question,
  QueueItem,
  Session,
  Snapshot,
  StatusParams,
  Todo,
  Turn,
  Usage,
  UserMessage,
} from "../protocol";

export type Message = UserMessage | AssistantMessage;
export type Part = PartResult["part"];
export type Status = StatusParams["status"];
export type Ask = Permission | Question;
export type LastTurn = Partial<Turn> & Pick<Turn, "id" | "state">;

/**
 * What a change touched. `shape`: messages or parts came or went, of the message with that id; without an id, of any.
 * `all`: everything may be another.
 */
export type StoreChange =
  | { kind: "all" | "status" | "session" | "pending" | "tail" | "gone" }
  | { kind: "shape"; id?: string }
  | { kind: "message" | "part"; id: string }
  | { kind: "append"; id: string; field: PartDelta["field"]; delta: string };

type Method = keyof Notifications;
/** Takes a notification up; says what it touched, unless the copy said so itself. */
type Handler<M extends Method> = (copy: SessionCopy, params: Notifications[M]) => StoreChange | undefined;

export function isPermission(ask: Ask): ask is Permission {
  return "permissionId" in ask;
}

export function askId(ask: Ask): string {
  return isPermission(ask) ? ask.permissionId : ask.questionId;
}

/** A part's growing text; a tool's stands in its state. */
export function textOf(part: Part, field: PartDelta["field"]): string {
  const holder = holderOf(part, field);
  return holder?.[field] ?? "";
}

function holderOf(part: Part, field: PartDelta["field"]): { [name: string]: string | undefined } | undefined {
  if (field === "text") return part.type === "text" || part.type === "reasoning" ? (part as never) : undefined;
  return part.type === "tool" ? (part.state as never) : undefined;
}

export class SessionCopy {
  session: Session | undefined;
  status: Status = { type: "idle" };
  turn: LastTurn | undefined;
  position: Position | undefined;
  owner: Owner | undefined;
  usage: Usage | undefined;
  /** The share of the model's window that is used. */
  context: number | undefined;
  nextCursor: string | undefined;
  todos: Todo[] = [];
  queue: QueueItem[] = [];
  readonly messages = new Map<string, Message>();
  readonly parts = new Map<string, Part>();
  readonly pending = new Map<string, Ask>();
  /** Parts that are being fetched: their deltas are ignored. */
  private readonly stale = new Set<string>();
  /** The parts of each message, by `pos`; made when somebody looks. */
  private lists = new Map<string, Part[]>();

  /** `fetch` must be answered with `fetched` or `fetchFailed`. */
  constructor(
    readonly id: string,
    private readonly changed: (change: StoreChange) => void,
    private readonly fetch: (partId: string) => void,
  ) {}

  // Attaching

  /** The answer of `session/attach`: all of it counts, then its position. */
  attached(result: AttachResult): void {
    if (result.snapshot) this.replace(result.snapshot);
    for (const change of result.changes ?? []) this.apply(change);
    this.pending.clear();
    this.stale.clear();
    for (const ask of [...result.pending.permissions, ...result.pending.questions]) this.pending.set(askId(ask), ask);
    this.status = result.status;
    this.position = result.position;
    this.owner = result.owner;
    if (result.turn) this.turn = result.turn;
    this.changed({ kind: "all" });
  }

  /** An older page of messages. */
  paged(result: MessagesResult): void {
    this.add(result.messages);
    this.nextCursor = result.nextCursor;
    this.changed({ kind: "shape" });
  }

  /** The answer of `part/get`. */
  fetched(part: Part): void {
    if (this.messages.has(part.messageId)) this.put(part);
    else this.stale.delete(part.id);
  }

  /** `part/get` failed: the part is gone, or the connection is; a later attach brings it. */
  fetchFailed(partId: string): void {
    this.stale.delete(partId);
  }

  private replace(snapshot: Snapshot): void {
    this.session = snapshot.session;
    this.turn = snapshot.turn;
    this.messages.clear();
    this.parts.clear();
    this.lists.clear();
    this.todos = snapshot.todos;
    this.queue = snapshot.queue;
    this.nextCursor = snapshot.nextCursor;
    this.add(snapshot.messages);
  }

  private add(messages: MessageWithParts[]): void {
    for (const one of messages) {
      this.messages.set(one.message.id, one.message);
      for (const part of one.parts) this.parts.set(part.id, part);
    }
    this.lists.clear();
  }

  private apply(change: Change): void {
    const { kind, value, removed } = change;
    this.lists.clear();
    if (kind === "session") this.session = (value as Session | undefined) ?? this.session;
    else if (kind === "turn") this.turn = (value as Turn | undefined) ?? this.turn;
    else if (kind === "todo") this.todos = (value as Todo[] | undefined) ?? [];
    else if (kind === "message") this.applyMessage(value as Message | undefined, removed);
    else if (kind === "part") this.applyPart(value as Part | undefined, removed);
    else if (kind === "queue") this.applyQueue(value as QueueItem | undefined, removed);
  }

  private applyMessage(value: Message | undefined, removed?: string): void {
    if (removed) this.removeMessage(removed);
    else if (value) this.messages.set(value.id, value);
  }

  private applyPart(value: Part | undefined, removed?: string): void {
    if (removed) this.parts.delete(removed);
    else if (value) this.parts.set(value.id, value);
  }

  private applyQueue(value: QueueItem | undefined, removed?: string): void {
    const id = removed ?? value?.messageId;
    this.queue = this.queue.filter((item) => item.messageId !== id);
    if (value) this.queue.push(value);
  }

  // Notifications

  /** A notification of this session, or of a child: of those only questions count here. */
  notified<M extends Method>(method: M, params: Notifications[M]): void {
    const known = params as { sessionId?: string; rootSessionId?: string; seq?: number };
    const own = known.sessionId === this.id;
    const asks = method.startsWith("permission/") || method.startsWith("question/");
    if (!own && !(asks && known.rootSessionId === this.id)) return;
    const handle = HANDLERS[method];
    const change = handle?.(this, params);
    if (change) this.changed(change);
    if (own && this.position && known.seq !== undefined)
      this.position = { ...this.position, seq: Math.max(this.position.seq, known.seq) };
  }

  private put(part: Part): void {
    this.changed(this.replaced(part));
  }

  /** Puts a whole part in place of mine. */
  replaced(part: Part): StoreChange {
    const known = this.parts.has(part.id);
    this.parts.set(part.id, part);
    this.lists.delete(part.messageId);
    this.stale.delete(part.id);
    return known ? { kind: "part", id: part.id } : { kind: "shape", id: part.messageId };
  }

  removePart(id: string): void {
    const part = this.parts.get(id);
    this.parts.delete(id);
    this.stale.delete(id);
    if (part) this.lists.delete(part.messageId);
  }

  removeMessage(id: string): void {
    for (const part of this.partsOf(id)) this.parts.delete(part.id);
    this.messages.delete(id);
    this.lists.delete(id);
  }

  /** Append, drop or fetch: the rules for deltas. */
  delta(params: PartDelta): StoreChange | undefined {
    const part = this.parts.get(params.partId);
    if (this.stale.has(params.partId) || (part && params.rev <= part.rev)) return undefined;
    const holder = part && holderOf(part, params.field);
    if (!part || !holder || params.base !== part.rev) {
      this.stale.add(params.partId);
      this.fetch(params.partId);
      return undefined;
    }
    holder[params.field] = (holder[params.field] ?? "") + params.delta;
    part.rev = params.rev;
    return { kind: "append", id: part.id, field: params.field, delta: params.delta };
  }

  // Looking

  /** Messages in order. */
  messagesInOrder(): Message[] {
    return [...this.messages.values()].sort((a, b) => a.pos - b.pos);
  }

  /** A message's parts in order. */
  partsOf(messageId: string): readonly Part[] {
    if (this.lists.size === 0) this.group();
    let list = this.lists.get(messageId);
    if (!list) {
      list = [...this.parts.values()].filter((part) => part.messageId === messageId).sort((a, b) => a.pos - b.pos);
      this.lists.set(messageId, list);
    }
    return list;
  }

  private group(): void {
    for (const id of this.messages.keys()) this.lists.set(id, []);
    for (const part of this.parts.values()) this.lists.get(part.messageId)?.push(part);
    for (const list of this.lists.values()) list.sort((a, b) => a.pos - b.pos);
  }

  /** What waits for an answer, the oldest first. */
  pendingInOrder(): Ask[] {
    return [...this.pending.values()].sort((a, b) => a.createdAt - b.createdAt);
  }

  /** Whether a turn runs, be it that it waits for the user or for another attempt. */
  get busy(): boolean {
    return this.status.type !== "idle";
  }
}

type Handlers = { [M in Method]?: Handler<M> };

const HANDLERS: Handlers = {
  "session/created": (copy, { session }) => {
    copy.session = session;
    return { kind: "session" };
  },
  "session/updated": (copy, { session }) => {
    copy.session = session;
    return { kind: "session" };
  },
  "session/deleted": () => ({ kind: "gone" }),
  "session/status": (copy, { status }) => {
    copy.status = status;
    return { kind: "status" };
  },
  "session/usage": (copy, { usage, context }) => {
    copy.usage = usage;
    copy.context = context;
    return { kind: "status" };
  },
  "turn/started": (copy, { turnId, messageId }) => {
    copy.turn = { id: turnId, messageId, state: "running" };
    return { kind: "tail" };
  },
  "turn/ended": (copy, { turnId, stopReason, error, usage }) => {
    const before = copy.turn?.id === turnId ? copy.turn : {};
    copy.turn = { ...before, id: turnId, state: "ended", stopReason, usage, ...(error ? { error } : {}) };
    return { kind: "tail" };
  },
  "message/updated": (copy, { message }) => {
    const known = copy.messages.has(message.id);
    copy.messages.set(message.id, message);
    return { kind: known ? "message" : "shape", id: message.id };
  },
  "message/removed": (copy, { messageId }) => {
    copy.removeMessage(messageId);
    return { kind: "shape" };
  },
  "part/updated": (copy, { part }) => copy.replaced(part),
  "part/delta": (copy, params) => copy.delta(params),
  "part/removed": (copy, { partId, messageId }) => {
    copy.removePart(partId);
    return { kind: "shape", id: messageId };
  },
  "todo/updated": (copy, { todos }) => {
    copy.todos = todos;
    return { kind: "tail" };
  },
  "queue/changed": (copy, { items }) => {
    copy.queue = items;
    return { kind: "tail" };
  },
  "permission/asked": (copy, ask) => {
    copy.pending.set(ask.permissionId, ask);
    return { kind: "pending" };
  },
  "permission/resolved": (copy, { permissionId }) => {
    copy.pending.delete(permissionId);
    return { kind: "pending" };
  },
  "question/asked": (copy, ask) => {
    copy.pending.set(ask.questionId, ask);
    return { kind: "pending" };
  },
  "question/resolved": (copy, { questionId }) => {
    copy.pending.delete(questionId);
    return { kind: "pending" };
  },
};
