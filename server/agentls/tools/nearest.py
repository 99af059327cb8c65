"""Says why a quote is not in a file: the nearest lines, and what differs."""

import difflib
import re
from collections import Counter, defaultdict
from collections.abc import Sequence

_COMMON = 200
_SHOWN = 20
_WIDTH = 300
_NUMBERED = re.compile(r"\s*\d+: ")


def advice(lines: list[str], old: str, quoted: list[str]) -> str:
    """What to tell a model whose oldString was not found."""
    start = "oldString is not in the file. "
    if not old.strip():
        return start + "It is only white space: quote lines with text."
    if all(_NUMBERED.match(line) for line in quoted if line):
        return start + "Leave out the line numbers that the read tool puts before each line."
    first = _aligned(lines, quoted)
    if first is None:
        return start + _alike(lines, quoted)
    return start + _difference(lines, quoted, first)


def _aligned(lines: list[str], quoted: list[str]) -> int | None:
    """The line at which the quote fits best, by lines that are the same but for white space."""
    where: defaultdict[str, list[int]] = defaultdict(list)
    for i, line in enumerate(lines):
        if line.strip():
            where[line.strip()].append(i)
    votes: Counter[int] = Counter()
    for i, line in enumerate(quoted):
        places = where.get(line.strip(), [])
        if len(places) <= _COMMON:
            votes.update(place - i for place in places if place >= i)
    return votes.most_common(1)[0][0] if votes else None


def _difference(lines: list[str], quoted: list[str], first: int) -> str:
    found = lines[first : first + len(quoted)]
    for i, (quote, line) in enumerate(zip(quoted, found, strict=False)):
        if quote.strip() != line.strip():
            return (
                f"The nearest place is line {first + 1}, but line {i + 1} of oldString is\n{_short(quote)}\n"
                f"and line {first + i + 1} of the file is\n{_short(line)}\n"
                f"The file has there:\n{_numbered(lines, first, len(quoted))}"
            )
    if len(found) < len(quoted):
        return f"The file ends before oldString does. It ends so:\n{_numbered(lines, first, len(quoted))}"
    kind = "tabs" if any(line.startswith("\t") for line in found) else "spaces"
    return (
        f"The indentation differs: the file uses {kind} there. It has (line number, colon, space, then the line):\n"
        f"{_numbered(lines, first, len(quoted))}"
    )


def _alike(lines: list[str], quoted: Sequence[str]) -> str:
    wanted = next(line.strip() for line in quoted if line.strip())[:_WIDTH]
    stripped = {line.strip()[:_WIDTH]: i for i, line in reversed(list(enumerate(lines[:5000]))) if line.strip()}
    within = [i for i, line in enumerate(lines[:5000]) if len(wanted) > 3 and wanted in line]
    close = [stripped[name] for name in difflib.get_close_matches(wanted, list(stripped)[-3000:], n=3, cutoff=0.7)]
    if not within and not close:
        return "No line is like it. Read the file again: it may be another file, or have changed."
    first = [*within, *close][0]
    return f"The nearest lines are:\n{_numbered(lines, max(0, first - 1), len(quoted) + 2)}\nCopy them exactly."


def _numbered(lines: list[str], first: int, count: int) -> str:
    shown = lines[first : first + min(count, _SHOWN)]
    return "\n".join(f"{first + i}: {_short(line)}" for i, line in enumerate(shown, 1))


def _short(line: str) -> str:
    return line if len(line) <= _WIDTH else line[:_WIDTH] + f"… ({len(line)} characters)"
