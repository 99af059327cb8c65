"""Unified diffs, bounded in time."""

import difflib

from agentls.workspace.textfile import split_lines

_EXACT_LINES = 3000


def unified(before: str, after: str, name: str, *, context: int = 3) -> str:
    """What changed from one text to the other as a unified diff; empty when nothing did."""
    if before == after:
        return ""
    old, new = split_lines(before), split_lines(after)
    head = _same(old, new)
    rest = _same(old[head:][::-1], new[head:][::-1])
    first = max(0, head - context)
    last = max(0, rest - context)
    old_part, new_part = old[first : len(old) - last], new[first : len(new) - last]
    if max(len(old_part), len(new_part)) <= _EXACT_LINES:
        hunks = list(difflib.unified_diff(old_part, new_part, n=context))[2:]
    else:  # difflib's time grows with the square of the lines
        hunks = _whole(old, new, head, rest)
        first = 0
    body = "".join(_line(_moved(line, first)) for line in hunks)
    return f"--- a/{name}\n+++ b/{name}\n{body}"


def _same(old: list[str], new: list[str]) -> int:
    count = 0
    for one, other in zip(old, new, strict=False):
        if one != other:
            break
        count += 1
    return count


def _whole(old: list[str], new: list[str], head: int, rest: int) -> list[str]:
    gone, come = old[head : len(old) - rest], new[head : len(new) - rest]
    title = f"@@ -{_range(head, len(gone))} +{_range(head, len(come))} @@\n"
    return [title, *(f"-{line}" for line in gone), *(f"+{line}" for line in come)]


def _range(start: int, count: int) -> str:
    return f"{start + 1 if count else start},{count}"


def _moved(line: str, by: int) -> str:
    """A hunk's title with its line numbers moved: the common start of the texts was left out of the comparison."""
    if by == 0 or not line.startswith("@@ "):
        return line
    _, old, new, _ = line.split(" ", 3)
    return f"@@ -{_shift(old[1:], by)} +{_shift(new[1:], by)} @@\n"


def _shift(numbers: str, by: int) -> str:
    start, _, count = numbers.partition(",")
    return f"{int(start) + by},{count}" if count else str(int(start) + by)


def _line(line: str) -> str:
    return line if line.endswith("\n") else line + "\n\\ No newline at end of file\n"
