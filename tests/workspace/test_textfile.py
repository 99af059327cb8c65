"""Text files keep every byte that is not edited."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from agentls.errors import ToolError
from agentls.workspace.binary import attachment_mime, binary_type
from agentls.workspace.textfile import Span, Text, decode


@given(st.binary(max_size=400))
@example(b"\xef\xbb\xbfhello\n")
@example(b"\xff\xfea\x00\r\x00\n\x00x")
@example(b"\xfe\xff\xd8\x00")
@example(b"\xff\xfe\x00\xd8\x00\xdc\x01")
@example("caf\u00e9 na\u00efve r\u00e9sum\u00e9".encode("latin-1"))
@example("é".encode() + b"\xff" + "日本".encode())
def test_any_bytes_come_back_as_they_were(data: bytes) -> None:
    assert decode(data).encode() == data


@given(
    st.lists(st.tuples(st.text(alphabet="ab\t ", max_size=5), st.sampled_from(["\n", "\r\n"])), max_size=8), st.data()
)
def test_an_edit_changes_only_what_it_replaces(lines: list[tuple[str, str]], data: st.DataObject) -> None:
    raw = "".join(text + end for text, end in lines) + "tail"
    text = decode(raw.encode())
    start = data.draw(st.integers(0, len(text.view)))
    end = data.draw(st.integers(start, len(text.view)))
    new = data.draw(st.text(alphabet="xy\n", max_size=6))
    edited = text.splice([Span(start, end, new)])
    assert edited.view == text.view[:start] + new + text.view[end:]
    assert edited.raw.startswith(raw[: text.raw_index(start)])
    assert edited.raw.endswith(raw[text.raw_index(end) :])


@given(st.text(alphabet="ab\n", max_size=30), st.text(alphabet="ab\n", max_size=30))
def test_a_rewrite_gives_the_new_text_in_the_files_own_endings(old: str, new: str) -> None:
    crlf = decode(old.replace("\n", "\r\n").encode())
    assert crlf.rewritten(new).view == new
    assert Text(old).rewritten(new).raw == new
    if "\n" in old:
        assert crlf.rewritten(new).raw == new.replace("\n", "\r\n")


def test_lines_of_a_mixed_file_keep_their_own_endings() -> None:
    text = decode(b"a\r\nb\nc\r\nd")
    start = text.view.index("b")
    assert text.splice([Span(start, start + 3, "B\nC")]).encode() == b"a\r\nB\nC\r\nd"


def test_undecodable_bytes_stay_also_in_what_is_replaced() -> None:
    text = decode("wörter über ".encode() + b"\xff end\n")
    assert text.view == "wörter über \ufffd end\n"
    edited = text.splice([Span(0, len(text.view), "new über \ufffd end\n")])
    assert edited.encode() == "new über ".encode() + b"\xff end\n"


def test_undecodable_bytes_are_not_guessed_when_some_are_dropped() -> None:
    text = decode(b"ab \xff\xfe cd" + "日本語日本語".encode())
    with pytest.raises(ToolError, match="no text"):
        text.splice([Span(0, 6, "x\ufffd")])


def test_a_character_that_the_encoding_lacks_is_an_error_for_the_model() -> None:
    data = "Die Straße führt über die Brücke nach Köln, wo schöne Häuser stehen. ".encode("cp1252") * 4
    text = decode(data)
    assert "Straße" in text.view
    with pytest.raises(ToolError, match="cannot hold"):
        text.splice([Span(0, 3, "日")]).encode()


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"\x7fELF\x02\x01\x01" + bytes(50), "ELF program or library"),
        (b"\x89PNG\r\n\x1a\n" + bytes(20), "PNG image"),
        (b"a" * 9000 + b"\0" + b"b" * 10, "data with NUL bytes"),
        (bytes(range(1, 32)) * 10, "data with control bytes"),
        (b"plain text\n", None),
        (b"\x1b[32mcolour\x1b[0m\n", None),
        (b"", None),
        ("ünïcode".encode("utf-16"), None),
        (b"ID3 is a tag format\n", None),
        (b"BZh is how bzip2 starts\n", None),
    ],
)
def test_e12_binary_is_told_by_content(data: bytes, kind: str | None) -> None:
    assert binary_type(data) == kind


def test_only_images_and_pdf_can_be_shown_to_a_model() -> None:
    assert attachment_mime(b"RIFF\x00\x00\x00\x00WEBPVP8 ") == "image/webp"
    assert attachment_mime(b"%PDF-1.7\n") == "application/pdf"
    assert attachment_mime(b"\x7fELF") is None
