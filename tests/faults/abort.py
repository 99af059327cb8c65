"""Stops turns at random moments: `python -m faults.abort --tries 300` (from `tests/`) prints what it found."""

import argparse
import asyncio
import json
import random
import tempfile
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil

from e2e.client import Client, RpcError
from e2e.server import Machine, running, unique
from e2e.talk import Talk
from faults.wild import PYTHON, Account, Noise, at_rest, logged, problems_of, stop_all, usable, wild_model


class Attack:
    def __init__(self, machine: Machine, client: Client) -> None:
        self.machine = machine
        self.client = client
        self.folders = [machine.project(f"p{number}", {"a.txt": "one\ntwo\n"}) for number in range(4)]
        self.faults: list[str] = []
        self.waits: list[float] = []
        self.counts: Counter[str] = Counter()

    async def one(self, number: int, draw: random.Random) -> None:
        folder = self.folders[number % len(self.folders)]
        talk = await Talk.begin(self.client, folder, mode=draw.choice(("ask", "acceptEdits", "auto", "auto")))
        mark, rounds = unique(), draw.choice((1, 1, 2, 3))
        for round_ in range(rounds):
            found = await self._round(talk, draw, mark)
            found += await at_rest(talk)
            if left := running(mark):
                found.append(f"processes left: {[process.cmdline() for process in left]}")
            self.faults += [f"#{number}.{round_} {fault}" for fault in found]
        found = await usable(talk)
        account = Account(self.client.log, talk.id)
        found += account.faults
        for turn, times in account.started.items():
            if times != 1 or account.ended[turn] != 1:
                found.append(f"{turn} started {times}, ended {account.ended[turn]} times")
        found += [f"{turn} ended, never started" for turn in account.ended if turn not in account.started]
        self.counts.update(account.stops.values())
        self.faults += [f"#{number} {fault}" for fault in found]
        if draw.random() < 0.3:
            await talk.ask("session/delete")

    async def _round(self, talk: Talk, draw: random.Random, mark: str) -> list[str]:
        noise = Noise(talk, draw, mark)
        self._begin(talk, draw, mark, noise)
        acting = asyncio.create_task(noise.go_on())
        await asyncio.sleep(draw.choice((0, 0.002, draw.uniform(0, 0.05), draw.uniform(0, 0.4), draw.uniform(0, 1.5))))
        quiet = draw.random() < 0.5
        if quiet:
            acting.cancel()
        found = await self._abort(talk, draw)
        acting.cancel()
        with suppress(asyncio.CancelledError):
            await acting
        await stop_all(talk)
        for request_id in noise.sent:
            try:
                await self.client.response(request_id, 8)
            except AssertionError as error:
                found.append(f"never answered: {str(error)[:600]}")
        await stop_all(talk)
        return found

    def _begin(self, talk: Talk, draw: random.Random, mark: str, noise: Noise) -> None:
        if draw.random() < 0.15:
            command = draw.choice(("sleep {n}", "echo a; (setsid sleep {n} &) ; sleep {n}", "trap '' TERM; sleep {n}"))
            params = {"sessionId": talk.id, "command": command.replace("{n}", mark)}
            noise.sent.append(self.client.send("session/shell", params))
            return
        wait = draw.choice(("accepted", "idle"))
        noise.sent.append(talk.send_prompt(f"S={talk.id} go. MARK={mark}", wait=wait))

    async def _abort(self, talk: Talk, draw: random.Random) -> list[str]:
        started = time.monotonic()
        sent = [self.client.send("session/abort", {"sessionId": talk.id}) for _ in range(draw.choice((1, 1, 2, 3)))]
        for request_id in sent:
            try:
                result: dict[str, Any] = await self.client.answer(request_id, 10)
            except RpcError as error:
                return [f"abort: {error}"]
            except AssertionError as error:
                return [f"abort: {str(error)[:1000]}"]
            self.counts["forced"] += bool(result.get("forced"))
            self.counts["aborted"] += bool(result.get("aborted"))
        self.waits.append(time.monotonic() - started)
        return []


GROWN = {"descriptors": 30, "threads": 20, "children": 1}
"""How much each may have grown: a connection kept for each folder, worker threads, the watcher of commands."""


def grew(name: str, before: dict[str, int], after: dict[str, int]) -> bool:
    return after[name] > before[name] + GROWN[name]


def footprint(process: psutil.Process) -> dict[str, int]:
    return {
        "descriptors": process.num_fds(),
        "threads": process.num_threads(),
        "children": len(process.children(recursive=True)),
        "MiB": process.memory_info().rss >> 20,
    }


async def attack(tries: int, seed: int, beside: int) -> tuple[list[str], dict[str, Any]]:
    with tempfile.TemporaryDirectory(prefix="agentls-abort-") as name:
        folder, log = Path(name), Path(name) / "model.log"
        async with wild_model(seed, log) as url:
            machine = Machine(folder, url)
            async with machine.editor(machine.project("main"), env=PYTHON) as client:
                it = Attack(machine, client)
                process = psutil.Process(client.process.pid)
                await it.one(-1, random.Random(seed))
                before = footprint(process)
                numbers = iter(range(tries))

                async def work() -> None:
                    for number in numbers:
                        await it.one(number, random.Random(seed * 100_000 + number))

                await asyncio.gather(*(work() for _ in range(beside)))
                await asyncio.sleep(1)
                after = footprint(process)
                try:
                    code: int | None = await client.shut_down()
                except AssertionError as error:
                    it.faults.append(f"shutdown: {str(error)[:300]}")
                    code = None
        it.faults += [f"model: {json.dumps(problem)[:1500]}" for problem in problems_of(log)]
        it.faults += logged(machine)
        it.faults += [
            f"{name}: {before[name]} before, {after[name]} after" for name in GROWN if grew(name, before, after)
        ]
        waits = sorted(it.waits)
        figures = {
            "exit": code,
            "before": before,
            "after": after,
            "abort p50 ms": round(waits[len(waits) // 2] * 1000),
            "p99 ms": round(waits[int(len(waits) * 0.99)] * 1000),
            "max ms": round(waits[-1] * 1000),
            "counts": dict(it.counts),
        }
        return it.faults, figures


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Stops turns at random moments")
    parser.add_argument("--tries", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--beside", type=int, default=3)
    options = parser.parse_args()
    found, told = asyncio.run(attack(options.tries, options.seed, options.beside))
    print("\n".join(found))
    print(json.dumps(told, indent=1))
    print(f"{len(found)} faults in {options.tries} tries")
    raise SystemExit(bool(found))
