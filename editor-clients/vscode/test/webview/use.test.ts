/** What a person does with the panel, with the keyboard and the mouse, and what the host is told. */
import assert from "node:assert/strict";
import test from "node:test";
import { agent, attach, commandAsk, conversation, done, ended, PATCH, question, SESSION, settled, state, tool, USAGE, user } from "./fixtures";
import { freshPages, skip } from "./harness";

const pages = freshPages();

const input = () => pages.chat.page.getByTestId("input");
const busy = { status: { type: "busy" as const } };

test("Enter sends, Shift+Enter makes a line, and the draft is empty then", { skip }, async () => {
  await pages.chat.send(state(), { type: "session" });
  await input().click();
  await pages.chat.page.keyboard.type("one");
  await pages.chat.page.keyboard.press("Shift+Enter");
  await pages.chat.page.keyboard.type("two");
  await pages.chat.page.keyboard.press("Enter");
  const { messageId, ...sent } = await pages.chat.posted("prompt");
  assert.match(messageId, /^msg_[0-9A-HJKMNP-TV-Z]{26}$/);
  assert.deepEqual(sent, { type: "prompt", draft: { text: "one\ntwo", chips: [] }, delivery: "steer" });
  assert.equal(await input().inputValue(), "");
});

test("while the agent works Enter steers and Alt+Enter queues, and both are said", { skip }, async () => {
  await pages.chat.send(state(), attach(conversation(), busy));
  await input().fill("use pytest");
  await pages.chat.page.getByText("Enter steers the agent now").waitFor();
  await input().press("Alt+Enter");
  assert.equal((await pages.chat.posted("prompt")).delivery, "queue");
  await input().fill("now");
  await pages.chat.page.getByRole("button", { name: "Queue: send when this turn is over" }).click();
  assert.equal((await pages.chat.posted("prompt")).delivery, "queue");
});

test("typed text is kept, given back before what came after, and restored", { skip }, async () => {
  await pages.chat.send(state(), { type: "session" }, { type: "draft", draft: { text: "from before", chips: [] } });
  assert.equal(await input().inputValue(), "from before");
  await input().fill("typed since");
  await pages.chat.page.waitForFunction(() => window.posted.some((message) => message.type === "draft" && message.draft.text === "typed since"));
  await pages.chat.send({ type: "giveBack", draft: { text: "not sent", chips: [] }, reason: "The session is busy." });
  assert.equal(await input().inputValue(), "not sent\ntyped since");
  await pages.chat.page.getByRole("alert").getByText("The session is busy.").waitFor();
});

test("! runs a command, / a command of the folder", { skip }, async () => {
  await pages.chat.send(state(), { type: "session" });
  await input().fill("! ls -la");
  await input().press("Enter");
  assert.equal((await pages.chat.posted("shell")).command, "ls -la");
  await input().pressSequentially("/rev");
  await pages.chat.page.getByRole("option", { name: /review/ }).waitFor();
  await input().press("Tab");
  await input().pressSequentially("all of it");
  await input().press("Enter");
  const { messageId, ...sent } = await pages.chat.posted("command");
  assert.ok(messageId);
  assert.deepEqual(sent, { type: "command", command: "review", arguments: "all of it", chips: [] });
});

test("@ offers files by keyboard; the word and its chip go together", { skip }, async () => {
  await pages.chat.send(state(), { type: "session" });
  await input().pressSequentially("see @pr");
  await pages.chat.page.waitForFunction(() => window.posted.some((message) => message.type === "find" && message.query === "pr"));
  const files = ["a/price.py", "b/print.py"].map((name) => ({ name, path: `/w/${name}` }));
  await pages.chat.send({ type: "files", query: "p", files: [] }, { type: "files", query: "pr", files });
  await input().press("ArrowDown");
  const active = await input().getAttribute("aria-activedescendant");
  assert.match((await pages.chat.page.locator(`#${String(active)}`).textContent()) ?? "", /print\.py/);
  await input().press("Enter");
  assert.equal(await input().inputValue(), "see @b/print.py ");
  await pages.chat.page.getByRole("button", { name: "Remove print.py" }).waitFor();
  await input().press("Enter");
  const { draft } = await pages.chat.posted("prompt");
  assert.deepEqual(draft.chips.map(({ part }) => part), [{ type: "file", uri: "file:///w/b/print.py" }]);

  await pages.chat.send({ type: "insert", text: "again @b/print.py", chips: draft.chips, focus: true });
  await pages.chat.page.getByRole("button", { name: "Remove print.py" }).click();
  assert.equal(await input().inputValue(), "again b/print.py");
});

