"""A line of input under somebody's hands: from keys to a text, without a terminal."""

import re
from dataclasses import dataclass

_KEY = re.compile(r"\x1b\[200~|\x1b\[[0-9;?]*[ -/]*[@-~]|\x1bO.|\x1b[^\[O]|[^\x1b]", re.DOTALL)
_PASTE_END = "\x1b[201~"
_WORD = re.compile(r"\S*\s*\Z")


@dataclass(frozen=True, slots=True)
class Submitted:
    text: str


@dataclass(frozen=True, slots=True)
class Ended:
    """Ctrl-D on an empty line."""


class Editor:
    """Enter submits; Alt-Enter, Ctrl-J, or Enter behind a backslash begins another line, and a paste may have many."""

    def __init__(self, history: list[str]) -> None:
        self.text = ""
        self.at = 0
        self._history = history
        self._place = 0
        self._draft = ""
        self._rest = ""

    def feed(self, keys: str) -> list[Submitted | Ended]:
        """What the keys led to; half a key is kept for the next call."""
        self._rest += keys
        found: list[Submitted | Ended] = []
        while match := _KEY.match(self._rest):
            key = match[0]
            if key == "\x1b[200~":
                pasted, end, rest = self._rest[match.end() :].partition(_PASTE_END)
                if not end:
                    break
                self._rest = rest
                self.insert(pasted.replace("\r\n", "\n").replace("\r", "\n"))
                continue
            self._rest = self._rest[match.end() :]
            done = self._key(key)
            if done is not None:
                found.append(done)
        return found

    def insert(self, text: str) -> None:
        self.text = self.text[: self.at] + text + self.text[self.at :]
        self.at += len(text)

    def put(self, text: str) -> None:
        """In place of what is there."""
        self.text, self.at = text, len(text)

    def take(self) -> str:
        """What is there; nothing is afterwards, but it can be had again from the history."""
        text = self.text
        self.put("")
        if text.strip() and (not self._history or self._history[0] != text):
            self._history.insert(0, text)
        self._place = 0
        return text

    def _key(self, key: str) -> Submitted | Ended | None:
        match key:
            case "\r":
                return self._enter()
            case "\x04":
                if not self.text:
                    return Ended()
                self._delete(self.at, self.at + 1)
            case "\n" | "\x1b\r" | "\x1b\n":
                self.insert("\n")
            case _ if key in _EDITS:
                _EDITS[key](self)
            case _ if key.isprintable() or key == "\t":
                self.insert(key)
            case _:
                pass
        return None

    def _enter(self) -> Submitted | None:
        if self.text[: self.at].endswith("\\"):
            self._delete(self.at - 1, self.at)
            self.insert("\n")
            return None
        return Submitted(self.take())

    def _delete(self, start: int, end: int) -> None:
        start = max(0, start)
        self.text, self.at = self.text[:start] + self.text[end:], start

    def backspace(self) -> None:
        self._delete(self.at - 1, self.at)

    def forward(self) -> None:
        self._delete(self.at, self.at + 1)

    def word(self) -> None:
        found = _WORD.search(self.text[: self.at])
        self._delete(found.start() if found else 0, self.at)

    def to_start(self) -> None:
        self._delete(self._row_start(), self.at)

    def to_end(self) -> None:
        self._delete(self.at, self._row_end())

    def left(self) -> None:
        self.at = max(0, self.at - 1)

    def right(self) -> None:
        self.at = min(len(self.text), self.at + 1)

    def home(self) -> None:
        self.at = self._row_start()

    def end(self) -> None:
        self.at = self._row_end()

    def _row_start(self) -> int:
        return self.text.rfind("\n", 0, self.at) + 1

    def _row_end(self) -> int:
        end = self.text.find("\n", self.at)
        return len(self.text) if end < 0 else end

    def up(self) -> None:
        """A row up; in the first one, what was submitted before."""
        start = self._row_start()
        if start:
            above = self.text.rfind("\n", 0, start - 1) + 1
            self.at = min(above + self.at - start, start - 1)
        elif self._place < len(self._history):
            if self._place == 0:
                self._draft = self.text
            self._place += 1
            self.put(self._history[self._place - 1])

    def down(self) -> None:
        end = self._row_end()
        if end < len(self.text):
            column = self.at - self._row_start()
            self.at = end + 1
            self.at = min(end + 1 + column, self._row_end())
        elif self._place:
            self._place -= 1
            self.put(self._history[self._place - 1] if self._place else self._draft)


_EDITS = {
    "\x7f": Editor.backspace,
    "\x08": Editor.backspace,
    "\x1b[3~": Editor.forward,
    "\x17": Editor.word,
    "\x1b\x7f": Editor.word,
    "\x15": Editor.to_start,
    "\x0b": Editor.to_end,
    "\x1b[D": Editor.left,
    "\x02": Editor.left,
    "\x1b[C": Editor.right,
    "\x06": Editor.right,
    "\x1b[H": Editor.home,
    "\x1b[1~": Editor.home,
    "\x01": Editor.home,
    "\x1b[F": Editor.end,
    "\x1b[4~": Editor.end,
    "\x05": Editor.end,
    "\x1b[A": Editor.up,
    "\x1b[B": Editor.down,
    "\x10": Editor.up,
    "\x0e": Editor.down,
}
