"""Lines that break between words, however the words come in."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentls.cli.flow import Flow, cells


def flowed(text: str, columns: int, size: int) -> str:
    flow = Flow(columns)
    came = [piece for at in range(0, len(text), size) for piece in flow.pieces(text[at : at + size])]
    return "".join([*came, flow.end()])


@pytest.mark.parametrize("size", [1, 2, 5, 100])
@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("one two three four", "one two\nthree\nfour"),
        ("a\n\n  b c", "a\n\n  b c"),
        ("unbreakable-word x", "unbreakable-word\nx"),
        ("```\nlong line of code\n```\nand some prose", "```\nlong line of code\n```\nand some\nprose"),
        ("日本 語語語", "日本\n語語語"),
        ("", ""),
    ],
)
def test_lines_end_between_words(text: str, shown: str, size: int) -> None:
    assert flowed(text, 9, size) == shown


@given(st.text(alphabet="ab \n日", max_size=80), st.integers(1, 20), st.integers(1, 9))
def test_no_word_is_lost_and_how_it_came_does_not_show(text: str, columns: int, size: int) -> None:
    shown = flowed(text, columns, size)
    assert shown.split() == text.split()
    assert shown == flowed(text, columns, len(text) or 1)
    assert all(cells(row) <= columns for row in shown.split("\n") if len(row.split()) > 1)


@given(st.text(alphabet="ab \n", max_size=80))
def test_a_wide_terminal_changes_nothing_but_spaces_at_line_ends(text: str) -> None:
    assert flowed(text, 1000, 3) == "\n".join(row.rstrip() for row in text.split("\n"))
