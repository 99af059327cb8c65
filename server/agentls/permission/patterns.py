"""Wildcards of rules: `*` is any run (also of `/` and line breaks), `?` one character; anchored; never backtracks."""

import re
from functools import lru_cache


def matches(pattern: str, text: str) -> bool:
    """Whether `text` is one of what `pattern` names. A trailing ` *` is optional: `git *` names `git`, not `gitk`."""
    if not pattern:
        return False
    if pattern.endswith(" *") and len(pattern) > 2 and _whole(pattern[:-2], text):
        return True
    return _whole(pattern, text)


def is_literal(pattern: str) -> bool:
    return "*" not in pattern and "?" not in pattern


class _Piece:
    """A stretch of a pattern without `*`: of fixed length, so the leftmost place where it fits is always the best."""

    __slots__ = ("_regex", "_text", "size")

    def __init__(self, text: str) -> None:
        self.size = len(text)
        self._text = text
        self._regex = re.compile(re.escape(text).replace(r"\?", "."), re.DOTALL) if "?" in text else None

    def stands_at(self, text: str, start: int) -> bool:
        if self._regex is None:
            return text.startswith(self._text, start)
        return self._regex.match(text, start) is not None

    def end_after(self, text: str, start: int, end: int) -> int:
        """Where the leftmost fit at or after `start` ends, or -1."""
        if self._regex is None:
            found = text.find(self._text, start, end)
            return -1 if found < 0 else found + self.size
        fit = self._regex.search(text, start, end)
        return -1 if fit is None else fit.end()


@lru_cache(maxsize=4096)
def _pieces(pattern: str) -> tuple[_Piece, ...]:
    return tuple(_Piece(text) for text in re.split(r"\*+", pattern))


def _whole(pattern: str, text: str) -> bool:
    pieces = _pieces(pattern)
    first, last = pieces[0], pieces[-1]
    if len(pieces) == 1:
        return len(text) == first.size and first.stands_at(text, 0)
    end = len(text) - last.size
    if end < first.size or not first.stands_at(text, 0) or not last.stands_at(text, end):
        return False
    position = first.size
    for piece in pieces[1:-1]:
        position = piece.end_after(text, position, end)
        if position < 0:
            return False
    return True
