"""How long the event loop stood still."""

import threading
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import anyio
from anyio import to_thread


class Clock:
    """How long the loop was away at most, beyond what a thread beside it was kept from running by the machine."""

    def __init__(self) -> None:
        self._loop = self._thread = 0.0
        self._done = threading.Event()

    @property
    def worst(self) -> float:
        return self._loop - self._thread

    async def tick(self) -> None:
        last = time.perf_counter()
        while True:
            await anyio.sleep(0.001)
            now = time.perf_counter()
            self._loop, last = max(self._loop, now - last), now

    def tick_beside(self) -> None:
        last = time.perf_counter()
        while not self._done.wait(0.001):
            now = time.perf_counter()
            self._thread, last = max(self._thread, now - last), now

    def stop(self) -> None:
        self._done.set()


@asynccontextmanager
async def clocked() -> AsyncGenerator[Clock]:
    clock = Clock()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(to_thread.run_sync, clock.tick_beside)
        tasks.start_soon(clock.tick)
        try:
            yield clock
        finally:
            clock.stop()
            tasks.cancel_scope.cancel()
