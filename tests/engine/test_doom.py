"""Going in circles, recognised from what was done."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentls.engine.doom import LONGEST_CYCLE, Deed, deed, deeds, in_circles
from agentls.engine.history import Entry
from agentls.schema.part import Failed, PartTime
from engine.builders import assistant_message, completed, pending, running, text_part, tool_part, user_message


def done(script: str) -> list[Deed]:
    """`a1 b2`: the call a with the result 1, then b with 2."""
    return [Deed(one[0], "{}", one[1:] or "same") for one in script.split()]


def call(name: str) -> Deed:
    return Deed(name, "{}", None)


@pytest.mark.parametrize(
    ("before", "next_call", "asks"),
    [
        ("", "a", False),
        ("a", "a", False),
        ("a a", "a", True),
        ("a a", "b", False),
        ("a a a a", "a", True),
        ("a1 a2", "a", False),
        ("a1 a1 a2", "a", False),
        ("a2 a1 a1", "a", True),
        ("a b a", "a", False),
        ("a a b", "a", False),
        # a cycle of two: two whole rounds, the third begins
        ("a b a b", "a", True),
        ("a b a b", "b", False),
        ("a b a", "b", False),
        ("b a b", "a", False),
        ("x a b a b", "a", True),
        ("a1 b1 a1 b2", "a", False),
        ("a1 b1 a2 b1", "a", False),
        # three and four
        ("a b c a b c", "a", True),
        ("a b c a b c", "b", False),
        ("a b c a b", "c", False),
        ("a b c d a b c d", "a", True),
        ("a b c d a b c", "d", False),
        ("a b c d e a b c d e", "a", False),
        ("a b c x a b c", "a", False),
        ("a a b a a b", "a", True),
    ],
)
def test_rounds(before: str, next_call: str, asks: bool) -> None:
    assert in_circles(done(before), call(next_call)) is asks


@given(st.lists(st.sampled_from("abcde"), min_size=1, max_size=LONGEST_CYCLE), st.integers(1, 3), st.integers(2, 6))
def test_any_unbroken_cycle_is_seen_when_its_third_round_begins(cycle: list[str], extra: int, rounds: int) -> None:
    before = [call(name) for name in cycle * rounds]
    assert in_circles(before, call(cycle[0]))
    changed = [*before[:-1], Deed(before[-1].tool, "{}", f"new {extra}")]
    if len(set(cycle)) == len(cycle):
        assert not in_circles(changed, call(cycle[0]))


@given(st.lists(st.integers(0, 10_000), unique=True, max_size=20))
def test_results_that_always_differ_never_ask(results: list[int]) -> None:
    assert not in_circles([Deed("a", "{}", str(result)) for result in results], call("a"))


def part_deed(arguments: dict[str, Any], output: str = "x", tool: str = "read") -> Deed:
    message = assistant_message("ses_1", 1, "msg_1")
    return deed(tool_part(message, 2, completed(output, arguments), tool))


def test_a_call_is_equal_whatever_the_order_of_its_arguments() -> None:
    one, other = part_deed({"a": 1, "b": {"c": 2, "d": [1]}}), part_deed({"b": {"d": [1], "c": 2}, "a": 1})
    assert one.same_call(other)
    assert not one.same_call(part_deed({"a": 1, "b": {"c": 2, "d": [2]}}))
    assert not one.same_call(part_deed({"a": 1, "b": {"c": 2, "d": [1]}}, tool="glob"))
    assert not part_deed({"a": 1}).same_call(part_deed({"a": "1"}))
    assert one == part_deed({"a": 1, "b": {"c": 2, "d": [1]}})
    assert one != part_deed({"a": 1, "b": {"c": 2, "d": [1]}}, "other")


def test_deeds_are_the_finished_calls_across_steps_oldest_first() -> None:
    failed = Failed(input={"n": 3}, error="no", time=PartTime(start=1, end=2))
    user = user_message("ses_1", 1)
    first, second = assistant_message("ses_1", 2, user.id), assistant_message("ses_1", 9, user.id)
    entries = [
        Entry(user, [text_part(user, 1, "hi")]),
        Entry(first, [tool_part(first, 3, completed("1", {"n": 1})), tool_part(first, 4, completed("2", {"n": 2}))]),
        Entry(
            second, [tool_part(second, 10, failed), tool_part(second, 11, running()), tool_part(second, 12, pending())]
        ),
    ]
    assert [one.result for one in deeds(entries)] == ["1", "2", "no"]
    assert [one.result for one in deeds(entries, 2)] == ["2", "no"]


def test_across_steps_the_third_equal_call_asks() -> None:
    user = user_message("ses_1", 1)
    entries = [Entry(user)]
    for number in range(2):
        message = assistant_message("ses_1", 10 * number, user.id)
        entries.append(Entry(message, [tool_part(message, 10 * number + 1, completed("same", {"a": 1}))]))
    coming = deed(tool_part(assistant_message("ses_1", 99, user.id), 100, pending(input={"a": 1})))
    assert in_circles(deeds(entries), coming)
    assert not in_circles(deeds(entries[:2]), coming)
