/** Sessions to show: what the server would send, made by hand. */
import type { AttachResult, MessageWithParts, Permission, Question, Session, ToolPart, Usage } from "../../src/protocol";
import type { SessionMessage, StateMessage, ToWebview } from "../../src/shared/messages";
import type { Part } from "../../src/shared/store";

export const SESSION = "ses_01";
const FOLDER = "/home/ada/shop";
const MODEL = { providerId: "acme", modelId: "coder-2" };
export const USAGE: Usage = { tokens: { input: 4200, output: 900, reasoning: 120, cache: { read: 0, write: 0 } }, cost: 0.042 };

export const session: Session = {
  id: SESSION,
  projectId: "prj_1",
  directory: FOLDER,
  title: "Round prices to the cent",
  agent: "build",
  model: MODEL,
  mode: "ask",
  rules: [],
  time: { created: 0, updated: 0 },
  usage: USAGE,
};

export function state(more: Partial<StateMessage> = {}): StateMessage {
  return {
    type: "state",
    server: { state: "up", remedies: [], version: "0.1.0" },
    folder: { name: "shop", path: FOLDER },
    folders: [{ name: "shop", path: FOLDER }],
    trusted: true,
    agents: [{ name: "build", mode: "primary", default: true }],
    models: [{ ...MODEL, name: "Coder 2", default: true }],
    commands: [{ name: "review", description: "Reviews the changes" }],
    sessions: [],
    unsent: [],
    chosen: {},
    settings: { enterSends: true, showThoughts: false },
    ...more,
  };
}

let numbers = 0;
const next = (): number => ++numbers;

type Shape<T> = T extends Part ? Omit<T, "id" | "sessionId" | "messageId" | "pos" | "rev"> & { id?: string } : never;
export type PartShape = Shape<Part>;

function parts(messageId: string, list: PartShape[]): Part[] {
  return list.map((part, index) => ({ id: `prt_${next()}`, sessionId: SESSION, messageId, pos: index, rev: 1, ...part }));
}

export function user(...list: (PartShape | string)[]): MessageWithParts {
  const pos = next();
  const id = `msg_${pos}`;
  return {
    message: { id, sessionId: SESSION, pos, role: "user", time: { created: 0 }, agent: "build", model: MODEL },
    parts: parts(id, list.map((one) => (typeof one === "string" ? { type: "text", text: one } : one))),
  };
}

export function agent(...list: (PartShape | string)[]): MessageWithParts {
  const pos = next();
  const id = `msg_${pos}`;
  return {
    message: {
      id, sessionId: SESSION, pos, role: "assistant", parentId: "msg_0", time: { created: 0 }, agent: "build", model: MODEL,
      path: { cwd: FOLDER, root: FOLDER }, tokens: USAGE.tokens,
    },
    parts: parts(id, list.map((one) => (typeof one === "string" ? { type: "text", text: one, time: { start: 1, end: 2 } } : one))),
  };
}

export function tool(name: string, state: ToolPart["state"], id?: string): PartShape {
  return { type: "tool", callId: `call_${next()}`, tool: name, state, ...(id === undefined ? {} : { id }) };
}

export function done(name: string, input: Record<string, unknown>, title: string, output: string, metadata: Record<string, unknown> = {}, took = 400): PartShape {
  return tool(name, { status: "completed", input, output, title, metadata, time: { start: 0, end: took } });
}

export const PATCH = `--- a/shop/price.py
+++ b/shop/price.py
@@ -8,9 +8,10 @@ from decimal import Decimal
 def total(items):
     """What the customer pays."""
-    return sum(item.price * item.count for item in items)
+    exact = sum(item.price * item.count for item in items)
+    return exact.quantize(CENT, rounding=ROUND_HALF_EVEN)
 
 
 def discount(price, percent):
-    return price * (100 - percent) / 100
+    return (price * (100 - percent) / 100).quantize(CENT)
`;

export const ANSWER = `The rounding was missing in **two** places. Both now end on the cent, by *banker's rounding*, as the invoices do:

- \`total()\` in [shop/price.py](shop/price.py:10) rounds once, at the end
- \`discount()\` rounds what is shown

\`\`\`python
CENT = Decimal("0.01")

def total(items):
    exact = sum(item.price * item.count for item in items)
    return exact.quantize(CENT, rounding=ROUND_HALF_EVEN)
\`\`\`

All 48 tests pass. One thing is left: \`refund()\` still works with floats.`;

