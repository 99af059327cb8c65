"""Stops turns in every state: `python -m faults.states --tries 30` (from `tests/`) prints a table, a row a state.

Each try brings a session of its own into the state, waits a random moment, aborts, and prompts again.
"""

import argparse
import asyncio
import random
import tempfile
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path

from e2e.client import Client, Message, RpcError
from e2e.model import Script, calls, says, scripted
from e2e.server import Machine, running, unique
from e2e.talk import Talk
from fakes.replies import Answer, C, Hang, Pause, Status, call
from faults.wild import PYTHON, Account, at_rest, logged, usable

LONG = [C({"content": f"{number} words. "}) for number in range(2_000)]
PACED = [event for piece in LONG[:400] for event in (piece, Pause(0.003))]
ARGUMENTS = {"filePath": "long.txt", "content": "".join(f"{number} words. " for number in range(2_000))}
QUESTION = {"questions": [{"header": "H", "question": "?", "options": [{"label": "A"}]}]}


@dataclass(frozen=True)
class Try:
    talk: Talk
    model: Script
    mark: str
    seen: int

    async def prompt(self, *replies: Answer | Status, mode: str = "auto") -> None:
        await self.talk.ask("session/update", mode=mode)
        self.model.plays(*replies)
        await self.talk.prompt(f"go MARK={self.mark}")

    async def status(self, kind: str) -> None:
        await self.talk.wait("session/status", lambda p: p["status"]["type"] == kind, after=self.seen)

    async def begun(self, command: str) -> None:
        await self.prompt(calls(("bash", {"command": command.replace("{n}", self.mark)})), mode="auto")
        begun = asyncio.ensure_future(self.talk.output("begun", after=self.seen))
        asked = asyncio.ensure_future(self.talk.asked(after=self.seen))
        done, rest = await asyncio.wait((begun, asked), return_when=asyncio.FIRST_COMPLETED)
        if asked in done:
            await self.talk.reply(asked.result())
            await begun
        for task in rest - {begun}:
            task.cancel()


async def before_the_first_token(it: Try) -> None:
    await it.prompt(says("never", before="never"))
    await it.talk.wait("part/updated", lambda p: p["part"]["type"] == "step-start", after=it.seen)


async def text(it: Try) -> None:
    await it.prompt(Answer([*PACED, Hang()]))
    await it.talk.first_text(after=it.seen)


async def flood(it: Try) -> None:
    await it.prompt(Answer([*LONG, Hang()]))
    await it.talk.first_text(after=it.seen)


async def arguments(it: Try) -> None:
    paced = [event for piece in call("write", ARGUMENTS)[:400] for event in (piece, Pause(0.003))]
    await it.prompt(Answer([*paced, Hang()]))
    await it.talk.wait("part/delta", field="raw", after=it.seen)


async def tool(it: Try) -> None:
    await it.begun("echo begun; sleep {n}")


async def tool_with_a_flock(it: Try) -> None:
    await it.begun("(sleep {n} & setsid sleep {n} &) ; echo begun; sleep {n}")


async def tool_that_ignores_term(it: Try) -> None:
    await it.begun("trap '' TERM INT HUP; echo begun; while :; do sleep {n}; done")


async def asking(it: Try) -> None:
    await it.prompt(calls(("bash", {"command": f"touch {it.mark}"})), mode="ask")
    await it.talk.asked(after=it.seen)


async def question(it: Try) -> None:
    await it.prompt(calls(("question", QUESTION)))
    await it.talk.questioned(after=it.seen)


async def retry(it: Try) -> None:
    await it.prompt(Status(429, {"error": {"message": "slow down"}}, {"retry-after": "60"}))
    await it.status("retry")


async def shell(it: Try) -> None:
    await it.talk.ask("session/shell", command=f"echo begun; sleep {it.mark}")
    await it.talk.output("begun", after=it.seen)


async def after_the_end(it: Try) -> None:
    await it.prompt(says("Done."))
    await it.talk.ended(after=it.seen)