test("@selection asks the host for a chip, which can be removed", { skip }, async () => {
  await pages.chat.send(state(), { type: "session" });
  await pages.chat.page.getByRole("button", { name: /Attach a file/ }).click();
  await pages.chat.page.getByRole("option", { name: /selection/ }).click();
  assert.deepEqual(await pages.chat.posted("attach"), { type: "attach", what: "selection" });
  assert.equal(await input().inputValue(), "");
  const chip = { label: "a.py 1–2", title: "a.py", part: { type: "file" as const, uri: "file:///a.py" } };
  await pages.chat.send({ type: "insert", chips: [chip, chip], focus: true });
  await pages.chat.page.getByRole("button", { name: "Remove a.py 1–2" }).click();
  assert.equal(await pages.chat.page.getByRole("listitem").filter({ hasText: "a.py" }).count(), 0);
});

test("a pasted picture becomes a chip", { skip }, async () => {
  await pages.chat.send(state(), { type: "session" });
  await input().focus();
  await input().evaluate((element) => {
    const data = new DataTransfer();
    data.items.add(new File([new Uint8Array([137, 80, 78, 71])], "x.png", { type: "image/png" }));
    element.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
  });
  await pages.chat.page.getByRole("button", { name: /Remove Image/ }).waitFor();
  await input().press("Enter");
  assert.deepEqual((await pages.chat.posted("prompt")).draft.chips[0]?.part, { type: "image", data: "iVBORw==", mimeType: "image/png" });
  pages.chat.errors.length = 0; // four bytes are no picture, and the browser says so
});

test("up in the first line walks through the session's prompts, down returns what was typed", { skip }, async () => {
  await pages.chat.send(state(), attach([user("first"), agent("ok"), user("second"), agent("ok")]));
  await input().fill("unfinished");
  await input().press("ArrowUp");
  assert.equal(await input().inputValue(), "second");
  await input().press("ArrowUp");
  assert.equal(await input().inputValue(), "first");
  await input().press("ArrowUp");
  assert.equal(await input().inputValue(), "first");
  await input().press("End");
  await input().press("ArrowDown");
  await input().press("ArrowDown");
  assert.equal(await input().inputValue(), "unfinished");
});

test("nothing that a model writes becomes HTML, a script, or a link to anything but the web and files", { skip }, async () => {
  const evil = [
    `<img src=x onerror="window.executed.push('img')"><script>window.executed.push('script')</script>`,
    "[a](javascript:window.executed.push('js')) [b](command:workbench.action.quit) [c](vscode://x/y) [d](data:text/html,x) [e](//host/x)",
    "![picture](https://tracker.example/x.png) <https://ok.example/y>",
    "[file](src/a.ts#L3) [web](https://ok.example/x)",
    "```html\n<b onclick=x>bold</b>\n```",
  ].join("\n\n");
  await pages.chat.send(state(), attach([user(evil), agent(evil, { type: "reasoning", text: evil, time: { start: 0, end: 1 } }, done("bash", { command: evil }, evil, evil), tool("bash", { status: "error", input: {}, error: evil, time: { start: 0 } }))], {
    pending: { permissions: [commandAsk(evil, { title: evil, description: evil })], questions: [] },
  }));
  for (const row of await pages.chat.page.locator(".log .row-head").all()) await row.click();
  await pages.chat.settled();
  const found = await pages.chat.page.evaluate(() => ({
    executed: window.executed,
    elements: document.querySelectorAll(".log img, .log script, .log b, .log iframe, .card img, .card script").length,
    links: [...document.querySelectorAll("a")].map((link) => link.getAttribute("href")),
    handlers: [...document.querySelectorAll("*")].filter((element) => [...element.attributes].some(({ name }) => name.startsWith("on") || name === "style")).length,
  }));
  const hrefs = ["https://tracker.example/x.png", "https://ok.example/y", "#", "https://ok.example/x"];
  assert.deepEqual(found, { executed: [], elements: 0, links: [...hrefs, ...hrefs], handlers: 0 });
  await pages.chat.page.getByTestId("answer").getByRole("link", { name: "file" }).first().click();
  assert.deepEqual(await pages.chat.posted("open"), { type: "open", uri: "file:///home/ada/shop/src/a.ts", range: { start: { line: 2 }, end: { line: 2 } } });
  await pages.chat.page.getByTestId("answer").getByRole("link", { name: "web" }).first().click();
  assert.equal((await pages.chat.posted("link")).href, "https://ok.example/x");
});

