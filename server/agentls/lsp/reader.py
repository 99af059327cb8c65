"""Reads frames from a pipe without threads, and stops reading while the server has enough to do."""

import asyncio
import logging
import os
import stat
import threading
from collections import deque
from typing import cast

from agentls.lsp.frames import BrokenFrame, FrameCutter

_PAUSE_BYTES = 4 * 1024 * 1024
_PUMP_BYTES = 64 * 1024

log = logging.getLogger(__name__)


class FrameReader(asyncio.Protocol):
    """The frames of one stream, in order; None at its end."""

    def __init__(self) -> None:
        self._cutter = FrameCutter()
        self._frames: deque[bytes | BrokenFrame] = deque()
        self._bytes = 0
        self._ended = False
        self._paused = False
        self._waiter: asyncio.Future[None] | None = None
        self._transport: asyncio.ReadTransport | None = None

    async def open(self, descriptor: int) -> None:
        """Takes over `descriptor`."""
        mode = os.fstat(descriptor).st_mode
        if stat.S_ISREG(mode) or (stat.S_ISCHR(mode) and not os.isatty(descriptor)):
            descriptor = _pumped(descriptor)
        loop = asyncio.get_running_loop()
        await loop.connect_read_pipe(lambda: self, os.fdopen(descriptor, "rb", 0))

    async def next(self) -> bytes | BrokenFrame | None:
        while not self._frames:
            if self._ended:
                return None
            self._waiter = asyncio.get_running_loop().create_future()
            await self._waiter
        item = self._frames.popleft()
        if isinstance(item, bytes):
            self._bytes -= len(item)
        if self._paused and self._bytes < _PAUSE_BYTES and self._transport is not None:
            self._paused = False
            self._transport.resume_reading()
        return item

    def close(self) -> None:
        if self._transport is not None:
            self._transport.close()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.ReadTransport", transport)

    def data_received(self, data: bytes) -> None:
        items = self._cutter.feed(data)
        if not items:
            return
        self._frames.extend(items)
        self._bytes += sum(len(item) for item in items if isinstance(item, bytes))
        if self._bytes > _PAUSE_BYTES and not self._paused and self._transport is not None:
            self._paused = True
            self._transport.pause_reading()
        self._wake()

    def eof_received(self) -> None:
        self._ended = True
        self._wake()

    def connection_lost(self, exc: Exception | None) -> None:
        if exc is not None:
            log.info("stdin failed: %s", exc)
        self._ended = True
        self._wake()

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)


def _pumped(source: int) -> int:
    """A pipe with what is in a file or a device such as /dev/null: an event loop cannot wait for these."""
    out, into = os.pipe()

    def pump() -> None:
        with os.fdopen(source, "rb", 0) as file, os.fdopen(into, "wb", 0) as pipe:
            while data := file.read(_PUMP_BYTES):
                pipe.write(data)

    threading.Thread(target=pump, name="stdin", daemon=True).start()
    return out
