"""Writes frames in order from one thread, so that a client that does not read never holds up the loop."""

import logging
import os
import select
import stat
import threading
import time
from collections import deque
from collections.abc import Callable

from agentls.lsp.frames import frame

_BATCH_BYTES = 256 * 1024
_DRAINED_BYTES = 256 * 1024
# Frames that follow each other faster than this are left to the thread, which writes many at once.
_BURST_SECONDS = 0.0005

log = logging.getLogger(__name__)


class FrameWriter:
    """`write` never blocks. `queued` is what the client has not taken yet, in bytes.

    `on_drain` is called from any thread when the queue is nearly empty again after `watch_drain`, `on_gone` when nobody
    reads any more.
    """

    def __init__(self, descriptor: int, on_drain: Callable[[], None], on_gone: Callable[[], None]) -> None:
        self._descriptor = descriptor
        self._on_drain = on_drain
        self._on_gone = on_gone
        self._frames: deque[bytes] = deque()
        self._queued = 0
        self._writing = False
        self._watched = False
        self._closed = False
        self._gone = False
        self._changed = threading.Condition()
        self._wrote_at = 0.0
        self._poll: select.poll | None = None
        if stat.S_ISFIFO(os.fstat(descriptor).st_mode):
            # Of a pipe alone it is sure that a small write does not block when poll says writable.
            self._poll = select.poll()
            self._poll.register(descriptor, select.POLLOUT)
        self._thread = threading.Thread(target=self._run, name="stdout", daemon=True)
        self._thread.start()

    @property
    def queued(self) -> int:
        return self._queued

    def write(self, body: bytes) -> None:
        data = frame(body)
        with self._changed:
            if self._closed or self._gone:
                return
            if not self._frames and not self._writing and self._write_now(data):
                return
            self._frames.append(data)
            self._queued += len(data)
            if not self._writing:
                self._changed.notify_all()

    def watch_drain(self) -> None:
        with self._changed:
            self._watched = self._queued >= _DRAINED_BYTES
            if self._watched:
                return
        self._on_drain()

    def nobody_reads(self) -> bool:
        """Whether the other end of the pipe is closed, which else shows at the next write only."""
        if self._gone:
            return True
        if self._poll is None:
            return False
        return any(event & (select.POLLERR | select.POLLHUP | select.POLLNVAL) for _, event in self._poll.poll(0))

    def close(self, seconds: float) -> None:
        """Blocks until all is written, `seconds` at most."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        self._thread.join(seconds)
        if self._thread.is_alive():
            log.warning("the client did not read the last %d bytes", self._queued)
            return
        os.close(self._descriptor)

    def _write_now(self, data: bytes) -> bool:
        """Saves the hand-over to the thread for a lone small frame."""
        if self._poll is None or len(data) > select.PIPE_BUF:
            return False
        started = time.monotonic()
        if started - self._wrote_at < _BURST_SECONDS:
            return False
        self._wrote_at = started
        if self._poll.poll(0) != [(self._descriptor, select.POLLOUT)]:
            return False
        try:
            os.write(self._descriptor, data)
        except OSError:
            return False
        return True

    def _run(self) -> None:
        while True:
            with self._changed:
                while not self._frames and not self._closed:
                    self._changed.wait()
                if not self._frames:
                    return
                batch = self._take()
                self._writing = True
            written = self._write_all(batch)
            with self._changed:
                self._writing = False
                self._wrote_at = time.monotonic()
                self._queued -= len(batch)
                if not written:
                    self._gone = True
                    self._frames.clear()
                    self._queued = 0
                drained = self._watched and self._queued < _DRAINED_BYTES
                if drained:
                    self._watched = False
            if not written:
                self._on_gone()
                return
            if drained:
                self._on_drain()

    def _take(self) -> bytes:
        """Some frames at once; never so many that the count of what is queued lags far behind."""
        size = 0
        taken: list[bytes] = []
        while self._frames and size < _BATCH_BYTES:
            data = self._frames.popleft()
            size += len(data)
            taken.append(data)
        return taken[0] if len(taken) == 1 else b"".join(taken)

    def _write_all(self, data: bytes) -> bool:
        rest = memoryview(data)
        try:
            while rest:
                rest = rest[os.write(self._descriptor, rest) :]
        except OSError as error:
            log.info("the client is gone: %s", error.strerror)
            return False
        return True
