"""JSON with comments, and its places."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentls.config.jsonc import JsoncError, duplicates, line_and_column, offsets, parse

TEXT = """{
  // a comment with { and "
  "a": {"b": [1, {"c": 2,},],}, /* more
  */ "url": "http://x//y", // end
  "a": 1
}"""


def test_comments_and_trailing_commas_are_read():
    assert parse(TEXT) == {"a": 1, "url": "http://x//y"}
    assert parse("") == {}
    assert parse("// only\n") == {}


def test_every_key_has_its_place():
    places = {path: line_and_column(TEXT, offset) for path, offset in offsets(TEXT).items()}
    assert places["url",] == (4, 6)
    assert places["a", "b"] == (3, 9)
    assert places["a", "b", 1, "c"] == (3, 19)
    assert duplicates(TEXT) == (("a",),)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ('{\n  /* x\n */ "a" 1\n}', (3, 9)),
        ('{"a": }', (1, 7)),
        ('{"a": 1', (1, 8)),
        ("{\n'a': 1}", (2, 1)),
        ('// é\n{"a": nope}', (2, 7)),
    ],
)
def test_a_mistake_is_placed_in_the_text_as_written(text, place):
    with pytest.raises(JsoncError) as caught:
        parse(text)
    assert line_and_column(text, caught.value.offset) == place


def test_a_deep_nesting_is_a_mistake_and_no_crash():
    with pytest.raises(JsoncError):
        parse("[" * 200_000)
    offsets("[" * 200_000)


@given(st.text('{}[]:,"\\/* \na1', max_size=30))
def test_any_text_is_read_or_refused(text):
    offset = 0
    try:
        parse(text)
    except JsoncError as error:
        offset = error.offset
    assert 0 <= offset <= len(text) + 1
    offsets(text)
