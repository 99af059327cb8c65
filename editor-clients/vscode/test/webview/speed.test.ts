/** The panel under load, measured in the browser. Limits leave room for a busy machine; the figures are printed. */
import assert from "node:assert/strict";
import test, { after, before } from "node:test";
import type { ToWebview } from "../../src/shared/messages";
import { agent, attach, conversation, SESSION, state, user } from "./fixtures";
import { type ChatPage, skip, Stage } from "./harness";

let stage: Stage | undefined;

before(async () => { if (!skip) stage = await Stage.open(); });
after(async () => { await stage?.close(); });

interface Measured {
  longTasks: number[];
  frames: number[];
  took: number;
}

declare global {
  interface Window {
    keys: number[];
  }
}

/** Posts a batch every 16 milliseconds, as the host does, and notes long tasks and the time between frames. */
async function measure(chat: ChatPage, batches: ToWebview[][]): Promise<Measured> {
  return chat.page.evaluate(async (list) => {
    const longTasks: number[] = [];
    const observer = new PerformanceObserver((entries) => { longTasks.push(...entries.getEntries().map(({ duration }) => Math.round(duration))); });
    observer.observe({ entryTypes: ["longtask"] });
    const frames: number[] = [];
    const began = performance.now();
    let last = began;
    let running = true;
    const tick = (): void => {
      const now = performance.now();
      frames.push(now - last);
      last = now;
      if (running) requestAnimationFrame(tick);
    };
    requestAnimationFrame(tick);
    for (const batch of list) {
      window.postMessage(batch, "*");
      await new Promise((done) => setTimeout(done, 16));
    }
    const took = performance.now() - began;
    await new Promise((done) => setTimeout(done, 300));
    running = false;
    observer.disconnect();
    return { longTasks, frames, took: Math.round(took) };
  }, batches);
}

function figures({ longTasks, frames, took }: Measured): string {
  const sorted = [...frames].sort((a, b) => a - b);
  const at = (share: number): string => (sorted[Math.floor(sorted.length * share)] ?? 0).toFixed(0);
  return `${took} ms, ${frames.length} frames, median ${at(0.5)} ms, 99 of 100 within ${at(0.99)} ms, longest ${at(0.9999)} ms; long tasks: ${longTasks.length}, longest ${Math.max(0, ...longTasks)} ms`;
}

/** Frames that come late are few, however busy the machine is. */
function smooth({ longTasks, frames }: Measured): void {
  assert.ok(longTasks.length < frames.length * 0.06, `${longTasks.length} long tasks in ${frames.length} frames`);
  assert.ok(Math.max(0, ...longTasks) < 1500);
}

function deltas(messageId: string, partId: string, field: "text" | "output", texts: string[], perBatch: number): ToWebview[][] {
  const batches: ToWebview[][] = [];
  texts.forEach((delta, index) => {
    if (index % perBatch === 0) batches.push([]);
    batches.at(-1)?.push({ type: "event", method: "part/delta", params: { sessionId: SESSION, messageId, partId, field, base: index + 1, rev: index + 2, delta } });
  });
  return batches;
}

/** An answer of so many pieces with all that Markdown has; no two lines are the same. */
function answer(count: number): string[] {
  const line = (n: number): string => {
    if (n % 40 === 0) return `\n\n## Part ${n / 40}\n\n`;
    if (n % 40 === 10) return `\n\n\`\`\`python\nvalue_${n} = compute(${n})\n`;
    if (n % 40 > 10 && n % 40 < 20) return `result_${n} = value + ${n}\n`;
    if (n % 40 === 20) return "```\n\n";
    if (n % 40 > 30) return `\n- point ${n} with \`code\``;
    return `word${n} *some* more `;
  };
  return Array.from({ length: count }, (_, index) => line(index));
}

/** Types while `work` goes on; the milliseconds from a key to the frame that shows it, as the browser has them. */
async function typing(chat: ChatPage, work: Promise<unknown>): Promise<number[]> {
  await chat.page.evaluate(() => {
    window.keys = [];
    new PerformanceObserver((entries) => {
      for (const { name, duration } of entries.getEntries()) if (name === "keydown") window.keys.push(duration);
    }).observe({ type: "event", durationThreshold: 16 } as PerformanceObserverInit);
  });
  const state = { going: true };
  void work.finally(() => { state.going = false; });
  while (state.going) await chat.page.keyboard.type("a", { delay: 30 });
  return chat.page.evaluate(() => window.keys);
}

