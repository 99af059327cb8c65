"""Wildcards of rules."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentls.permission.patterns import matches


@pytest.mark.parametrize(
    ("pattern", "text", "expected"),
    [
        ("git *", "git", True),
        ("git *", "git log", True),
        ("git *", "gitk", False),
        ("kill *", "kill -9 1", True),
        ("*", "", True),
        ("*", "a/b\nc", True),
        ("?m *", "rm x", True),
        ("[r]m *", "rm x", False),
        ("rm*", "rmdir x", True),
        ("rm", "rm x", False),
        ("rm **", "rm x", True),
        ("a*b*c", "abbc", True),
        ("a*bc", "abcbc", True),
        ("a*a", "a", False),
        ("*.env", "sub/.env", True),
        ("*.env.*", ".env.local", True),
        ("*a?c*", "xxabc", True),
        (" ", " ", True),
        (" *", "x", False),
        ("", "", False),
        ("", "x", False),
    ],
)
def test_p10_a_pattern_names_what_its_table_says(pattern, text, expected):
    assert matches(pattern, text) is expected


def by_definition(pattern: str, text: str) -> bool:
    if not pattern:
        return not text
    if pattern[0] == "*":
        return by_definition(pattern[1:], text) or (bool(text) and by_definition(pattern, text[1:]))
    return bool(text) and pattern[0] in ("?", text[0]) and by_definition(pattern[1:], text[1:])


@given(st.text("ab*?/", min_size=1, max_size=7), st.text("ab/\n", max_size=8))
def test_matching_equals_its_definition(pattern, text):
    assert matches(pattern, text) is by_definition(pattern, text)


def test_many_stars_and_a_long_text_cost_no_backtracking():
    started = time.perf_counter()
    assert not matches("*a" * 40 + "b", "a" * 1_000_000)
    assert not matches("*?a" * 40 + "b", "a" * 100_000)
    assert time.perf_counter() - started < 1