State = Callable[[Try], Awaitable[None]]
STATES: dict[str, State] = {
    "before the first token": before_the_first_token,
    "text": text,
    "text that comes all at once": flood,
    "arguments of a call": arguments,
    "tool": tool,
    "tool with a flock": tool_with_a_flock,
    "tool that ignores TERM": tool_that_ignores_term,
    "asking for permission": asking,
    "question": question,
    "wait of a retry": retry,
    "user's shell": shell,
    "twice at once": text,
    "just after the end": after_the_end,
}


@dataclass
class Row:
    waits: list[float] = field(default_factory=list)
    survivors: int = 0
    forced: int = 0
    faults: list[str] = field(default_factory=list)

    def figures(self) -> dict[str, float]:
        waits = sorted(self.waits)
        most = len(waits) - 1
        return {
            "n": len(waits),
            "p50 ms": round(waits[most // 2] * 1000, 1),
            "p99 ms": round(waits[round(most * 0.99)] * 1000, 1),
            "survivors": self.survivors,
            "forced": self.forced,
            "faults": len(self.faults),
        }


async def one(client: Client, folder: Path, model: Script, name: str, draw: random.Random, row: Row) -> None:
    mark = unique()
    it = Try(await Talk.begin(client, folder), model, mark, client.mark())
    await STATES[name](it)
    await asyncio.sleep(draw.choice((0, 0, draw.uniform(0, 0.02), draw.uniform(0, 0.2))))
    began = time.monotonic()
    sent = [client.send("session/abort", {"sessionId": it.talk.id}) for _ in range(1 + (name == "twice at once"))]
    results: list[Message] = []
    for request_id in sent:
        try:
            results.append(await client.answer(request_id, 12))
        except (AssertionError, RpcError) as error:
            row.faults.append(f"{name}: {str(error)[:600]}")
    row.waits.append(time.monotonic() - began)
    left = running(mark)
    row.survivors += len(left)
    row.forced += any(result.get("forced") for result in results)
    wanted = name != "just after the end"
    if results and results[0]["aborted"] is not wanted:
        row.faults.append(f"{name}: {results}")
    found = await at_rest(it.talk)
    model.plays(says("plain words"))
    found += await usable(it.talk)
    account = Account(client.log[it.seen :], it.talk.id)
    stops = list(account.stops.values())
    if stops != ["cancelled" if wanted else "done", "done"] or set(account.ended.values()) != {1}:
        found.append(f"turns ended as {account.stops}, {account.ended}")
    row.faults += [f"{name}: {fault}" for fault in found + account.faults]
    await it.talk.ask("session/delete")
    client.log[it.seen :] = []


async def attack(tries: int, seed: int) -> tuple[list[str], dict[str, dict[str, float]]]:
    draw, rows = random.Random(seed), {name: Row() for name in STATES}
    with tempfile.TemporaryDirectory(prefix="agentls-states-") as name:
        async with scripted() as model:
            machine = Machine(Path(name), model.url)
            folder = machine.project("main", {"a.txt": "one\n"})
            async with machine.editor(folder, env=PYTHON) as client:
                for state in [*STATES] * tries:
                    await one(client, folder, model, state, draw, rows[state])
                await client.shut_down()
        found = [fault for row in rows.values() for fault in row.faults] + logged(machine)
    return found, {state: row.figures() for state, row in rows.items()}


def table(figures: dict[str, dict[str, float]]) -> str:
    heads = list(next(iter(figures.values())))
    lines = [f"{'state':28}" + "".join(f"{head:>11}" for head in heads)]
    lines += [f"{state:28}" + "".join(f"{row[head]:>11}" for head in heads) for state, row in figures.items()]
    return "\n".join(lines)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Stops turns in every state")
    parser.add_argument("--tries", type=int, default=30, help="of each state")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    faults, told = asyncio.run(attack(options.tries, options.seed))
    print("\n".join(faults))
    print(table(told))
    print(f"{len(faults)} faults")
    raise SystemExit(bool(faults))