test("20,000 deltas of an answer leave the panel usable", { skip }, async (t) => {
  const chat = await (stage as Stage).page();
  const before = [...conversation(), user("write")];
  const message = agent({ type: "text", id: "prt_g", text: "", time: { start: 1 } });
  await chat.send(state(), attach([...before, message], { status: { type: "busy" } }));
  await chat.page.getByTestId("input").focus();
  const texts = answer(20_000);
  const work = measure(chat, deltas(message.message.id, "prt_g", "text", texts, 50));
  const waits = await typing(chat, work);
  const measured = await work;
  await chat.page.getByText("point 19999").waitFor({ state: "attached" });
  t.diagnostic(figures(measured));
  t.diagnostic(`${waits.length} keys, the slowest shown after ${Math.max(...waits)} ms`);
  const shown = await chat.page.getByTestId("answer").last().evaluate((element) => element.textContent.replace(/\s/g, "").length);
  const all = texts.join("").replace(/[\s`*#-]/g, "").length;
  assert.ok(shown > all * 0.97, `all of it is there: ${shown} of ${all}`);
  smooth(measured);
  assert.ok(Math.max(...waits) < 1500);
  await chat.close();
});

test("20,000 deltas of one code block, and of a tool's output that is open", { skip }, async (t) => {
  const chat = await (stage as Stage).page();
  const before = user("write");
  const message = agent({ type: "text", id: "prt_g", text: "```\n", time: { start: 1 } }, { type: "tool", id: "prt_t", callId: "c", tool: "bash", state: { status: "running", input: { command: "make" }, output: "", time: { start: 0 } } });
  await chat.send(state(), attach([before, message], { status: { type: "busy" } }));
  const lines = Array.from({ length: 20_000 }, (_, n) => `line ${n} of the output, with some words in it\n`);
  const code = await measure(chat, deltas(message.message.id, "prt_g", "text", lines, 50));
  t.diagnostic(`code: ${figures(code)}`);
  await chat.page.locator("[data-tool=bash] .row-head").click();
  const output = await measure(chat, deltas(message.message.id, "prt_t", "output", lines, 50));
  t.diagnostic(`output: ${figures(output)}`);
  await chat.page.getByText("line 19999 of the output").last().waitFor({ state: "attached" });
  smooth(code);
  smooth(output);
  await chat.close();
});

test("a session of 2,000 messages opens at once, and whole in pieces", { skip }, async (t) => {
  const chat = await (stage as Stage).page();
  const messages = Array.from({ length: 500 }, () => conversation()).flat();
  await chat.send(state());
  const took = await chat.page.evaluate(async (attached) => {
    const began = performance.now();
    window.postMessage([attached], "*");
    while (document.querySelectorAll(".messages > article").length === 0) await new Promise((done) => requestAnimationFrame(done));
    return performance.now() - began;
  }, attach(messages));
  t.diagnostic(`${messages.length} messages open in ${took.toFixed(0)} ms`);
  assert.ok(took < 5000);
  await chat.page.getByText("All 48 tests pass.").last().waitFor();
  const earlier = chat.page.getByRole("button", { name: "Show earlier messages" });
  let longest = 0;
  for (let page = 0; page < 5; page++) {
    const began = Date.now();
    await earlier.click();
    await chat.settled();
    longest = Math.max(longest, Date.now() - began);
  }
  t.diagnostic(`a page of earlier ones stands within ${longest} ms`);
  await chat.close();
});

for (const [name, text] of [
  ["a line of 1 MB", "a".repeat(1_000_000)],
  ["a table of 20,000 rows", `|a|b|\n|-|-|\n${"|c|d|\n".repeat(20_000)}`],
  ["20,000 open brackets", "[".repeat(20_000)],
  ["a fence that is never closed", `\`\`\`\n${"let x = 1;\n".repeat(50_000)}`],
] as const)
  test(`${name} does not hold the panel up`, { skip }, async (t) => {
    const chat = await (stage as Stage).page();
    await chat.send(state());
    const measured = await measure(chat, [[attach([user("x"), agent(text, { type: "tool", callId: "c", tool: "bash", state: { status: "completed", input: { command: "x" }, title: "x", output: text, metadata: {}, time: { start: 0, end: 1 } } })])]]);
    await chat.page.getByTestId("input").fill("usable");
    await chat.page.locator("[data-tool=bash] .row-head").press("Enter");
    t.diagnostic(figures(measured));
    assert.ok(Math.max(0, ...measured.longTasks) < 1500);
    await chat.close();
  });