export const todos = [
  { content: "Find where prices are rounded", status: "completed", priority: "high" },
  { content: "Round totals and discounts to the cent", status: "in_progress", priority: "high" },
  { content: "Run the tests", status: "pending", priority: "medium" },
  { content: "Rewrite the invoice module", status: "cancelled", priority: "low" },
] as const;

export function conversation(): MessageWithParts[] {
  return [
    user("Prices come out with three digits after the point. Please round them to the cent, as the invoices do.", { type: "file", mime: "text/x-python", filename: "price.py", url: `file://${FOLDER}/shop/price.py` }),
    agent(
      { type: "reasoning", text: "The invoices use banker's rounding. Let me look at price.py first.", time: { start: 0, end: 6200 } },
      "I look at how prices are made and where invoices round.",
      done("read", { filePath: `${FOLDER}/shop/price.py` }, "shop/price.py", "1 def total(items):\n2     ...", { path: `${FOLDER}/shop/price.py` }),
      done("grep", { pattern: "quantize\\(" }, "quantize\\(", "shop/invoice.py:31: amount.quantize(CENT)", { count: 1 }),
    ),
    agent(
      done("edit", { filePath: `${FOLDER}/shop/price.py` }, "shop/price.py", "Edited.", { path: `${FOLDER}/shop/price.py`, diff: PATCH }),
      done("bash", { command: "python -m pytest -q tests/test_price.py" }, "python -m pytest -q tests/test_price.py", "................................................\n48 passed in 1.92s\n", {}, 4100),
    ),
    agent(ANSWER),
  ];
}

export function attach(messages: MessageWithParts[], more: Partial<AttachResult> = {}, snapshot: Partial<NonNullable<AttachResult["snapshot"]>> = {}): SessionMessage {
  return {
    type: "session",
    sessionId: SESSION,
    attach: {
      position: { epoch: "e", seq: 1 },
      status: { type: "idle" },
      pending: { permissions: [], questions: [] },
      truncated: false,
      snapshot: { session, todos: [], queue: [], messages, ...snapshot },
      ...more,
    },
  };
}

export function ended(stopReason: "done" | "cancelled" | "rejected" | "max_steps" | "length" | "content_filter" | "error", message?: string, name: "APIError" | "ProviderAuthError" | "ContextOverflowError" = "APIError"): ToWebview {
  return { type: "event", method: "turn/ended", params: { sessionId: SESSION, seq: 9, turnId: "trn_1", stopReason, usage: USAGE, ...(message === undefined ? {} : { error: { name, data: { message } } }) } };
}

const ASK = { sessionId: SESSION, rootSessionId: SESSION, agent: "build", turnId: "trn_1", messageId: "msg_1" };

export function commandAsk(command: string, more: Partial<Permission> = {}): Permission {
  return {
    ...ASK,
    permissionId: `per_${next()}`,
    permission: "bash",
    title: command,
    patterns: [command],
    metadata: { command, cwd: FOLDER },
    options: [
      { kind: "once" },
      { kind: "always", patterns: ["git push *", "git push origin main"], scope: ["session", "project"] },
      { kind: "reject", feedback: true },
    ],
    createdAt: next(),
    ...more,
  };
}

export function editAsk(more: Partial<Permission> = {}): Permission {
  return {
    ...ASK,
    permissionId: `per_${next()}`,
    permission: "edit",
    title: "Edit shop/price.py",
    patterns: ["shop/price.py"],
    metadata: { files: [{ uri: `file://${FOLDER}/shop/price.py`, patch: PATCH }] },
    options: [{ kind: "once" }, { kind: "always", patterns: ["shop/price.py"], scope: ["session", "project"] }, { kind: "reject", feedback: true }],
    createdAt: next(),
    ...more,
  };
}

export function question(multiple = false): Question {
  return {
    ...ASK,
    questionId: `que_${next()}`,
    questions: [
      {
        header: "Rounding",
        question: "How should half a cent be rounded?",
        options: [
          { label: "To the even cent", description: "Banker's rounding, as the invoices do" },
          { label: "Always up", description: "What shops usually do" },
          { label: "Cut off" },
        ],
        multiple,
      },
      { header: "Tests", question: "What should be tested?", options: [{ label: "Totals" }, { label: "Discounts" }], multiple: true },
    ],
    createdAt: next(),
  };
}

/** A permission that is settled, by whomever. */
export function settled({ permissionId }: Permission): ToWebview {
  return { type: "event", method: "permission/resolved", params: { sessionId: SESSION, rootSessionId: SESSION, permissionId, outcome: "allowed", by: "client", seq: 6 } };
}
