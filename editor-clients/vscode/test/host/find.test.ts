import assert from "node:assert/strict";
import test from "node:test";
import { findServer, startProblem, waysToGet, type Surroundings } from "../../src/host/find";

function around(there: string[], more: Partial<Surroundings> = {}): Surroundings {
  return {
    setting: "",
    folders: ["/ws"],
    pythons: [],
    path: "/usr/bin:/opt/bin",
    home: "/home/me",
    executable: (path) => Promise.resolve(there.includes(path)),
    ...more,
  };
}

async function line(there: string[], more: Partial<Surroundings> = {}): Promise<string> {
  const found = await findServer(around(there, more));
  return "program" in found ? [found.program.command, ...found.program.args].join(" ") : `problem: ${found.problem.reason}`;
}

const ALL = ["/ws/.venv/bin/agentls", "/envs/py/bin/agentls", "/opt/bin/agentls", "/home/me/.local/bin/agentls"];
const PYTHON = { pythons: ["/envs/py/bin/python"] };

test("the places are tried in their order", async () => {
  assert.equal(await line(ALL, PYTHON), "/ws/.venv/bin/agentls");
  assert.equal(await line(ALL.slice(1), PYTHON), "/envs/py/bin/agentls");
  assert.equal(await line(ALL.slice(2), PYTHON), "/opt/bin/agentls");
  assert.equal(await line(ALL.slice(3), PYTHON), "/home/me/.local/bin/agentls");
});

test("what would fetch it is not started unasked, but offered", async () => {
  const there = around(["/home/me/.local/bin/uvx", "/usr/bin/pipx"]);
  const found = await findServer(there);
  assert.ok("problem" in found);
  assert.match(found.problem.reason, /^agentls was not found.*Install it, run it with uvx or pipx, or choose where it is\.$/);
  assert.equal(found.problem.remedies[0], "install");
  assert.deepEqual((await waysToGet(there)).map(({ label }) => label), ["pipx install agentls", "Run with uvx", "Run with pipx"]);
  assert.deepEqual(await waysToGet(around([])), []);
});

test("once it was chosen it is what fetches", async () => {
  const there = around(["/home/me/.local/bin/uvx"], { setting: ["uvx", "agentls"] });
  assert.deepEqual(await findServer(there), { program: { command: "/home/me/.local/bin/uvx", args: ["agentls"], fetches: true } });
});

test("a folder that is not trusted is not looked into", async () => {
  assert.equal(await line(ALL, { folders: [] }), "/opt/bin/agentls");
});

test("the setting counts alone, also when it is wrong", async () => {
  assert.equal(await line([...ALL, "/my/agentls"], { setting: "/my/agentls" }), "/my/agentls");
  assert.equal(await line(["/home/me/x"], { setting: " ~/x " }), "/home/me/x");
  assert.equal(await line(["/usr/bin/python3"], { setting: ["python3", "-m", "agentls"] }), "/usr/bin/python3 -m agentls");
  assert.match(await line(ALL, { setting: "/gone/agentls" }), /^problem: .*\/gone\/agentls, which cannot be run/);
  assert.match(await line(ALL, { setting: "bin/agentls" }), /^problem: .*is not an absolute path/);
});

for (const setting of [null, 1, {}, [1], ["agentls", null]]) {
  test(`a setting that is no path is said to be none: ${JSON.stringify(setting)}`, async () => {
    assert.match(await line(ALL, { setting }), /^problem: The setting agentls\.path is neither a path nor a list/);
  });
}

test("an empty setting names nothing", async () => {
  for (const setting of ["", " ", [], [""]]) assert.equal(await line(ALL, { setting }), "/ws/.venv/bin/agentls");
});

test("a relative place on the PATH is passed over", async () => {
  assert.match(await line(["bin/agentls", "./agentls"], { path: ".:bin" }), /^problem: agentls was not found/);
});

test("nothing found: it is said, and without Python that too", async () => {
  const found = await findServer(around(["/usr/bin/python3"]));
  assert.ok("problem" in found);
  assert.doesNotMatch(found.problem.reason, /No Python/);
  assert.deepEqual(found.problem.remedies, ["choosePath", "readme", "restart"]);
  assert.match(await line([]), /No Python was found either/);
});

test("a program that fetches and cannot is told from one that is broken", () => {
  const fetching = startProblem({ command: "/b/uvx", args: ["agentls"], fetches: true }, "no network");
  assert.match(fetching.reason, /`\/b\/uvx agentls` could not fetch it: no network/);
  assert.equal(fetching.remedies[0], "install");
  assert.equal(startProblem({ command: "/b/agentls", args: [], fetches: false }, "it ended with code 1").remedies[0], "restart");
});
