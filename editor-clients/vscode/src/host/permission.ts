/** The dialog of a permission. Leaving it, at any step, rejects nothing. */
import type { AskOption, Permission, PermissionReplyParams } from "../protocol";
import { fitsOneLine, iconless, oneLine } from "./plain";
import { input, pick, pickSome, separator, type Choice } from "./quick";

export type Reply = Omit<PermissionReplyParams, "permissionId">;
type Scope = "session" | "project";
type Step = "once" | "always" | "reject" | "words" | "diff" | "chat" | "later";

export interface PermissionDeps {
  signal: AbortSignal;
  showDiff(): void;
  showInChat(): void;
  /** Words of an earlier try, and what becomes of those that are left behind. */
  words(): string;
  keep(words: string): void;
}

/** What is to be done, in full. */
export function deedOf(ask: Permission): string {
  return ask.metadata.command ?? ask.metadata.url ?? ask.title;
}

function optionOf(ask: Permission, kind: AskOption["kind"]): AskOption | undefined {
  return ask.options.find((option) => option.kind === kind);
}

function stores(ask: Permission, patterns: readonly string[]): string {
  return patterns.map((pattern) => `allow ${ask.permission}: ${oneLine(pattern)}`).join(" · ");
}

function steps(ask: Permission): Choice<Step>[] {
  const always = optionOf(ask, "always");
  const choices: Choice<Step>[] = [];
  if (!fitsOneLine(deedOf(ask), 100)) choices.push({ label: "$(comment-discussion) Read all of it in the chat", description: "it is too long for this list", value: "chat" });
  choices.push({ label: "$(check) Allow once", value: "once" });
  if (always) choices.push({ label: "$(check-all) Always…", detail: iconless(`stores ${stores(ask, always.patterns ?? [])}`), value: "always" });
  choices.push({ label: "$(close) Reject", description: "the turn stops", value: "reject" });
  choices.push({ label: "$(comment) Reject with words…", description: "the agent reads them and goes on", value: "words" });
  choices.push(separator(""));
  if (ask.metadata.files?.length) choices.push({ label: "$(diff) Show the changes", value: "diff" });
  choices.push({ label: "$(clock) Later", description: "it stays open", value: "later" });
  return choices;
}

/** The answer; absent if there is none now. */
export async function askPermission(ask: Permission, title: string, deps: PermissionDeps): Promise<Reply | undefined> {
  for (;;) {
    const step = await pick(steps(ask), { title, placeholder: oneLine(deedOf(ask)), signal: deps.signal });
    const done = await taken(step, ask, deps);
    if (done !== "again") return done;
  }
}

/** The answer that a step leads to; absent if the user left. */
async function taken(step: Step | undefined, ask: Permission, deps: PermissionDeps): Promise<Reply | "again" | undefined> {
  switch (step) {
    case "once":
    case "reject":
      return { reply: step };
    case "always":
      return (await askAlways(ask, deps.signal)) ?? backOr(deps.signal);
    case "words":
      return (await askWords(ask, deps)) ?? backOr(deps.signal);
    default:
      if (step === "diff") deps.showDiff();
      if (step === "chat") deps.showInChat();
      return undefined;
  }
}

/** Back to the first step, unless the question is settled. */
function backOr(signal: AbortSignal): "again" | undefined {
  return signal.aborted ? undefined : "again";
}

const WHERE: Record<Scope, string> = { session: "In this session", project: "In this project" };

function places(ask: Permission, always: AskOption, patterns: readonly string[]): Choice<Scope | "choose">[] {
  const list: Choice<Scope | "choose">[] = (always.scope ?? ["session"]).map((scope) => ({
    label: WHERE[scope],
    detail: iconless(`stores ${stores(ask, patterns)}`),
    value: scope,
  }));
  if ((always.patterns?.length ?? 0) > 1) list.push({ label: "Choose what is stored…", value: "choose" });
  return list;
}

/** What is stored is shown before it is. */
export async function askAlways(ask: Permission, signal: AbortSignal): Promise<Reply | undefined> {
  const always = optionOf(ask, "always");
  if (always === undefined) return undefined;
  const offered = always.patterns ?? [];
  let patterns = offered;
  for (;;) {
    const place = await pick(places(ask, always, patterns), { title: "Always allow", placeholder: oneLine(deedOf(ask)), signal });
    if (place === undefined) return undefined;
    if (place !== "choose") return { reply: "always", scope: place, patterns };
    patterns = (await choosePatterns(ask, offered, patterns, signal)) ?? patterns;
  }
}

function choosePatterns(ask: Permission, offered: readonly string[], chosen: readonly string[], signal: AbortSignal): Promise<string[] | undefined> {
  const choices = offered.map((pattern) => ({ label: iconless(oneLine(pattern)), picked: chosen.includes(pattern), value: pattern }));
  return pickSome(choices, { title: `Always allow ${ask.permission}`, placeholder: "What is stored", signal });
}

export async function askWords(ask: Permission, deps: PermissionDeps): Promise<Reply | undefined> {
  const words = await input({
    title: `Reject: ${oneLine(deedOf(ask), 60)}`,
    prompt: "What should the agent do instead? It reads your words and goes on. Without words the turn stops. Escape goes back.",
    value: deps.words(),
    signal: deps.signal,
    left: (left) => {
      deps.keep(left);
    },
  });
  if (words === undefined) return undefined;
  deps.keep(words); // until the answer has arrived
  return words === "" ? { reply: "reject" } : { reply: "reject", message: words };
}
