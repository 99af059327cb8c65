"""Columns of text."""

from collections.abc import Iterable

from agentls.cli.flow import cells
from agentls.schema.text import one_line, visible


def rows(table: Iterable[tuple[str, ...]]) -> list[str]:
    """Each cell on one line, and as wide as the widest of its column. Spaces at the start of a row stay."""
    shown = [tuple(_shown(cell) for cell in row) for row in table]
    widths = [max(cells(cell) for cell in column) for column in zip(*shown, strict=True)]
    return [
        "  ".join(cell + " " * (width - cells(cell)) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in shown
    ]


def _shown(cell: str) -> str:
    text = visible(cell.replace("\n", " "))
    return text[: len(text) - len(text.lstrip())] + one_line(text)
