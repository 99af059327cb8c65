"""Keeps the database small while it is worked with: its log, and what deleted sessions leave. Away from the loop."""

import logging
import sqlite3
from pathlib import Path

import anyio
from anyio import to_thread

from agentls.storage.journal import Journal
from agentls.storage.purge import checkpoint, purge, shrink

log = logging.getLogger(__name__)

SECONDS = 1.0
_BREATH = 0.005
LOG_LARGE, LOG_HUGE, LOG_LEFT = 4 << 20, 12 << 20, 1 << 20


class Upkeep:
    """`run` works a moment after something was written; `close` leaves a short log."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._path = journal.database.path
        self._log = Path(f"{self._path}-wal")

    async def run(self) -> None:
        while True:
            self._journal.news = anyio.Event()  # what comes meanwhile is for the next round
            try:
                await self._tidy()
            except sqlite3.Error:  # such as a full disk: later there may be more room
                log.exception("the database could not be kept small")
            await self._journal.news.wait()
            await anyio.sleep(SECONDS)

    async def _tidy(self) -> None:
        if self._journal.database.one("SELECT 1 FROM sessions WHERE deleted LIMIT 1") is not None:
            await self._clear()
        elif self._size() > LOG_LARGE:
            await to_thread.run_sync(lambda: checkpoint(self._path, truncate=False))
        if self._size() > LOG_HUGE:  # who writes all the time never lets it end by itself
            await to_thread.run_sync(lambda: checkpoint(self._path, truncate=True))

    async def _clear(self) -> None:
        for slice_of in (purge, shrink):
            more = True
            while more:
                more = await to_thread.run_sync(slice_of, self._path)
                await anyio.sleep(_BREATH)
        await to_thread.run_sync(lambda: checkpoint(self._path, truncate=True))

    async def close(self) -> None:
        if self._size() > LOG_LEFT:
            await to_thread.run_sync(lambda: checkpoint(self._path, truncate=False))

    def _size(self) -> int:
        try:
            return self._log.stat().st_size
        except FileNotFoundError:
            return 0
