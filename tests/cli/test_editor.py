"""The line of input: what keys lead to, and how it is laid out."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentls.cli.chat.below import laid_out
from agentls.cli.chat.editor import Editor, Ended, Submitted
from agentls.cli.flow import cells


def edited(keys: str, *history: str) -> Editor:
    editor = Editor(list(history))
    assert editor.feed(keys) == []
    return editor


@pytest.mark.parametrize(
    ("keys", "text", "at"),
    [
        ("abc", "abc", 3),
        ("abc\x7f", "ab", 2),
        ("abc\x1b[D\x7f", "ac", 1),
        ("abc\x01x", "xabc", 1),
        ("abc\x1b[Hx\x1b[Fy", "xabcy", 5),
        ("one two\x17", "one ", 4),
        ("one\ntwo\x15", "one\n", 4),
        ("abc\x01\x0b", "", 0),
        ("abc\x01\x1b[3~", "bc", 0),
        ("abc\x01\x04", "bc", 0),
        ("one\\\rtwo", "one\ntwo", 7),
        ("one\x1b\rtwo", "one\ntwo", 7),
        ("\x1b[200~a\rb\r\nc\x1b[201~", "a\nb\nc", 5),
        ("one\ntwo\x1b[A!", "one!\ntwo", 4),
        ("\x7f\x1b[D\x1b[C\x17", "", 0),
        ("a\x1b[99;5~\x1bOP\x00b", "ab", 2),
        ("日本\x7f", "日", 1),
    ],
)
def test_keys_edit(keys: str, text: str, at: int) -> None:
    editor = edited(keys)
    assert (editor.text, editor.at) == (text, at)


def test_enter_submits_and_the_history_brings_it_back() -> None:
    editor = Editor([])
    assert editor.feed("one\rtwo\r") == [Submitted("one"), Submitted("two")]
    editor.feed("draft\x1b[A")
    assert editor.text == "two"
    editor.feed("\x1b[A\x1b[A")
    assert editor.text == "one"
    editor.feed("\x1b[B\x1b[B")
    assert editor.text == "draft", "what was being written is not lost"


def test_ctrl_d_leaves_an_empty_line_alone() -> None:
    assert Editor([]).feed("\x04") == [Ended()]
    assert Editor([]).feed("a\x04") == []


@given(st.text(alphabet="ab日\r\n\x7f\x01\x05\x17\x1b[AD~2013;", max_size=40), st.integers(1, 5))
def test_how_the_keys_came_does_not_matter(keys: str, size: int) -> None:
    whole, pieces = Editor(["old"]), Editor(["old"])
    done = whole.feed(keys)
    came = [one for at in range(0, len(keys), size) for one in pieces.feed(keys[at : at + size])]
    assert (came, pieces.text, pieces.at) == (done, whole.text, whole.at)
    assert 0 <= whole.at <= len(whole.text)


@given(st.text(alphabet="ab日 \n\t\x1b", max_size=60), st.integers(8, 30), st.data())
def test_no_row_is_wider_than_the_terminal_and_the_cursor_is_in_one(
    text: str, columns: int, data: st.DataObject
) -> None:
    at = data.draw(st.integers(0, len(text)))
    rows, row, column = laid_out("› ", text, at, columns)
    assert all(cells(one) <= columns for one in rows)
    assert all(one.isprintable() for one in rows)
    assert 0 <= row < len(rows)
    assert 0 <= column <= columns
