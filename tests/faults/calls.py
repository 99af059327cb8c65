"""Runs tools: `python -m faults.calls --calls 2000` (from `tests/`) prints what one server has grown by.

Commands that end well, fail, print much, time out or leave children; files read, written, edited and searched.
"""

import argparse
import asyncio
import json
import random
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

import psutil

from e2e.client import Message
from e2e.model import calls, says
from e2e.server import Machine, running, unique
from e2e.talk import Talk
from fakes.openai_server import serve
from fakes.replies import Reply, Request
from faults.abort import footprint
from faults.wild import PYTHON, logged

AT_ONCE, STEPS = 4, 10
"""Calls of an answer, answers of a turn."""

GROWN = {"descriptors": 10, "threads": 20, "children": 1, "zombies": 0, "MiB": 40}
COMMANDS = (
    "echo {n}",
    "exit {n}",
    "ls missing{n}",
    "head -c 300000 /dev/zero | tr '\\0' x; echo {n}",
    "(sleep {mark} &) ; echo {n}",
    "setsid sleep {mark} & echo {n}",
    "cat",
    "printf '\\033[31m{n}\\033[0m\\r\\n'",
)


class Model:
    """Calls tools for some answers, then says that it is done. What it calls never repeats: no guard steps in."""

    def __init__(self, seed: int, mark: str) -> None:
        self._draw = random.Random(seed)
        self._mark = mark
        self._number = 0
        self._left = 0
        self.made: Counter[str] = Counter()

    def __call__(self, request: Request) -> Reply:
        if request.json["messages"][-1]["role"] == "user":
            self._left = STEPS
        if self._left == 0:
            return says(f"Done {self._number}.")
        self._left -= 1
        made = [self._call() for _ in range(AT_ONCE)]
        self.made.update(name for name, _ in made)
        return calls(*made, ids=f"call{self._number}")

    def _call(self) -> tuple[str, dict[str, Any]]:
        self._number += 1
        number, draw = self._number, self._draw
        name = f"file{number % 50}.txt"
        match draw.randrange(10):
            case 0 | 1 | 2 | 3:
                command = draw.choice(COMMANDS).replace("{n}", str(number)).replace("{mark}", self._mark)
                return "bash", {"command": command, "workdir": "."}
            case 4:
                return "bash", {"command": f"sleep {self._mark}; echo {number}", "timeout": 50}
            case 5:
                return "write", {"filePath": f"new{number}.txt", "content": f"{number}\n" * draw.randrange(1, 500)}
            case 6:
                return "edit", {"filePath": name, "oldString": "a line", "newString": f"a line {number}"}
            case 7:
                return "grep", {"pattern": f"line|{number}"}
            case 8:
                return "glob", {"pattern": f"**/*{number % 10}*"}
            case _:
                return "read", {"filePath": draw.choice((name, f"none{number}.txt"))}


def counted(process: psutil.Process) -> dict[str, int]:
    zombies = 0
    for child in process.children(recursive=True):
        try:
            zombies += child.status() == psutil.STATUS_ZOMBIE
        except psutil.NoSuchProcess:
            continue
    return footprint(process) | {"zombies": zombies}


async def answered(talk: Talk) -> Message:
    """Allows what is asked: commands that are not plain words ask in any mode, and so does what repeats itself."""
    sent, client, at = talk.send_prompt("go", wait="idle"), talk.client, talk.client.mark()

    async def allow() -> None:
        nonlocal at
        while True:
            asked = await talk.asked(after=at)
            at = client.place_of(asked) + 1
            await talk.reply(asked)

    allowing = asyncio.create_task(allow())
    try:
        return await client.answer(sent, 120)
    finally:
        allowing.cancel()
        await asyncio.gather(allowing, return_exceptions=True)


async def attack(number: int, seed: int) -> tuple[list[str], dict[str, Any]]:
    mark, found = unique(), list[str]()
    model = Model(seed, mark)
    with tempfile.TemporaryDirectory(prefix="agentls-calls-") as name:
        async with serve(model, strict=True) as server:
            machine = Machine(Path(name), server.url)
            folder = machine.project("main", {f"file{n}.txt": "one\na line\nthree\n" * 20 for n in range(50)})
            async with machine.editor(folder, env=PYTHON) as client:
                process = psutil.Process(client.process.pid)
                samples: list[dict[str, int]] = []
                ended: Counter[str] = Counter()
                began = time.monotonic()
                while sum(model.made.values()) < number or len(samples) < 2:
                    talk = await Talk.begin(client, folder, mode="auto")
                    result = await answered(talk)
                    if result["stopReason"] != "done":
                        found.append(f"a turn ended as {json.dumps(result)[:500]}")
                    ended.update(tool["state"]["status"] for tool in await talk.tools())
                    if left := running(mark):
                        found.append(f"left: {[one.cmdline() for one in left]}")
                    samples.append(counted(process))
                    del client.log[:]
                took = time.monotonic() - began
                if await client.shut_down() != 0:
                    found.append("it did not end well")
        found += logged(machine)
    made = sum(model.made.values())
    if sum(ended.values()) != made:
        found.append(f"{made} calls were made, {sum(ended.values())} are stored")
    first, last = samples[min(2, len(samples) - 2)], samples[-1]
    found += [
        f"{name}: {first[name]}, then {last[name]}" for name, most in GROWN.items() if last[name] - first[name] > most
    ]
    figures = {
        "calls": dict(model.made),
        "ended": dict(ended),
        "seconds": round(took, 1),
        "after some": first,
        "at the end": last,
        "KiB a call": round((last["MiB"] - first["MiB"]) * 1024 / made, 1),
    }
    return found, figures


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Runs tools")
    parser.add_argument("--calls", type=int, default=2_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    faults, told = asyncio.run(attack(options.calls, options.seed))
    print("\n".join(faults))
    print(json.dumps(told, indent=1))
    print(f"{len(faults)} faults in {sum(told['calls'].values())} calls")
    raise SystemExit(bool(faults))
