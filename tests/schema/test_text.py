"""Text that others send, made so that all can hold it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentls.schema.text import clean

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
