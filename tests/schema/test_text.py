"""Text that others send, made so that all can hold it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentls.schema.text import blackened, clean

ANY = st.text(st.characters() | st.characters(min_codepoint=0xD800, max_codepoint=0xDFFF))


@pytest.mark.parametrize(
    ("given_text", "cleaned"),
    [
        ("a", "a"),
        ("é😀", "é😀"),
        ("\ud83d\ude00", "😀"),
        ("\ud83d", "\ufffd"),
        ("\ude00\ud83d", "\ufffd\ufffd"),
        ("a\udc80b", "a\ufffdb"),
    ],
)
def test_halves_are_joined_and_lone_ones_replaced(given_text: str, cleaned: str) -> None:
    assert clean(given_text) == cleaned


@given(ANY)
def test_what_is_cleaned_can_be_encoded_and_stays(text: str) -> None:
    once = clean(text)
    assert once.encode().decode() == once == clean(once)


@given(st.text())
def test_good_text_is_not_touched(text: str) -> None:
    assert clean(text) == text


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("Authorization: Bearer abc.def-ghi", "Authorization: Bearer ***"),
        ('{"api_key": "abcdef123", "b": 1}', '{"api_key": "***", "b": 1}'),
        ("apikey=abcdef123;x", "apikey=***;x"),
        ("key sk-proj-abcdef***wxyz", "key ***"),
        ("xai-abcdefgh and hf_abcdefgh", "*** and ***"),
        ("AIzaSyA1234567890", "***"),
        ("the token hunter22 is wrong", "the token *** is wrong"),
    ],
)
def test_keys_are_blackened(said: str, shown: str) -> None:
    assert blackened(said, ["hunter22", ""]) == shown


@pytest.mark.parametrize("text", ["task-list, disk-usage", "the api key: none", "a bearer", "sk-1", "abc"])
def test_what_is_no_key_stays(text: str) -> None:
    assert blackened(text, ["", "abc"]) == text
