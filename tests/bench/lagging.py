"""How late the server's own loop is at most: beside a client that does not read, and with many sessions at once."""

import asyncio
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from bench.desk import LONG, TESTS, desk, pss
from bench.figures import Figure, of
from e2e.client import Client
from e2e.server import OPTIONS, Machine
from e2e.talk import Talk

SESSIONS, DELTAS = 200, 100
UNREAD = 3  # seconds


async def lag(runs: int) -> list[Figure]:
    """A client that reads nothing while 20,000 deltas stream, then reads them all."""
    worst: list[float] = []
    async with desk() as (machine, project), _watched(machine, project, worst) as client:
        talk = await Talk.begin(client, project)
        for _ in range(runs):
            mark = client.mark()
            client.pause()
            talk.send_prompt("text:20000")
            await asyncio.sleep(UNREAD)
            client.go_on()
            await talk.ended(after=mark, seconds=LONG)
    return [of("loop late at most, client not reading", worst)]


async def many(_: int) -> list[Figure]:
    """200 sessions that stream at once in one process."""
    worst: list[float] = []
    async with desk() as (machine, project), _watched(machine, project, worst) as client:
        talks = [await Talk.begin(client, project) for _ in range(SESSIONS)]
        began, mark = time.perf_counter(), client.mark()
        for talk in talks:
            talk.send_prompt(f"text:{DELTAS}")
        ends = [await talk.ended(after=mark, seconds=LONG) for talk in talks]
        took, memory = time.perf_counter() - began, pss(client)
        whole = sum(end["stopReason"] == "done" for end in ends)
    return [
        of(f"{SESSIONS} sessions of {DELTAS} deltas", [took]),
        of("of them whole", [float(whole)], ""),
        of("loop late at most", worst),
        of("memory", [memory], "MiB"),
    ]


@asynccontextmanager
async def _watched(machine: Machine, project: Path, worst: list[float]) -> AsyncIterator[Client]:
    """A server whose loop is watched; `worst` is filled, in seconds, when it has ended."""
    found = machine.home / "lag"
    command = [sys.executable, "-m", "bench.watched", str(found)]
    async with machine.process(project, command, {"PYTHONPATH": str(TESTS)}) as client:
        await client.initialize(OPTIONS, rootUri=project.as_uri())
        yield client
        await client.shut_down()
    worst.append(float(found.read_text()))
