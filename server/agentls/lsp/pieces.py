"""A long text in pieces of whole lines: a change costs what its pieces do, however long the text is."""

from bisect import bisect_right
from collections.abc import Callable, Sequence
from itertools import accumulate

_SIZE = 32 * 1024


class Pieces:
    """Lines end at LF, CRLF or CR and at no other separator. Every piece but the last ends with LF, so that no line,
    and no line end, lies in two.
    """

    def __init__(self, text: str) -> None:
        self._pieces = _cut(text)
        self._ends = [_line_ends(piece) for piece in self._pieces]
        self._rows: tuple[str, list[str]] = ("", [""])  # the piece that was looked into last, in lines

    def text(self) -> str:
        return "".join(self._pieces)

    def row(self, line: int) -> tuple[int, str]:
        """Where a line begins in the text, and the line without its end; behind the last one, the end of the text."""
        number, start, at = self._find(line)
        if at is None:
            return sum(map(len, self._pieces)), ""
        return sum(map(len, self._pieces[:number])) + start, at

    def replace(self, first: tuple[int, int], last: tuple[int, int], text: str) -> None:
        """From one place to another, each a line and a column in characters."""
        top, begin = self._place(first)
        bottom, end = self._place(last)
        fresh = _cut("".join((self._pieces[top][:begin], text, self._pieces[bottom][end:])))
        self._pieces[top : bottom + 1] = fresh
        self._ends[top : bottom + 1] = [_line_ends(piece) for piece in fresh]

    def positions(self, offsets: Sequence[int], units: Callable[[str], int]) -> list[tuple[int, int]]:
        """Of places in the text, in rising order: the line, and what `units` counts before it there. Each goes on from
        the one before, for there may be thousands in one piece.
        """
        starts = list(accumulate(map(len, self._pieces), initial=0))
        befores = list(accumulate(self._ends, initial=0))
        found: list[tuple[int, int]] = []
        number, at, line, column = -1, 0, 0, 0
        for offset in offsets:
            piece = min(bisect_right(starts, offset), len(self._pieces)) - 1
            if piece != number:
                number, at, line, column = piece, starts[piece], befores[piece], 0
            passed = self._pieces[piece][at - starts[piece] : offset - starts[piece]]
            row = max(passed.rfind("\n"), passed.rfind("\r")) + 1
            line += _line_ends(passed)
            column = units(passed[row:]) + (0 if row else column)
            found.append((line, column))
            at = offset
        return found

    def _place(self, place: tuple[int, int]) -> tuple[int, int]:
        """A piece, and where in it."""
        line, column = place
        number, start, row = self._find(line)
        if row is None:
            return len(self._pieces) - 1, len(self._pieces[-1])
        return number, start + min(column, len(row))

    def _find(self, line: int) -> tuple[int, int, str | None]:
        """The piece that a line is in, where in the piece it begins, and the line; None where there is none."""
        number = 0
        while number < len(self._pieces) - 1 and line >= self._ends[number]:
            line -= self._ends[number]
            number += 1
        if self._rows[0] is not self._pieces[number]:
            self._rows = self._pieces[number], split_rows(self._pieces[number])
        rows = self._rows[1]
        if line >= len(rows):
            return number, len(self._pieces[number]), None
        return number, sum(map(len, rows[:line])), rows[line].rstrip("\r\n")


def split_rows(text: str) -> list[str]:
    """The lines with their ends; the last one has none, and may be empty. One line may be very long: looking whether
    there is a line end at all is by far the quickest look.
    """
    *ended, last = text.split("\n") if "\n" in text else [text]
    rows = [*(row + "\n" for row in ended), last]
    if "\r" not in text:
        return rows
    return [piece for row in rows for piece in _at_returns(row)]


def _at_returns(row: str) -> list[str]:
    body = row.removesuffix("\n").removesuffix("\r") if row.endswith("\n") else row
    if "\r" not in body:
        return [row]
    *ended, last = body.split("\r")
    return [*(piece + "\r" for piece in ended), last + row[len(body) :]]


def _cut(text: str) -> list[str]:
    pieces: list[str] = []
    start = 0
    while len(text) - start > 2 * _SIZE:
        end = text.find("\n", start + _SIZE) + 1
        if end == 0:
            break
        pieces.append(text[start:end])
        start = end
    return [*pieces, text[start:]]


def _line_ends(piece: str) -> int:
    lone = piece.count("\r") - piece.count("\r\n") if "\r" in piece else 0
    return lone + (piece.count("\n") if "\n" in piece else 0)
