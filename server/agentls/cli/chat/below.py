"""Output above, the line of input below it: both grow, and neither runs into the other."""

import io
import os
import shutil
from collections.abc import Callable

from agentls.cli.flow import cells
from agentls.schema.text import visible

# Save and restore the cursor, clear what is below it, go down (and scroll) without leaving the column.
_SAVE, _RESTORE, _CLEAR, _DOWN = "\x1b7", "\x1b8", "\x1b[J", "\x1bD"
_MOST_ROWS = 10


class Below(io.TextIOBase):
    """What is written is shown at the next `paint`, with the input anew below it. The cursor is saved where the
    output ends, and stands in the input.
    """

    def __init__(self, descriptor: int, dirty: Callable[[], None]) -> None:
        self._descriptor = descriptor
        self._dirty = dirty
        self._written = ""
        self._line_begins = True
        self._drawn = False

    def write(self, text: str, /) -> int:
        self._written += text
        return len(text)

    def flush(self) -> None:
        self._dirty()

    def isatty(self) -> bool:
        return True

    def paint(self, lead: str, text: str, at: int, status: str) -> None:
        """`lead` stands before the input, a `status` above it; `at` is the cursor's place in the text."""
        size = shutil.get_terminal_size()
        rows, row, column = laid_out(lead, text, at, size.columns - 1)
        most = max(1, min(_MOST_ROWS, size.lines - 2))
        first = max(0, min(row - most + 1, len(rows) - most))
        rows, row = rows[max(0, first) : first + most], row - first
        if status:
            rows, row = [f"\x1b[2m{_clipped(status, size.columns - 1)}\x1b[m", *rows], row + 1
        self._put(self._cleared() + self._output() + self._input(rows, row, column))
        self._drawn = True

    def end(self) -> None:
        """The input goes, the output stays."""
        self._put(self._cleared() + self._output() + ("" if self._line_begins else "\n"))
        self._line_begins = True

    def _cleared(self) -> str:
        drawn, self._drawn = self._drawn, False
        return _RESTORE + _CLEAR if drawn else ""

    def _output(self) -> str:
        written, self._written = self._written, ""
        if written:
            self._line_begins = written.endswith("\n")
        return written

    def _input(self, rows: list[str], row: int, column: int) -> str:
        more = len(rows) - (1 if self._line_begins else 0)
        room = _DOWN * more + (f"\x1b[{more}A" if more else "")
        begin = "" if self._line_begins else "\n"
        up = len(rows) - 1 - row
        place = (f"\x1b[{up}A" if up else "") + "\r" + (f"\x1b[{column}C" if column else "")
        return room + _SAVE + begin + "\n".join(rows) + place

    def _put(self, text: str) -> None:
        data = text.encode("utf-8", "replace")
        while data:
            data = data[os.write(self._descriptor, data) :]


def laid_out(lead: str, text: str, at: int, columns: int) -> tuple[list[str], int, int]:
    """The rows, and where the cursor is in them. Rows of the text after the first are indented like it."""
    indent = " " * min(cells(lead), 4)
    rows, width = [lead], cells(lead)
    place = (0, width)
    for number, sign in enumerate(text):
        if number == at:
            place = (len(rows) - 1, width)
        if sign == "\n":
            rows.append(indent)
            width = len(indent)
            continue
        shown = "  " if sign == "\t" else visible(sign)
        if width + cells(shown) > columns:
            rows.append(indent)
            width = len(indent)
            if number == at:
                place = (len(rows) - 1, width)
        rows[-1] += shown
        width += cells(shown)
    if at >= len(text):
        place = (len(rows) - 1, width)
    return rows, place[0], place[1]


def _clipped(text: str, columns: int) -> str:
    text = visible(text.replace("\n", " "))
    while cells(text) > columns:
        text = text[:-1]
    return text
