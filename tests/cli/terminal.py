"""A person at a terminal: the program on a pseudo-terminal, what it shows, and what is typed."""

import fcntl
import os
import pty
import re
import select
import subprocess
import sys
import termios
import time
from pathlib import Path
from typing import Any

SECONDS = 60
TAKE_TERMINAL = (
    "import fcntl, os, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); os.execv(sys.argv[1], sys.argv[1:])"
)
_STYLE = re.compile(r"\x1b(?:\[[0-9;?]*[A-Za-z]|[78D])")  # colours, and the moves of the cursor
# Input that was drawn below the output, and cleared again.
_BELOW = re.compile(r"\x1b7[^\x1b]*(?:\x1b(?!8\x1b\[J)[^\x1b]*)*\x1b8\x1b\[J")


class Terminal:
    def __init__(self, command: list[str], cwd: Path, env: dict[str, str], stdout: Path | None = None) -> None:
        self._master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, b"\x28\x00\x64\x00\x00\x00\x00\x00")
        self.process = subprocess.Popen(
            [sys.executable, "-c", TAKE_TERMINAL, *command],
            cwd=cwd,
            env={"TERM": "xterm-256color", **env},
            stdin=slave,
            stdout=slave if stdout is None else os.open(stdout, os.O_WRONLY | os.O_CREAT),
            stderr=slave,
            start_new_session=True,
        )
        os.close(slave)
        self.raw = ""
        self._seen = 0

    @property
    def text(self) -> str:
        """All that was shown, one after the other, without its colours and moves of the cursor."""
        return "".join(self._shown())

    def _shown(self) -> tuple[str, str]:
        """What stays, and the input as it is drawn below it now."""
        stays, _, drawn = _BELOW.sub("", self.raw).partition("\x1b7")
        return _plain(stays), _plain(drawn)

    def until(self, words: str) -> str:
        """Reads on until `words` are shown after what earlier calls waited for; returns what came up to there."""
        end = time.monotonic() + SECONDS
        while True:
            stays, drawn = self._shown()
            came = stays[self._seen :]
            at = came.find(words)
            if at >= 0:
                self._seen += at + len(words)
                return came[: at + len(words)]
            if words in drawn:
                self._seen = len(stays)
                return came + drawn[: drawn.index(words) + len(words)]
            assert self._read(end), f"{words!r} was not shown:\n{self.text}"

    def type(self, keys: str) -> None:
        os.write(self._master, keys.encode())

    def modes(self) -> list[Any]:
        return termios.tcgetattr(self._master)

    def end(self) -> int:
        """Waits for the program's end; its exit code."""
        end = time.monotonic() + SECONDS
        while self._read(end):
            pass
        return self.process.wait(SECONDS)

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self._master)

    def _read(self, end: float) -> bool:
        ready, _, _ = select.select([self._master], [], [], max(0.0, end - time.monotonic()))
        assert ready, f"nothing more was shown:\n{self.text}"
        try:
            data = os.read(self._master, 65536)
        except OSError:  # how Linux tells that the other side is gone
            return False
        self.raw += data.decode("utf-8", errors="replace")
        return bool(data)


def _plain(raw: str) -> str:
    return _STYLE.sub("", raw).replace("\r\n", "\n")