test("characters that hide or turn text round are named in commands", { skip }, async () => {
  await pages.chat.send(state(), attach([user("x")], { pending: { permissions: [commandAsk("rm \u202egpj.x\u200b\u0007")], questions: [] } }));
  assert.equal(await pages.chat.page.getByLabel("Command", { exact: true }).textContent(), "rm U+202Egpj.xU+200BU+0007");
});

test("a permission is answered by keyboard alone, and goes when it is settled", { skip }, async () => {
  const ask = commandAsk("git push");
  await pages.chat.send(state(), attach([user("x")], { status: { type: "waiting" } }));
  await input().focus();
  await pages.chat.page.keyboard.type("I am wri");
  await pages.chat.send({ type: "event", method: "permission/asked", params: { ...ask, seq: 5 } });
  await pages.chat.page.keyboard.type("ting");
  assert.equal(await input().inputValue(), "I am writing", "a question does not take the focus");
  await pages.chat.send({ type: "focus", on: { askId: ask.permissionId } });
  await pages.chat.page.keyboard.press("Enter");
  const sent = await pages.chat.posted("request");
  assert.deepEqual([sent.method, sent.params], ["permission/reply", { permissionId: ask.permissionId, reply: "once" }]);
  assert.ok(await pages.chat.page.getByRole("button", { name: "Allow once" }).isDisabled());
  await pages.chat.send({ type: "failed", requestId: sent.requestId, error: { message: "no", kind: "gone" } });
  await pages.chat.page.getByText("answer again when it is back").waitFor();
  await pages.chat.page.keyboard.press("Enter");
  const again = await pages.chat.posted("request");
  await pages.chat.send({ type: "answer", requestId: again.requestId, result: { status: "accepted" } }, settled(ask));
  assert.equal(await pages.chat.page.getByTestId("card").count(), 0);
  assert.ok(await input().evaluate((element) => element === document.activeElement), "the focus is back in the prompt");
});

test("always shows what is stored and for how long", { skip }, async () => {
  const ask = commandAsk("git push");
  await pages.chat.send(state(), attach([user("x")], { pending: { permissions: [ask], questions: [] } }));
  await pages.chat.page.getByRole("button", { name: "Always allow…" }).click();
  await pages.chat.page.getByLabel("bash: git push *").uncheck();
  await pages.chat.page.getByRole("button", { name: "In this project" }).click();
  const { params } = await pages.chat.posted("request");
  assert.deepEqual(params, { permissionId: ask.permissionId, reply: "always", scope: "project", patterns: ["git push origin main"] });
});

test("rejecting with words, and without", { skip }, async () => {
  const [one, two] = [commandAsk("one"), commandAsk("two")];
  await pages.chat.send(state(), attach([user("x")], { pending: { permissions: [one, two], questions: [] } }));
  await pages.chat.page.getByText("1 of 2").waitFor();
  await pages.chat.page.getByRole("button", { name: "Reject…" }).click();
  await pages.chat.page.keyboard.type("use make");
  await pages.chat.page.keyboard.press("Enter");
  assert.deepEqual((await pages.chat.posted("request")).params, { permissionId: one.permissionId, reply: "reject", message: "use make" });
  await pages.chat.page.getByRole("button", { name: "Next question" }).click();
  await pages.chat.page.getByRole("button", { name: "Reject…" }).click();
  await pages.chat.page.getByRole("button", { name: "Reject and stop" }).click();
  assert.deepEqual((await pages.chat.posted("request")).params, { permissionId: two.permissionId, reply: "reject" });
});

test("questions: one, several, own words, dismissed", { skip }, async () => {
  const ask = question();
  await pages.chat.send(state(), attach([user("x")], { pending: { permissions: [], questions: [ask] } }));
  await pages.chat.page.getByRole("button", { name: "Next" }).click();
  await pages.chat.page.getByText("Choose an answer, or write one.").waitFor();
  await pages.chat.page.getByLabel("Always up").check();
  await pages.chat.page.getByRole("button", { name: "Next" }).click();
  await pages.chat.page.getByLabel("Totals").check();
  await pages.chat.page.getByLabel("Your own answer").fill("refunds");
  await pages.chat.page.getByRole("button", { name: "Answer" }).click();
  assert.deepEqual((await pages.chat.posted("request")).params, { questionId: ask.questionId, answers: [["Always up"], ["Totals", "refunds"]] });
  const other = question();
  await pages.chat.send({ type: "event", method: "question/resolved", params: { sessionId: SESSION, rootSessionId: SESSION, questionId: ask.questionId, outcome: "allowed", by: "client", seq: 8 } }, { type: "event", method: "question/asked", params: { ...other, seq: 9 } });
  await pages.chat.page.getByRole("button", { name: "Dismiss" }).click();
  assert.equal((await pages.chat.posted("request")).method, "question/reject");
});

