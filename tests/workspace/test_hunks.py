"""Replacements that lead from one text to another, and whether they stand in a text that the user types in."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentls.workspace.hunks import applied, hunks, stand

LINES = st.lists(st.sampled_from(["a", "b", "same", "", "🙂 x", "\tend"]), max_size=12)
TEXTS = st.builds(lambda lines, last: "\n".join(lines) + last, LINES, st.sampled_from(["", "\n"]))
BEFORE = "A\nB\nC\nD\nE\nF\n"
AFTER = "A\nB\nC\nnew\nE\nF\n"


@settings(deadline=None)
@given(TEXTS, TEXTS)
def test_hunks_lead_from_one_text_to_the_other_in_order(before: str, after: str) -> None:
    spans = hunks(before, after)
    assert applied(before, spans) == after
    assert all(one.end <= two.start for one, two in pairwise(spans))
    assert all(span.text or span.end > span.start for span in spans)


@settings(deadline=None)
@given(TEXTS, TEXTS)
def test_a_text_with_all_hunks_is_confirmed_and_the_old_one_is_not(before: str, after: str) -> None:
    spans = hunks(before, after)
    assert stand(before, spans, after)
    if before.removesuffix("\n") != after.removesuffix("\n"):
        assert not stand(before, spans, before)


def test_hunks_are_small() -> None:
    (span,) = hunks("one\ntwo words here\nthree\n", "one\ntwo new words here\nthree\n")
    assert (span.start, span.end, span.text) == (8, 8, "new ")


def test_what_is_appended_stands_within_the_last_line() -> None:
    (span,) = hunks("one\nfive\n", "one\nfive\nsix\n")
    assert (span.start, span.end, span.text) == (8, 8, "\nsix")
    (behind_an_open_line,) = hunks("one", "one\ntwo\n")
    assert (behind_an_open_line.start, behind_an_open_line.text) == (3, "\ntwo\n")


def test_two_far_places_are_two_hunks() -> None:
    before = "".join(f"{number}\n" for number in range(100))
    spans = hunks(before, before.replace("\n5\n", "\nfive\n").replace("\n90\n", "\nninety\n"))
    assert [span.text for span in spans] == ["five", "ninety"]


def test_neighbouring_lines_are_changed_each_for_itself() -> None:
    spans = hunks("x = 1\ny = 1\n", "x = 2\ny = 2\n")
    assert [span.text for span in spans] == ["2", "2"]


@pytest.mark.parametrize(
    ("now", "expected"),
    [
        (AFTER, True),
        (AFTER.removesuffix("\n"), True),
        (AFTER.replace("\n", "\r\n"), True),
        ("user\n" + AFTER, True),
        (AFTER + "user", True),
        (AFTER.replace("A", "A, typed").replace("F", "F, typed"), True),
        (BEFORE, False),
        ("user\n" + BEFORE, False),
        (BEFORE.replace("A", "new"), False),
        ("user\nA\nB\nnew\nD\nE\nF\n", False),  # a stale edit at its old line
        (AFTER.replace("new", "new, typed in"), False),
        ("", False),
    ],
)
def test_a_hunk_counts_only_at_its_place(now: str, expected: bool) -> None:
    assert stand(BEFORE, hunks(BEFORE, AFTER), now) is expected


@pytest.mark.parametrize(
    ("before", "after", "thrown_away"),
    [
        ("x\na\na\na\ny\n", "x\na\na\ny\n", "x\na\na\na\ny\n"),
        ("a\na\na\n", "a\na\n", "a\na\na\n"),
        ("x\na\na\na\ny\n", "x\na\na\ny\n", "x\na\na\na\ny\nuser\n"),
        ("x\na\ny\n", "x\na\na\ny\n", "x\na\ny\nuser\n"),
        ("", "new\n", "user\n"),
        ("a\n", "", "a\nuser\n"),
    ],
)
def test_among_lines_that_repeat_a_lost_edit_is_not_taken_for_done(before: str, after: str, thrown_away: str) -> None:
    assert not stand(before, hunks(before, after), thrown_away)
    assert stand(before, hunks(before, after), after)


def test_a_large_rewritten_text_takes_no_quadratic_time() -> None:
    before = "".join(f"old {number}\n" for number in range(50_000))
    after = "".join(f"new {number}\n" for number in range(50_000))
    assert len(hunks(before, after)) == 1
    assert stand(before, hunks(before, after), after)
