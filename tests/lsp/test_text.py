"""Positions of an editor against places in the text: surrogate pairs, line ends of all kinds, ends that lie beyond."""

import time
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from lsprotocol import types
from pygls.workspace import PositionCodec

from agentls.lsp.text import EditorText
from agentls.schema.input import LinePosition, LineRange

PIECES = st.sampled_from(["a", "é", "語", "🙂", "\n", "\r\n", "\r", "\u2028", "\x0c", "\x85", "word "])
TEXTS = st.lists(PIECES, max_size=30).map("".join)
ENCODINGS = [types.PositionEncodingKind.Utf8, types.PositionEncodingKind.Utf16, types.PositionEncodingKind.Utf32]


def document(text: str, encoding: Any = types.PositionEncodingKind.Utf16) -> EditorText:
    return EditorText("file:///a", source=text, version=1, position_codec=PositionCodec(encoding))


def change(start: types.Position, end: types.Position, text: str) -> types.TextDocumentContentChangePartial:
    return types.TextDocumentContentChangePartial(types.Range(start, end), text)


def at(line: int, character: int) -> LinePosition:
    return LinePosition(line=line, character=character)


def places(text: str) -> list[int]:
    """Those that an editor can name: none within a line end."""
    return [i for i in range(len(text) + 1) if text[i - 1 : i + 1] != "\r\n" or i == 0]


@given(TEXTS, st.sampled_from(ENCODINGS), st.data())
def test_changes_lead_to_the_text_that_the_editor_has(text: str, encoding: Any, data: st.DataObject) -> None:
    live = document(text, encoding)
    for _ in range(3):
        start, end = sorted(data.draw(st.lists(st.sampled_from(places(text)), min_size=2, max_size=2)))
        new = data.draw(TEXTS)
        first, last = document(text, encoding).positions([start, end])
        live.apply_change(change(first, last, new))
        text = text[:start] + new + text[end:]
        assert live.source == text
        assert live.lines == document(text).lines


@given(TEXTS, st.sampled_from(ENCODINGS))
def test_every_place_has_a_position_that_leads_back(text: str, encoding: Any) -> None:
    live = document(text, encoding)
    offsets = places(text)
    for offset, position in zip(offsets, live.positions(offsets), strict=True):
        assert live.offset(at(position.line, position.character)) == offset


def test_lines_end_at_three_line_ends_and_no_other_separator() -> None:
    live = document("a\nb\r\nc\rd\u2028e\x0cf\x85g")
    assert list(live.lines) == ["a\n", "b\r\n", "c\r", "d\u2028e\x0cf\x85g"]


@pytest.mark.parametrize(
    ("line", "character", "offset"),
    [(0, 0, 0), (0, 1, 1), (0, 3, 2), (0, 4, 3), (0, 2, 1), (0, 99, 3), (1, 0, 5), (1, 99, 6), (9, 9, 6)],
)
def test_utf16_columns(line: int, character: int, offset: int) -> None:
    """`a🙂b`: a place within the pair is the one before it; behind the end of a line is its end."""
    assert document("a🙂b\r\nc").offset(at(line, character)) == offset


def test_behind_the_end_of_a_last_line_without_a_line_end_is_the_end() -> None:
    live = document("abc")
    live.apply_change(change(types.Position(0, 99), types.Position(7, 0), "d"))
    assert live.source == "abcd"


def test_ranges_are_counted_in_characters() -> None:
    place = LineRange(start=at(0, 3), end=at(0, 4))
    assert document("a🙂b").counted(place) == LineRange(start=at(0, 2), end=at(0, 3))


def test_a_whole_new_text_replaces_all() -> None:
    live = document("a\nb")
    assert live.offset(at(1, 1)) == 3
    live.apply_change(types.TextDocumentContentChangeWholeDocument("other\n"))
    assert (live.source, live.offset(at(9, 9))) == ("other\n", 6)


@given(st.lists(st.sampled_from(["x" * 20_000 + "\n", "\r", "🙂\r\n", "y" * 70_000, "\n"]), max_size=8), st.data())
@settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
def test_changes_of_texts_of_several_pieces(lines: list[str], data: st.DataObject) -> None:
    text = "".join(lines)
    live = document(text)
    for _ in range(3):
        ends = [0, len(text), *(i + 1 for i, c in enumerate(text) if c == "\n"), len(text) // 2]
        near = sorted({min(max(0, end + by), len(text)) for end in ends for by in (-1, 0, 1)})
        named = [i for i in near if i == 0 or text[i - 1 : i + 1] != "\r\n"]
        start, end = sorted(data.draw(st.lists(st.sampled_from(named), min_size=2, max_size=2)))
        new = data.draw(st.sampled_from(["", "\n", "\r", "z", "z\r\nz" * 9_000]))
        first, last = document(text).positions([start, end])
        live.apply_change(change(first, last, new))
        text = text[:start] + new + text[end:]
        assert live.source == text
        assert live.positions([len(text)]) == document(text).positions([len(text)])
        ends = [i for i in (0, len(text) // 3, len(text) // 2, len(text)) if i == 0 or text[i - 1 : i + 1] != "\r\n"]
        assert live.positions(ends) == [document(text).positions([end])[0] for end in ends]


def test_l14_typing_in_a_large_text_does_not_copy_it_each_time() -> None:
    """The joined text is made when somebody reads it, not at every change."""
    live = document("x" * 79 + "\n" + ("y" * 79 + "\n") * 200_000)
    for number in range(2_000):
        live.apply_change(change(types.Position(100_000, 0), types.Position(100_000, 0), str(number % 10)))
    assert live.source.count("y") == 79 * 200_000


@pytest.mark.parametrize("letter", ["a", "é", "語"])
def test_l14_typing_in_one_enormous_line_costs_some_copies_and_no_look_at_each_character(letter: str) -> None:
    """Against what the copy of such a line costs on this machine now."""
    line, half = letter * 4_000_000, 2_000_000
    live = document(line)
    middle = types.Position(0, half)

    def typed() -> None:
        live.apply_change(change(middle, middle, "x"))
        assert live.part(LineRange(start=at(0, half), end=at(0, half + 2))) == f"x{live.source[half + 1]}"
        assert live.positions([half]) == [middle]
        live.counted(LineRange(start=at(0, half), end=at(0, half + 1)))

    assert cost(typed) < 60 * cost(lambda: line[:half].encode("utf-16-le").decode("utf-16-le"))


@pytest.mark.parametrize("ended", ["\n", "; "])
def test_l14_thousands_of_places_cost_little_more_than_to_write_them_down(ended: str) -> None:
    """As an edit of all places of a word has them, on many lines or on one."""
    line = "some é more 語 of a word" + ended
    live = document(line * 4_000)
    offsets = list(range(0, len(line) * 4_000, len(line)))

    many = cost(lambda: live.positions(offsets))

    assert many < 30 * cost(lambda: [types.Position(number, 0) for number in range(len(offsets))])


def cost(deed: Callable[[], object]) -> float:
    """In seconds of the processor, the least of three."""
    found: list[float] = []
    for _ in range(3):
        began = time.process_time()
        deed()
        found.append(time.process_time() - began)
    return min(found)