test("how a turn ended is said in words, with what to do next", { skip }, async () => {
  await pages.chat.send(state(), attach(conversation()));
  for (const [stop, words, action] of [["cancelled", "Stopped", "Continue"], ["max_steps", "Stopped at the limit of steps", "Continue"], ["error", "Failed: no network", "Try again"]] as const) {
    await pages.chat.send(ended(stop, stop === "error" ? "no network" : undefined));
    await pages.chat.page.getByTestId("ending").getByText(words.split(":")[0] ?? "", { exact: true }).waitFor();
    await pages.chat.page.getByRole("button", { name: action }).click();
    const sent = await pages.chat.posted("request");
    assert.equal(sent.method, "session/continue");
    await pages.chat.send({ type: "answer", requestId: sent.requestId, result: {} });
  }
  await pages.chat.send({ type: "event", method: "session/status", params: { sessionId: SESSION, status: { type: "busy" } } });
  assert.ok(await pages.chat.page.getByTestId("ending").isHidden());
});

test("the end stays in sight while the user is there, and only then", { skip }, async () => {
  const message = agent({ type: "text", id: "prt_g", text: "", time: { start: 1 } });
  await pages.chat.send(state(), attach([...conversation(), ...conversation(), message], busy));
  let rev = 1;
  const grow = async (): Promise<void> => {
    await pages.chat.send({ type: "event", method: "part/delta", params: { sessionId: SESSION, messageId: message.message.id, partId: "prt_g", field: "text", base: rev, rev: ++rev, delta: `Paragraph ${rev} of the answer.\n\n`.repeat(10) } });
  };
  const log = pages.chat.page.getByTestId("log");
  const away = () => log.evaluate((element) => element.scrollHeight - element.scrollTop - element.clientHeight);
  await grow();
  assert.ok((await away()) < 2, "follows");
  await log.hover();
  await pages.chat.page.mouse.wheel(0, -300);
  await pages.chat.page.getByRole("button", { name: "Jump to the latest message" }).waitFor();
  const read = pages.chat.page.getByTestId("answer").last().locator("p").first();
  const place = () => read.evaluate((element) => Math.round(element.getBoundingClientRect().top));
  const top = await place();
  await grow();
  assert.equal(await place(), top, "stays");
  await pages.chat.page.getByRole("button", { name: "Jump to the latest message" }).click();
  await pages.chat.settled();
  assert.ok((await away()) < 2, "jumped");
});

test("older messages come on demand, and what is read stays where it is", { skip }, async () => {
  const messages = Array.from({ length: 30 }, () => conversation()).flat();
  await pages.chat.send(state(), attach(messages, {}, { nextCursor: "mark" }));
  const log = pages.chat.page.getByTestId("log");
  await log.evaluate((element) => { element.scrollTop = 0; });
  const reading = pages.chat.page.locator(".messages > article").first();
  await pages.chat.settled();
  const before = await reading.evaluate((element) => element.getBoundingClientRect().top);
  await pages.chat.page.getByRole("button", { name: "Show earlier messages" }).click();
  await pages.chat.settled();
  const sixty = pages.chat.page.locator(".messages > article").nth(50);
  assert.ok(Math.abs((await sixty.evaluate((element) => element.getBoundingClientRect().top)) - before) < 40);
  await pages.chat.page.getByRole("button", { name: "Show earlier messages" }).click();
  const sent = await pages.chat.posted("request");
  assert.deepEqual([sent.method, sent.params], ["session/messages", { before: "mark", limit: 50 }]);
  const older = user("the very first");
  await pages.chat.send({ type: "answer", requestId: sent.requestId, result: { messages: [{ ...older, message: { ...older.message, pos: -5 } }] } });
  assert.ok(await pages.chat.page.getByRole("button", { name: "Show earlier messages" }).isHidden());
  await pages.chat.page.getByText("the very first").waitFor({ state: "attached" });
});

