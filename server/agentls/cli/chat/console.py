"""The terminal while a chat lasts: what the person types, and what they see above it."""

import codecs
import math
import os
import sys
import termios
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import TextIO, cast

import anyio

from agentls.cli.chat.below import Below
from agentls.cli.chat.editor import Editor, Ended, Submitted
from agentls.cli.screen import Screen

_PASTES, _NO_PASTES = b"\x1b[?2004h", b"\x1b[?2004l"
_FRAME = 0.02  # what comes within is shown together
LEAD = "› "


class Console:
    """A `Person` who can be asked while they write a prompt: the draft comes back afterwards."""

    def __init__(self, status: Callable[[], str]) -> None:
        self._status = status
        self._in, self._out = sys.stdin.fileno(), sys.stdout.fileno()
        self._changed = anyio.Event()
        self._below = Below(self._out, self.refresh)
        self.screen = Screen(cast("TextIO", self._below))
        self._history: list[str] = []
        self._prompt = Editor(self._history)
        self._editor, self._lead = self._prompt, LEAD
        self._decode = codecs.getincrementaldecoder("utf-8")("replace")
        self._answers, self._answered = anyio.create_memory_object_stream[str | None](math.inf)
        self._lines, self._typed = anyio.create_memory_object_stream[str | None](math.inf)

    def refresh(self) -> None:
        """To be shown anew."""
        self._changed.set()

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[None]:
        """The terminal is as it was afterwards, whatever happens. Ctrl-C stays a signal."""
        usual = termios.tcgetattr(self._in)
        raw = termios.tcgetattr(self._in)
        raw[0] &= ~(termios.ICRNL | termios.INLCR | termios.IXON)
        raw[3] = raw[3] & ~(termios.ICANON | termios.ECHO | termios.IEXTEN) | termios.NOFLSH
        raw[6][termios.VSUSP] = raw[6][termios.VQUIT] = b"\0"
        termios.tcsetattr(self._in, termios.TCSADRAIN, raw)
        os.write(self._out, _PASTES)
        try:
            async with anyio.create_task_group() as group:
                group.start_soon(self._read)
                group.start_soon(self._paint)
                yield
                group.cancel_scope.cancel()
        finally:
            self._below.end()
            os.write(self._out, _NO_PASTES)
            termios.tcsetattr(self._in, termios.TCSADRAIN, usual)

    async def next(self) -> str | None:
        """What was submitted as a prompt; None where the person leaves."""
        return await self._typed.receive()

    async def line(self, question: str) -> str | None:
        """An answer. What was typed before the question is none, and stays."""
        self._take()
        # What was answered ahead, or to a question that is gone, answers nothing else.
        self._answers, self._answered = anyio.create_memory_object_stream[str | None](math.inf)
        self._editor, self._lead = Editor([]), question
        self.refresh()
        try:
            answer = await self._answered.receive()
        finally:
            self._editor, self._lead = self._prompt, LEAD
            self.refresh()
        self.screen.line(f"{question}{'' if answer is None else answer}", "bold")
        return None if answer is None else answer.strip()

    async def yes(self, question: str) -> bool:
        """Nothing but a clear yes is one."""
        typed = await self.line(f"{question} [y/N] ")
        return typed is not None and typed.lower() in {"y", "yes"}

    def give_back(self, text: str) -> None:
        """What could not be sent is in the prompt again, before what was typed since."""
        draft = self._prompt.text
        self._prompt.put(f"{text}\n{draft}" if draft else text)
        self.refresh()

    def put_aside(self) -> bool:
        """The draft goes into the history; whether there was one."""
        self.refresh()
        return bool(self._prompt.take())

    @property
    def draft(self) -> str:
        return self._prompt.text

    async def _read(self) -> None:
        while True:
            await anyio.wait_readable(self._in)
            if not self._take():
                self._lines.send_nowait(None)  # the terminal is gone
                return

    def _take(self) -> bool:
        """What is there to read now; whether there may be more."""
        os.set_blocking(self._in, False)
        try:
            data = os.read(self._in, 65536)
        except BlockingIOError:
            return True
        except OSError:
            return False
        finally:
            os.set_blocking(self._in, True)
        to = self._lines if self._editor is self._prompt else self._answers
        for done in self._editor.feed(self._decode.decode(data)):
            match done:
                case Submitted(text):
                    to.send_nowait(text)
                case Ended():
                    to.send_nowait(None)
        self.refresh()
        return bool(data)

    async def _paint(self) -> None:
        while True:
            self._changed = anyio.Event()
            editor = self._editor
            self._below.paint(self._lead, editor.text, editor.at, self._status())
            await self._changed.wait()
            await anyio.sleep(_FRAME)
