/** The dialog of a question: own words are kept by item, also beside chosen labels. */
import assert from "node:assert/strict";
import test from "node:test";
import { askQuestion, type Answers } from "../../src/host/question";
import type { Question, QuestionItem } from "../../src/protocol";
import { editor, type Box } from "./vscode";

const several: QuestionItem = { header: "Tests", question: "Which tests?", multiple: true, options: [{ label: "unit" }, { label: "speed" }] };
const one: QuestionItem = { header: "Colour", question: "Which colour?", options: [{ label: "red" }] };

function asked(words: Map<number, string>, ...questions: QuestionItem[]): Promise<Answers | undefined> {
  const ask: Question = { sessionId: "ses_a", rootSessionId: "ses_a", agent: "build", turnId: "trn_1", messageId: "msg_1", questionId: "que_1", questions, createdAt: 1 };
  const { signal } = new AbortController();
  return askQuestion(ask, { signal, words: (item) => words.get(item) ?? "", keep: (item, typed) => words.set(item, typed) });
}

/** Accepts a list and goes on to the next box. */
async function chosen(box: Box, ...labels: string[]): Promise<Box> {
  box.accept(...labels);
  return editor.box(box);
}

test("labels and own words are one answer, and the words of each item are its own", async () => {
  const words = new Map<number, string>();
  const answers = asked(words, several, one);
  const own = await chosen(await editor.box(), "unit", "Answer in own words…");
  own.type("those of the dock");
  const colour = await chosen(own);
  const ownColour = await chosen(colour, "Answer in own words…");
  assert.equal(ownColour.value, "", "not those of the item before");
  ownColour.type("blue");
  ownColour.accept();
  assert.deepEqual(await answers, { answers: [["unit", "those of the dock"], ["blue"]] });
  assert.deepEqual([...words], [[0, "those of the dock"], [1, "blue"]]);
});

test("who leaves at a later item finds the words of the one before again", async () => {
  const words = new Map<number, string>();
  const left = asked(words, several, one);
  const own = await chosen(await editor.box(), "Answer in own words…");
  own.type("those of the dock");
  (await chosen(own)).hide();
  assert.equal(await left, undefined);
  const again = asked(words, several, one);
  const box = await chosen(await editor.box(), "Answer in own words…");
  assert.equal(box.value, "those of the dock");
  box.hide();
  assert.equal(await again, undefined);
});
