"""Watches over the server's life: when it dies, by whatever cause, its children are ended."""

import os
import subprocess
import sys

import anyio
from anyio import to_thread

# The shell waits for the end of the pipe, which comes when the server is gone, and costs next to nothing until then.
_WAIT = 'read -r _; exec "$1" -P -m agentls.workspace.sweep "$2"'
_CLOSING = 5


class Watchdog:
    """One small process, started with the first command, in a session of its own."""

    def __init__(self, instance_id: str) -> None:
        self.instance_id = instance_id
        self._lock = anyio.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._pipe: int | None = None

    async def start(self) -> None:
        """Starts the watcher, unless it runs; one that was killed is replaced."""
        async with self._lock:
            if self._process is None or self._process.poll() is not None:
                await to_thread.run_sync(self._spawn)

    async def aclose(self) -> None:
        """Ends all that still runs in this server's name, then the watcher."""
        async with self._lock:
            with anyio.CancelScope(shield=True):
                await to_thread.run_sync(self._close)

    def _spawn(self) -> None:
        self._close()
        read_end, self._pipe = os.pipe()
        try:
            self._process = subprocess.Popen(
                ["/bin/sh", "-c", _WAIT, "agentls-watchdog", sys.executable, self.instance_id],
                stdin=read_end,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd="/",
                start_new_session=True,
            )
        finally:
            os.close(read_end)

    def _close(self) -> None:
        if self._pipe is not None:
            os.close(self._pipe)
            self._pipe = None
        if self._process is None:
            return
        try:
            self._process.wait(_CLOSING)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process = None
