"""From one text to another by the smallest replacements, and whether they stand in a text that others change too."""

import difflib
from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate

from agentls.workspace.textfile import Span, split_lines

_EXACT_LINES = 3000


def hunks(before: str, after: str) -> list[Span]:
    """Spans of `before` whose replacement gives `after`, in order, no two touching."""
    return [_trimmed(before, span) for span in _by_lines(before, after)]


def moved(spans: Sequence[Span]) -> list[tuple[int, int]]:
    """Where the new texts of `spans` stand once all are in place."""
    places: list[tuple[int, int]] = []
    shift = 0
    for span in spans:
        start = span.start + shift
        places.append((start, start + len(span.text)))
        shift += len(span.text) - (span.end - span.start)
    return places


def stand(before: str, spans: Sequence[Span], now: str) -> bool:
    """Whether `now` is `before` with all `spans` replaced, and what the user changed meanwhile elsewhere.

    Each place counts only with its whole lines and one line around, and only if the old text is gone from there: the
    same words at another place are no proof.
    """
    wanted = applied(before, spans)
    if _bounded(wanted) == _bounded(now):
        return True
    come = _standing(wanted, moved(spans), now)
    gone = _standing(before, [(span.start, span.end) for span in spans], now)
    return all(come) and not any(gone)


def _standing(text: str, places: Sequence[tuple[int, int]], now: str) -> list[bool]:
    """Of each place of `text`: whether `now` holds its lines, with one more around, unbroken."""
    lines, same = _bounded(text), _same_lines(text, now)
    starts = list(accumulate(map(len, split_lines(text)), initial=0))
    found: list[bool] = []
    for start, end in places:
        first = bisect_right(starts, start) - 1
        last = min(bisect_right(starts, max(start, end - 1)) + 1, len(lines) - 1)
        found.append(any(a <= first and last < a + size for a, size in same))
    return found


def applied(text: str, spans: Sequence[Span]) -> str:
    pieces: list[str] = []
    done = 0
    for span in spans:
        pieces += [text[done : span.start], span.text]
        done = span.end
    return "".join([*pieces, text[done:]])


def _by_lines(before: str, after: str) -> list[Span]:
    if before == after:
        return []
    old, new = split_lines(before), split_lines(after)
    head, rest = _ends(old, new)
    old_part, new_part = old[head : len(old) - rest], new[head : len(new) - rest]
    offset = sum(map(len, old[:head]))
    if max(len(old_part), len(new_part)) > _EXACT_LINES:  # difflib's time grows with the square of the lines
        return [Span(offset, offset + sum(map(len, old_part)), "".join(new_part))]
    starts = [offset]
    for line in old_part:
        starts.append(starts[-1] + len(line))
    matcher = difflib.SequenceMatcher(None, old_part, new_part, autojunk=False)
    found: list[Span] = []
    for tag, a, b, c, d in matcher.get_opcodes():
        if tag == "equal":
            continue
        if b - a == d - c:  # each line for itself: what stays in it is not touched
            found += [Span(starts[a + i], starts[a + i + 1], new_part[c + i]) for i in range(b - a)]
        else:
            found.append(Span(starts[a], starts[b], "".join(new_part[c:d])))
    return found


def _trimmed(before: str, span: Span) -> Span:
    """Without the characters that stay at both ends."""
    old, new = before[span.start : span.end], span.text
    head, rest = _ends(old, new)
    start, end, text = span.start + head, span.end - rest, new[head : len(new) - rest]
    if start == end == len(before) and before.endswith("\n") and text.endswith("\n"):
        # Behind the last line there is no line for editors that do not count what follows its end (Neovim).
        return Span(start - 1, end - 1, "\n" + text[:-1])
    return Span(start, end, text)


def _ends(old: Sequence[str], new: Sequence[str]) -> tuple[int, int]:
    most = min(len(old), len(new))
    head = 0
    while head < most and old[head] == new[head]:
        head += 1
    rest = 0
    while rest < most - head and old[-1 - rest] == new[-1 - rest]:
        rest += 1
    return head, rest


def _same_lines(one: str, other: str) -> list[tuple[int, int]]:
    """Runs of lines of `one` that stand in `other` as one run too: where each begins, and its length."""
    old, new = _bounded(one), _bounded(other)
    if old == new:
        return [(0, len(old))]
    head, rest = _ends(old, new)
    middle_old, middle_new = old[head : len(old) - rest], new[head : len(new) - rest]
    runs = [(0, head), (len(old) - rest, rest)]
    if max(len(middle_old), len(middle_new)) > _EXACT_LINES:
        return runs
    matcher = difflib.SequenceMatcher(None, middle_old, middle_new, autojunk=False)
    return [*runs, *((head + block.a, block.size) for block in matcher.get_matching_blocks())]


def _bounded(text: str) -> list[str]:
    """The lines between a line for the text's start and one for its end, which are a neighbourhood as well.

    The last line feed does not count: some editors end the last line in the text that they tell, if not in the file.
    """
    lines = (line.replace("\r\n", "\n") for line in split_lines(text))
    return ["\0start", *split_lines("".join(lines).removesuffix("\n")), "\0end"]