test("a picture that a tool read is shown", { skip }, async () => {
  const url = "data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7";
  const read = tool("read", { status: "completed", input: {}, title: "x.gif", output: "A picture.", metadata: {}, attachments: [{ mime: "image/gif", url }, { url: "https://tracker.example/x" }], time: { start: 0, end: 1 } });
  await pages.chat.send(state(), attach([user("look"), agent(read)]));
  await pages.chat.page.locator("[data-tool=read] .row-head").click();
  assert.deepEqual(await pages.chat.page.locator(".tool img").evaluateAll((images) => images.map((image) => (image as HTMLImageElement).naturalWidth)), [1]);
});

test("a tool's row opens: diff, output, file", { skip }, async () => {
  await pages.chat.send(state(), attach(conversation()));
  await pages.chat.page.locator("[data-tool=edit] .row-head").click();
  assert.equal(await pages.chat.page.locator(".diff-added").count(), PATCH.split("\n").filter((line) => /^\+[^+]/.test(line)).length);
  await pages.chat.page.getByRole("button", { name: "Open diff" }).click();
  assert.equal((await pages.chat.posted("diff")).type, "diff");
  await pages.chat.page.locator("[data-tool=bash] .row-head").press("Enter");
  await pages.chat.page.getByText("48 passed in 1.92s").waitFor();
});

test("screen readers hear the whole answer once, not each delta", { skip }, async () => {
  const message = agent({ type: "text", id: "prt_g", text: "", time: { start: 1 } });
  await pages.chat.send(state(), attach([user("x"), message], busy));
  const region = pages.chat.page.locator("[role=status][aria-live=polite]");
  assert.equal(await pages.chat.page.getByTestId("log").getAttribute("aria-live"), "off");
  for (let rev = 1; rev < 5; rev++)
    await pages.chat.send({ type: "event", method: "part/delta", params: { sessionId: SESSION, messageId: message.message.id, partId: "prt_g", field: "text", base: rev, rev: rev + 1, delta: `word${rev} ` } });
  assert.equal(await region.textContent(), "");
  await pages.chat.send(ended("done"));
  assert.equal(await region.textContent(), "word1 word2 word3 word4 ");
});

test("a session that another process runs takes no prompt, and the text stays", { skip }, async () => {
  await pages.chat.send(state(), attach(conversation(), { owner: { pid: 4711 } }));
  await pages.chat.page.getByTestId("banner").getByText("Process 4711").waitFor();
  await input().fill("keep me");
  await input().press("Enter");
  await pages.chat.page.getByText("Not sent: another process runs this session. End it there, or begin a new session.").waitFor();
  assert.equal(await input().inputValue(), "keep me");
});

test("stop, and the queue's remove", { skip }, async () => {
  await pages.chat.send(state(), attach(conversation(), busy, { queue: [{ messageId: "msg_q", text: "later", parts: [], createdAt: 1 }] }));
  await pages.chat.page.getByRole("button", { name: "Stop", exact: true }).click();
  assert.equal((await pages.chat.posted("request")).method, "session/abort");
  await pages.chat.page.getByRole("button", { name: "Remove from the queue: later" }).click();
  assert.deepEqual((await pages.chat.posted("request")).params, { messageId: "msg_q" });
});

test("why the server does not run is said, and what is typed stays", { skip }, async () => {
  await pages.chat.send(state(), { type: "session" });
  await input().fill("keep me");
  await pages.chat.send(state({ server: { state: "failed", reason: "agentls was not found.", remedies: ["install", "log"] } }));
  await pages.chat.page.getByRole("alert").getByText("agentls was not found.").waitFor();
  await pages.chat.page.getByRole("button", { name: "Install agentls" }).click();
  assert.equal((await pages.chat.posted("remedy")).remedy, "install");
  assert.equal(await input().inputValue(), "keep me");
});

test("a prompt that is not taken yet is shown, once", { skip }, async () => {
  const mine = user("hello there");
  const unsent = [{ messageId: mine.message.id, kind: "prompt" as const, text: "hello there", chips: [] }];
  await pages.chat.send(state({ unsent, server: { state: "down", remedies: [] } }), attach([]));
  await pages.chat.page.getByText("Waits for the server").waitFor();
  await pages.chat.send({ type: "event", method: "message/updated", params: { sessionId: SESSION, seq: 3, message: mine.message } });
  for (const part of mine.parts) await pages.chat.send({ type: "event", method: "part/updated", params: { sessionId: SESSION, seq: 4, part } });
  assert.equal(await pages.chat.page.getByText("hello there").count(), 1);
  assert.equal(USAGE.cost, 0.042);
});
