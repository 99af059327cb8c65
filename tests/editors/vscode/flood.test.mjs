/** 20,000 deltas: the panel stays usable while they come. Measured in the browser; the figures are printed. */
import assert from "node:assert/strict";
import { after, beforeEach } from "node:test";
import { Desk } from "./desk/desk.mjs";
import { until } from "./desk/until.mjs";

const DELTAS = 20_000;
/** Far above what is seen on an idle machine; below what a person would call stuck. */
const LONGEST_TASK = 1000;
const STOP_OBEYED = 5000;

const desk = await Desk.open();
after(() => desk.close());
const { model } = desk;
const window = await desk.window();
const { chat } = window;
await chat.open();

beforeEach(() => chat.fresh());

/** No two are alike: what repeats itself is cut by the server. */
function delta(number) {
  const digits = String((number * 7919) % 99991).padStart(5, "0");
  const words = number % 2 === 0 ? `${digits} \`words\` of an ` : `**answer** of ${digits} words\n`;
  const body = { choices: [{ index: 0, delta: { content: words.padStart(27) }, finish_reason: null }] };
  return `data: ${JSON.stringify(body)}\n\n`;
}

const flood = (count) => ({ raw: Array.from({ length: count }, (_, number) => delta(number)).join("") });

const inPanel = (does, given) => chat.log.evaluate(does, given);

/** From now on: long tasks, and how long a frame is waited for. */
const measure = () =>
  inPanel(() => {
    const seen = { tasks: [], frames: [] };
    globalThis.seen = seen;
    new PerformanceObserver((list) => seen.tasks.push(...list.getEntries().map(({ duration }) => duration))).observe({ type: "longtask" });
    let last = performance.now();
    const frame = (now) => {
      seen.frames.push(now - last);
      last = now;
      globalThis.requestAnimationFrame(frame);
    };
    globalThis.requestAnimationFrame(frame);
  });

async function figures(t, more = {}) {
  const { tasks, frames } = await inPanel(() => globalThis.seen);
  const sorted = frames.toSorted((one, other) => one - other);
  const at = (share) => Math.round(sorted[Math.floor((sorted.length - 1) * share)] ?? 0);
  const longest = Math.round(Math.max(0, ...tasks));
  const said = { frames: frames.length, median: at(0.5), p99: at(0.99), worst: at(1), longTasks: tasks.length, longest, ...more };
  t.diagnostic(`in milliseconds: ${JSON.stringify(said)}`);
  return said;
}

desk.test("an answer of 20,000 deltas is drawn whole, and the panel is never stuck", async (t) => {
  await model.plays({ events: [{ gate: "go" }, flood(DELTAS), { finish: "stop" }, "done"] });
  await chat.send("At length");
  await chat.isBusy();
  await measure();
  const begun = Date.now();
  await model.open("go");
  await chat.status.waitFor({ state: "hidden", timeout: 90_000 });
  const last = `of ${String(((DELTAS - 1) * 7919) % 99991).padStart(5, "0")} words`;
  await chat.log.getByText(last).waitFor();
  const { longest } = await figures(t, { all: Date.now() - begun });
  assert.ok(longest < LONGEST_TASK, `stood still for ${longest} ms`);
});

desk.test("while they come the user types, scrolls and stops", async (t) => {
  await model.plays({ events: [{ gate: "go" }, flood(DELTAS), "hang"] });
  await chat.send("At length");
  await chat.isBusy();
  await measure();
  await model.open("go");
  await chat.says("of an");
  const begun = Date.now();
  await chat.input.pressSequentially("typed meanwhile");
  await chat.typed("typed meanwhile");
  const typing = Math.round((Date.now() - begun) / "typed meanwhile".length);
  await chat.log.hover();
  await window.page.mouse.wheel(0, -2000);
  await until("the log is scrolled up", () => inPanel((log) => log.scrollTop + log.clientHeight < log.scrollHeight - 500));
  const pressed = Date.now();
  await chat.button("Stop", chat.status).click();
  await chat.ending.getByText("Stopped").waitFor();
  const stopped = Date.now() - pressed;
  await figures(t, { keyToKey: typing, stopped });
  assert.ok(stopped < STOP_OBEYED, `Stop took ${stopped} ms`);
  assert.equal(await chat.input.inputValue(), "typed meanwhile");
  await chat.input.fill("");
});
