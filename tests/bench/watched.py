"""`agentls` with a watch on its loop: `python -m bench.watched FILE` writes the worst delay in seconds at its end."""

import sys
import time
from pathlib import Path

import anyio

from agentls.cli.editor import serve_editor
from agentls.lsp.stdio import claim_stdio

TICK = 0.005  # seconds


async def main(found: Path) -> None:
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(watch, found)
        await serve_editor(*claim_stdio())
        tasks.cancel_scope.cancel()


async def watch(found: Path) -> None:
    worst = 0.0
    try:
        while True:
            asleep = time.perf_counter()
            await anyio.sleep(TICK)
            worst = max(worst, time.perf_counter() - asleep - TICK)
    finally:
        found.write_text(str(worst))


anyio.run(main, Path(sys.argv[1]))
