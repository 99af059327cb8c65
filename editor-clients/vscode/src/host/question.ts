/** The dialog of a question of the agent's: one after another, by choice or in own words. Leaving it answers nothing. */
import type { Question, QuestionItem } from "../protocol";
import { iconless, oneLine } from "./plain";
import { input, pick, pickSome, separator, type Choice } from "./quick";

type Answer = { labels: string[] } | "own" | "dismiss";
export type Answers = { answers: string[][] } | "dismissed";

export interface QuestionDeps {
  signal: AbortSignal;
  words(): string;
  keep(words: string): void;
}

function choicesOf(item: QuestionItem): Choice<Answer>[] {
  const labels: Choice<Answer>[] = item.options.map(({ label, description }) => ({
    label: iconless(oneLine(label)),
    ...(description === undefined ? {} : { description: iconless(oneLine(description)) }),
    value: { labels: [label] },
  }));
  const own: Choice<Answer>[] = item.custom === false ? [] : [{ label: "$(edit) Answer in own words…", value: "own" }];
  return [...labels, separator(""), ...own, { label: "$(close) Dismiss", description: "the turn stops", value: "dismiss" }];
}

function titleOf(item: QuestionItem, number: number, count: number): string {
  return count > 1 ? `${item.header} (${number} of ${count})` : item.header;
}

/** Several labels; own words are one more choice, asked for after them. */
async function askSeveral(item: QuestionItem, title: string, deps: QuestionDeps): Promise<string[] | undefined> {
  const choices: Choice<Answer>[] = choicesOf(item).filter((choice) => choice.value !== "dismiss");
  const chosen = await pickSome(choices, { title, placeholder: oneLine(item.question), signal: deps.signal });
  if (chosen === undefined) return undefined;
  const labels = chosen.flatMap((answer) => (typeof answer === "object" ? answer.labels : []));
  if (!chosen.includes("own")) return labels;
  const words = await askOwn(item, title, deps);
  return words === undefined ? undefined : [...labels, words];
}

async function askOwn(item: QuestionItem, title: string, deps: QuestionDeps): Promise<string | undefined> {
  const words = await input({ title, prompt: oneLine(item.question), value: deps.words(), signal: deps.signal, left: (left) => { deps.keep(left); } });
  return words === "" ? undefined : words;
}

async function askOne(item: QuestionItem, title: string, deps: QuestionDeps): Promise<string[] | "dismiss" | undefined> {
  if (item.multiple && item.options.length > 0) return askSeveral(item, title, deps);
  const answer = item.options.length === 0 ? "own" : await pick(choicesOf(item), { title, placeholder: oneLine(item.question), signal: deps.signal });
  if (answer === "dismiss" || answer === undefined) return answer;
  if (typeof answer === "object") return answer.labels;
  const words = await askOwn(item, title, deps);
  return words === undefined ? undefined : [words];
}

/** The answers; absent if the user left it open. */
export async function askQuestion(ask: Question, deps: QuestionDeps): Promise<Answers | undefined> {
  const answers: string[][] = [];
  for (const [index, item] of ask.questions.entries()) {
    const one = await askOne(item, titleOf(item, index + 1, ask.questions.length), deps);
    if (one === undefined) return undefined;
    if (one === "dismiss") return "dismissed";
    answers.push(one);
  }
  return { answers };
}
