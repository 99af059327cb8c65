"""Finds the place that an edit quotes: exactly, or so that only white space and typography differ.

A loose match is taken only where it is the only one, and it spans as many lines as the quote, one more or less.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from agentls.errors import ToolError
from agentls.tools.nearest import advice
from agentls.workspace.textfile import Span

_QUOTES = str.maketrans({"‘": "'", "’": "'", "“": '"', "”": '"', "–": "-", "—": "-", "\u00a0": " ", "`": "'", '"': "'"})
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", '"': '"', "'": "'", "`": "`", "\\": "\\", "$": "$"}
_MAX_LOOSE_LINES = 2000


@dataclass(frozen=True, slots=True)
class Found:
    """What to replace, and by which strategy it was found."""

    spans: tuple[Span, ...]
    strategy: str


@dataclass(frozen=True, slots=True)
class _Window:
    """Lines `first` to `last` (excluded) of the file."""

    first: int
    last: int


@dataclass(frozen=True, slots=True)
class _Quote:
    """`oldString` in lines. `closed`: it ends with a line feed."""

    lines: list[str]
    closed: bool


def replace(view: str, old: str, new: str, *, every: bool) -> Found:
    """The spans of the view to replace. Raises `ToolError` where the quote is not there, or not there once."""
    old, new = _plain(old), _plain(new)
    if old == new:
        raise ToolError("oldString and newString are the same: there is nothing to change.")
    starts = _occurrences(view, old)
    if starts and (every or view.find(old, starts[0] + 1) < 0):
        return Found(tuple(Span(start, start + len(old), new) for start in starts), "exact")
    if starts:
        places = ", ".join(str(view.count("\n", 0, start) + 1) for start in starts[:10])
        raise ToolError(
            f"oldString stands at more than one place (lines {places}). Quote more of the lines around the one you "
            "mean, or set replaceAll to change all of them."
        )
    return _loose(view, old, new)


def _plain(text: str) -> str:
    return text.removeprefix("\ufeff").replace("\r\n", "\n")


def _occurrences(view: str, old: str) -> list[int]:
    starts: list[int] = []
    at = view.find(old)
    while at >= 0:
        starts.append(at)
        at = view.find(old, at + len(old))
    return starts


def _loose(view: str, old: str, new: str) -> Found:
    quote = _quote(old)
    lines = view.split("\n")
    if len(quote.lines) <= _MAX_LOOSE_LINES and any(line.strip() for line in quote.lines):
        for name, find in _STRATEGIES:
            found = _unique(name, list(find(lines, quote.lines)))
            if found is not None:
                return Found((_span(view, lines, found, quote, new),), name)
        unescaped = _unescape(old)
        starts = _occurrences(view, unescaped) if unescaped != old else []
        if len(starts) == 1:
            span = Span(starts[0], starts[0] + len(unescaped), _unescape(new))
            return Found((span,), "escape-normalised")
        found = _unique("block-anchored", list(_anchored(lines, quote.lines)))
        if found is not None:
            return Found((_span(view, lines, found, quote, new),), "block-anchored")
    raise ToolError(advice(lines, old, quote.lines), "oldString was not found")


def _quote(old: str) -> _Quote:
    lines = old.split("\n")
    closed = len(lines) > 1 and lines[-1] == ""
    return _Quote(lines[:-1] if closed else lines, closed)


def _unique(name: str, found: Sequence[_Window]) -> _Window | None:
    if len(found) > 1:
        places = ", ".join(str(window.first + 1) for window in found[:10])
        raise ToolError(
            f"oldString is not in the file word for word, and {len(found)} places are like it ({name}; lines "
            f"{places}). Copy the lines exactly, with more of those around them."
        )
    return found[0] if found else None


def _same_by(key: Callable[[str], str]) -> Callable[[list[str], list[str]], Iterator[_Window]]:
    def find(lines: list[str], quoted: list[str]) -> Iterator[_Window]:
        wanted = [key(line) for line in quoted]
        keyed = [key(line) for line in lines]
        for first in range(len(lines) - len(quoted) + 1):
            if keyed[first] == wanted[0] and keyed[first : first + len(wanted)] == wanted:
                yield _Window(first, first + len(wanted))

    return find


def _indented(key: Callable[[str], str]) -> Callable[[list[str], list[str]], Iterator[_Window]]:
    """Lines that are the same by a key, and whose indentation differs in one consistent way, if at all."""

    def find(lines: list[str], quoted: list[str]) -> Iterator[_Window]:
        for window in _same_by(key)(lines, quoted):
            if _indents(lines[window.first : window.last], quoted) is not None:
                yield window

    return find


def _anchored(lines: list[str], quoted: list[str]) -> Iterator[_Window]:
    """First and last line as quoted; between them only blank lines, quotation marks, dashes and trailing commas may
    differ. Any looser measure of likeness lets a wrong number or operator pass for the right one.
    """
    if len(quoted) < 3:
        return
    first, last, inner = quoted[0].strip(), quoted[-1].strip(), _bare(quoted[1:-1])
    if not first or not last:
        return
    for start in (i for i, line in enumerate(lines) if line.strip() == first):
        for size in (len(quoted), len(quoted) - 1, len(quoted) + 1):
            end = start + size
            closed = size >= 2 and end <= len(lines) and lines[end - 1].strip() == last
            if not closed or _bare(lines[start + 1 : end - 1]) != inner:
                continue
            if _indents(lines[start:end], quoted) is not None:
                yield _Window(start, end)
            break


def _bare(lines: Sequence[str]) -> list[str]:
    bare = (" ".join(line.translate(_QUOTES).split()).rstrip(",;") for line in lines)
    return [line for line in bare if line]


_STRATEGIES: tuple[tuple[str, Callable[[list[str], list[str]], Iterator[_Window]]], ...] = (
    ("line-trimmed", _same_by(str.rstrip)),
    ("indentation-flexible", _indented(str.strip)),
    ("whitespace-normalised", _indented(lambda line: " ".join(line.split()))),
)


def _unescape(text: str) -> str:
    return re.sub(r"\\([ntr\"'`\\$])", lambda found: _ESCAPES[found.group(1)], text)


def _span(view: str, lines: list[str], window: _Window, quote: _Quote, new: str) -> Span:
    """The window in characters. Its last line feed belongs to it if the quote has one."""
    start = sum(len(line) + 1 for line in lines[: window.first])
    matched = lines[window.first : window.last]
    end = start + sum(len(line) + 1 for line in matched) - 1
    if quote.closed and end < len(view):
        end += 1
    elif quote.closed:
        new = new.removesuffix("\n")
    return Span(start, end, _reindent(new, _indents(matched, quote.lines)))


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip(" \t"))]


def _indents(matched: Sequence[str], quoted: Sequence[str]) -> dict[str, str] | None:
    """For each indentation of the quote the file's own; None where the two do not go together."""
    found: dict[str, str] = {}
    pairs = zip(filter(str.strip, matched), filter(str.strip, quoted), strict=False)
    for line, quote in pairs:
        if found.setdefault(_indent(quote), _indent(line)) != _indent(line):
            return None
    return found


def _reindent(new: str, indents: dict[str, str] | None) -> str:
    """The new text in the file's indentation, where the quote had another."""
    if not indents or all(quote == own for quote, own in indents.items()):
        return new
    return "\n".join(_own(_indent(line), indents) + line[len(_indent(line)) :] for line in new.split("\n"))


def _own(indent: str, indents: dict[str, str]) -> str:
    if indent in indents:
        return indents[indent]
    below = max((quote for quote in indents if indent.startswith(quote)), key=len, default=None)
    if below is None:
        return indent
    deeper = indent[len(below) :]
    return indents[below] + _units(deeper, indents)


def _units(deeper: str, indents: dict[str, str]) -> str:
    """Spaces beyond a known indentation as tabs, where the file has tabs for the quote's spaces."""
    for quote, own in indents.items():
        if own and not own.strip("\t") and quote and not quote.strip(" ") and len(quote) % len(own) == 0:
            width = len(quote) // len(own)
            return "\t" * (len(deeper) // width) + " " * (len(deeper) % width)
    return deeper
