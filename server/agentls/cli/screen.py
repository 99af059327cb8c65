"""What a person sees: styled where it is a terminal, plain text anywhere else."""

import os
import shutil
from typing import TYPE_CHECKING, TextIO

from agentls.cli.flow import Flow
from agentls.schema.text import visible

if TYPE_CHECKING:
    from rich.console import Console

_PATCH_STYLES = {"+": "green", "-": "red", "@": "cyan"}
MOST_COLUMNS = 100


class Screen:
    """Text of a model, a tool or a file may hold anything: nothing of it gets at the terminal's controls."""

    def __init__(self, file: TextIO) -> None:
        self._file = file
        self._console = _console(file) if file.isatty() else None
        self._flow = Flow(min(shutil.get_terminal_size().columns, MOST_COLUMNS))
        self._ends = 2  # how many line ends came last: one after a line, two after an empty one

    @property
    def styled(self) -> bool:
        return self._console is not None

    def write(self, text: str, style: str = "") -> None:
        """Text as it comes; it goes on where the last one stopped."""
        if not text:
            return
        ends = len(text) - len(text.rstrip("\n"))
        self._ends = min(2, ends + (self._ends if ends == len(text) else 0))
        if self._console is None:
            self._file.write(text)
            self._file.flush()
            return
        from rich.text import Text

        self._console.print(Text(visible(text), style), end="", soft_wrap=True)
        self._file.flush()

    def flow(self, text: str, style: str = "") -> None:
        """Prose as it streams in: in a terminal, lines end between words."""
        if self._console is None:
            self.write(text, style)
            return
        for piece in self._flow.pieces(text):
            self.write(piece, style)

    def line(self, text: str = "", style: str = "") -> None:
        """On a line of its own."""
        self.end_line()
        self.write(f"{text}\n", style)

    def end_line(self) -> None:
        rest = self._flow.end()
        self.write(rest)
        if self._ends == 0:
            self.write("\n")

    def entered(self) -> None:
        """A person ended the line."""
        self._ends = 1

    def gap(self) -> None:
        """One empty line, unless there is one."""
        self.end_line()
        if self._ends == 1:
            self.write("\n")

    def title(self, text: str) -> None:
        """The head of a section."""
        self.gap()
        if self._console is None:
            self.line(f"== {text} ==")
            self._ends = 2
            return
        self._console.rule(f"[bold]{text}[/bold]", align="left", style="dim")
        self._ends = 2

    def patch(self, patch: str, indent: str = "    ") -> None:
        """All of a unified diff but the names of the file at its head."""
        rows = visible(patch).splitlines()
        first = next((number for number, row in enumerate(rows) if row.startswith("@@")), 0)
        for row in rows[first:]:
            self.line(f"{indent}{row}", _PATCH_STYLES.get(row[:1], "dim"))


def _console(file: TextIO) -> "Console":
    from rich.console import Console

    color = None if "NO_COLOR" in os.environ else "auto"
    return Console(file=file, highlight=False, markup=True, emoji=False, color_system=color)
