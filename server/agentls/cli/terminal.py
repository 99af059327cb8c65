"""The person at the terminal: lines typed there, without a thread that nobody could stop."""

import os
import sys
import termios
from contextlib import suppress

import anyio

from agentls.cli.screen import Screen

_MOST_BYTES = 64 * 1024


def is_there() -> bool:
    """Whether somebody can be asked: types to us, and sees what we say."""
    return sys.stdin.isatty() and (sys.stdout.isatty() or sys.stderr.isatty())


class Terminal:
    def __init__(self, screen: Screen) -> None:
        self.screen = screen

    async def line(self, question: str) -> str | None:
        """What is typed after the question; None at the end of input (Ctrl-D)."""
        descriptor = sys.stdin.fileno()
        with suppress(termios.error):
            _forget_typed(descriptor)
        self.screen.end_line()
        self.screen.write(question, "bold")
        typed = b""
        while not typed.endswith(b"\n") and len(typed) < _MOST_BYTES:
            await anyio.wait_readable(descriptor)
            piece = os.read(descriptor, 4096)
            if not piece:
                break
            typed += piece
        if not typed:
            self.screen.line()
            return None
        self.screen.entered()
        return typed.decode("utf-8", errors="replace").strip()

    async def yes(self, question: str) -> bool:
        """Nothing but a clear yes is one."""
        typed = await self.line(f"{question} [y/N] ")
        return typed is not None and typed.lower() in {"y", "yes"}


def _forget_typed(descriptor: int) -> None:
    """What was typed before the question was seen is no answer to it.

    It is read, half lines included, and not flushed: a flush takes a Ctrl-C along that the kernel has yet to look at.
    """
    usual = termios.tcgetattr(descriptor)
    reading = termios.tcgetattr(descriptor)
    reading[3] &= ~termios.ICANON
    reading[6][termios.VMIN] = reading[6][termios.VTIME] = 0
    termios.tcsetattr(descriptor, termios.TCSANOW, reading)
    try:
        while os.read(descriptor, _MOST_BYTES):
            pass
    finally:
        termios.tcsetattr(descriptor, termios.TCSANOW, usual)
