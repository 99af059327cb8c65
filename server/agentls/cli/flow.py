"""Breaks lines between words while the words still come in pieces."""

import re
import unicodedata
from collections.abc import Iterator

_TOKEN = re.compile(r"\n|[^\S\n]+|\S+")
_FENCE = "```"


class Flow:
    """Holds back the word that may not be whole yet. Lines of code, between fences, are left alone."""

    def __init__(self, columns: int) -> None:
        self._columns = columns
        self._column = 0
        self._word = ""
        self._space = ""
        self._fenced = False

    def pieces(self, text: str) -> Iterator[str]:
        for piece in _TOKEN.findall(text):
            if piece == "\n":
                yield from self._out()
                self._column, self._space = 0, ""
                yield piece
            elif piece.isspace():
                yield from self._out()
                self._space += piece
            else:
                self._word += piece

    def end(self) -> str:
        """What is still held; the line ends here."""
        rest = "".join(self._out())
        self._column, self._space, self._fenced = 0, "", False
        return rest

    def _out(self) -> Iterator[str]:
        if not self._word:
            return
        word, space = self._word, self._space
        self._word = self._space = ""
        if word.startswith(_FENCE) and self._column == 0:
            self._fenced = not self._fenced
        if self._column and not self._fenced and self._column + cells(space + word) > self._columns:
            self._column, space = 0, ""
            yield "\n"
        self._column += cells(space + word)
        yield space + word


def cells(text: str) -> int:
    """How wide a text is in a terminal."""
    return sum(2 if unicodedata.east_asian_width(sign) in "WF" else not unicodedata.combining(sign) for sign in text)
