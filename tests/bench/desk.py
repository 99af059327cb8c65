"""A machine of its own for each benchmark: home, model, projects; and servers on it."""

import asyncio
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from e2e.client import Client
from e2e.server import Machine
from e2e.talk import Talk

TESTS = Path(__file__).resolve().parent.parent
LONG = 120  # seconds until a benchmark gives up


@asynccontextmanager
async def desk(files: int = 0) -> AsyncIterator[tuple[Machine, Path]]:
    """A machine and a project with that many small files."""
    with tempfile.TemporaryDirectory(prefix="agentls-bench-") as name:
        async with model() as url:
            machine = Machine(Path(name), url)
            machine.settings(url, permission={"read": "allow"})
            yield machine, machine.project("project", {f"file{number}.txt": "one\ntwo\n" for number in range(files)})


@asynccontextmanager
async def model() -> AsyncIterator[str]:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "bench.model"), cwd=TESTS, stdout=asyncio.subprocess.PIPE
    )
    try:
        assert process.stdout
        yield (await process.stdout.readline()).decode().strip()
    finally:
        process.kill()
        await process.wait()


async def turn(talk: Talk, words: str) -> tuple[float, float]:
    """Seconds from the prompt to the first text, and to the end."""
    mark, began = talk.client.mark(), time.perf_counter()
    talk.send_prompt(words)
    await talk.wait("part/delta", lambda p: p["field"] == "text", after=mark, seconds=LONG)
    first = time.perf_counter() - began
    ended = await talk.ended(after=mark, seconds=LONG)
    whole = time.perf_counter() - began
    if ended["stopReason"] != "done":
        raise SystemExit(f"{words} did not end well: {ended}\n{talk.client.tail(4)}")
    talk.client.log.clear()
    return first, whole


def pss(client: Client) -> float:
    """MiB of the server's own process: its share of what it shares with others counts in part (Linux)."""
    lines = Path(f"/proc/{client.process.pid}/smaps_rollup").read_text().splitlines()
    return sum(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1024
