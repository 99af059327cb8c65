"""Holds a program's output in bounded memory, and passes it on live at a bounded rate."""

import codecs
import re
from collections import deque
from collections.abc import Callable

from agentls.workspace.terminal import plain

_HEAD = 512 * 1024
_TAIL = 512 * 1024
_LIVE_PENDING = 16 * 1024
_LIVE_TOTAL = 256 * 1024
_HELD_LINE = 4096


class Capture:
    """The beginning and the end of all that is fed; each step costs the same, however much came before."""

    def __init__(self) -> None:
        self.total = 0
        self._head: list[bytes] = []
        self._head_size = 0
        self._tail: deque[bytes] = deque()
        self._tail_size = 0

    def feed(self, chunk: bytes) -> None:
        self.total += len(chunk)
        if self._head_size < _HEAD:
            room = _HEAD - self._head_size
            self._head.append(chunk[:room])
            self._head_size += len(self._head[-1])
            chunk = chunk[room:]
        if chunk:
            self._tail.append(chunk)
            self._tail_size += len(chunk)
        while self._tail and self._tail_size - len(self._tail[0]) >= _TAIL:
            self._tail_size -= len(self._tail.popleft())

    @property
    def dropped(self) -> int:
        return self.total - self._head_size - self._tail_size

    def text(self) -> str:
        """What is held, as plain text, with a note where something is missing."""
        head, tail = b"".join(self._head), b"".join(self._tail)
        if not self.dropped:
            return plain((head + tail).decode("utf-8", "replace"))
        note = f"\n… {self.dropped} bytes in the middle were not kept …\n"
        return plain(head.decode("utf-8", "replace")) + note + plain(tail.decode("utf-8", "replace"))


class Live:
    """Output on its way to whoever watches: `flush` passes on what came since, at most the last 16 KiB of it."""

    def __init__(self, emit: Callable[[str], None]) -> None:
        self._emit = emit
        self._pending: deque[bytes] = deque()
        self._size = 0
        self._skipped = False
        self._sent = 0
        self._held = ""
        self._ready: list[str] = []
        self._open_line = False
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def feed(self, chunk: bytes) -> None:
        if self._sent >= _LIVE_TOTAL:
            return
        self._pending.append(chunk[-_LIVE_PENDING:])
        self._size += len(self._pending[-1])
        self._skipped = self._skipped or len(chunk) > _LIVE_PENDING
        while self._size - len(self._pending[0]) >= _LIVE_PENDING:
            self._size -= len(self._pending.popleft())
            self._skipped = True

    def flush(self, *, final: bool = False) -> None:
        if self._sent >= _LIVE_TOTAL or not (self._pending or final):
            return
        data = b"".join(self._pending)
        self._pending.clear()
        self._size = 0
        if self._skipped:
            self._skipped = False
            self._decoder.reset()
            self._held = ""
            self._send(("\n" if self._open_line else "") + "…\n")
            data = data.partition(b"\n")[2] or data
        self._pass_on(self._held + self._decoder.decode(data, final=final), final=final)
        if self._ready:
            ready = "".join(self._ready)
            self._ready.clear()
            self._emit(ready)

    def _pass_on(self, text: str, *, final: bool) -> None:
        """Whole lines at once; a line that is still being drawn over waits until it is done."""
        end = len(text) if final else text.rfind("\n") + 1
        rest = text[end:]
        if rest and not re.search("[\r\x1b]", rest):
            end, rest = len(text), ""
        self._held = rest[-_HELD_LINE:]
        whole = text[:end]
        if self._open_line and re.match("[^\n]*\r[^\n]", whole):
            self._send("\n")
        if whole:
            self._send(plain(whole))

    def _send(self, text: str) -> None:
        if not text:
            return
        self._open_line = not text.endswith("\n")
        self._sent += len(text)
        if self._sent >= _LIVE_TOTAL:
            text += "\n… (no more live output; the result will have the end)\n"
        self._ready.append(text)
