/** The dialog of a question of the agent's: one after another, by choice or in own words. Leaving it answers nothing. */
import type { Question, QuestionItem } from "../protocol";
import { iconless, oneLine } from "./plain";
import { input, pick, pickSome, separator, type Choice } from "./quick";

type Answer = { labels: string[] } | "own" | "dismiss";
export type Answers = { answers: string[][] } | "dismissed";

export interface QuestionDeps {
  signal: AbortSignal;
  /** Own words of an earlier try, by the item's place. */
  words(item: number): string;
  /** Of words that were given, too: the user may leave before the last item, and the answers go together. */
  keep(item: number, words: string): void;
}

/** One item, and where it stands. */
interface Place {
  item: QuestionItem;
  index: number;
  title: string;
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
async function askSeveral(place: Place, deps: QuestionDeps): Promise<string[] | undefined> {
  const { item, title } = place;
  const choices: Choice<Answer>[] = choicesOf(item).filter((choice) => choice.value !== "dismiss");
  const chosen = await pickSome(choices, { title, placeholder: oneLine(item.question), signal: deps.signal });
  if (chosen === undefined) return undefined;
  const labels = chosen.flatMap((answer) => (typeof answer === "object" ? answer.labels : []));
  if (!chosen.includes("own")) return labels;
  const words = await askOwn(place, deps);
  return words === undefined ? undefined : [...labels, words];
}

async function askOwn({ item, index, title }: Place, deps: QuestionDeps): Promise<string | undefined> {
  const left = (words: string): void => { deps.keep(index, words); };
  const words = await input({ title, prompt: oneLine(item.question), value: deps.words(index), signal: deps.signal, left });
  if (words !== undefined) deps.keep(index, words);
  return words === "" ? undefined : words;
}

async function askOne(place: Place, deps: QuestionDeps): Promise<string[] | "dismiss" | undefined> {
  const { item, title } = place;
  if (item.multiple && item.options.length > 0) return askSeveral(place, deps);
  const answer = item.options.length === 0 ? "own" : await pick(choicesOf(item), { title, placeholder: oneLine(item.question), signal: deps.signal });
  if (answer === "dismiss" || answer === undefined) return answer;
  if (typeof answer === "object") return answer.labels;
  const words = await askOwn(place, deps);
  return words === undefined ? undefined : [words];
}

/** The answers; absent if the user left it open. */
export async function askQuestion(ask: Question, deps: QuestionDeps): Promise<Answers | undefined> {
  const answers: string[][] = [];
  for (const [index, item] of ask.questions.entries()) {
    const one = await askOne({ item, index, title: titleOf(item, index + 1, ask.questions.length) }, deps);
    if (one === undefined) return undefined;
    if (one === "dismiss") return "dismissed";
    answers.push(one);
  }
  return { answers };
}
