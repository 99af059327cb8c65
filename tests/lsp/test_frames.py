"""Cutting frames out of a stream."""

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from agentls.lsp.frames import BrokenFrame, FrameCutter, frame

bodies = st.lists(st.binary(max_size=300), max_size=8)


def fed(cutter: FrameCutter, stream: bytes, cuts: list[int]) -> list[bytes | BrokenFrame]:
    found: list[bytes | BrokenFrame] = []
    places = sorted({cut % (len(stream) + 1) for cut in cuts} | {0, len(stream)})
    for start, end in pairwise(places):
        found += cutter.feed(stream[start:end])
    return found


@given(bodies, st.lists(st.integers(min_value=0), max_size=20))
def test_however_the_stream_is_split_the_bodies_come_out(sent: list[bytes], cuts: list[int]) -> None:
    assert fed(FrameCutter(), b"".join(map(frame, sent)), cuts) == sent


rubbish = st.one_of(
    st.binary(max_size=200),
    st.text(alphabet="Content-Length: 0123456789\r\n{}x", max_size=200).map(str.encode),
    st.integers(min_value=-5, max_value=10**20).map(lambda n: b"Content-Length: %d\r\n\r\n" % n),
)


@settings(max_examples=500)
@given(st.lists(rubbish, max_size=6), st.lists(st.integers(min_value=0), max_size=8))
def test_rubbish_neither_raises_nor_depends_on_how_it_is_split(pieces: list[bytes], cuts: list[int]) -> None:
    stream = b"".join(pieces)
    whole = fed(FrameCutter(256, 1024), stream, [])
    split = fed(FrameCutter(256, 1024), stream, cuts)
    assert [item for item in whole if isinstance(item, bytes)] == [item for item in split if isinstance(item, bytes)]


@given(st.binary(max_size=400).filter(lambda b: b"ontent" not in b.lower()))
def test_after_rubbish_without_a_length_the_next_message_is_found(noise: bytes) -> None:
    found = FrameCutter().feed(noise + b"\r\n\r\n" + frame(b"{}"))
    assert found[-1] == b"{}"


def test_a_stretch_of_rubbish_is_reported_once() -> None:
    found = FrameCutter().feed(b"a\r\n\r\nb\r\n\r\nc\r\n\r\n" + frame(b"{}") + b"d\r\n\r\n")
    assert [item for item in found if isinstance(item, BrokenFrame)] == [
        BrokenFrame("a header without a valid Content-Length"),
        BrokenFrame("a header without a valid Content-Length"),
    ]


def test_lengths_that_contradict_each_other_are_broken() -> None:
    found = FrameCutter().feed(b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{ }" + frame(b"[]"))
    assert isinstance(found[0], BrokenFrame)
    assert found[-1] == b"[]"


def test_a_body_that_is_too_large_is_skipped_without_being_kept() -> None:
    cutter = FrameCutter(body_most=10)
    assert cutter.feed(b"Content-Length: 11\r\n\r\n12345") == [
        BrokenFrame("a message of 11 bytes; the most is 10", too_large=11)
    ]
    assert cutter.feed(b"678901" + frame(b"{}")) == [b"{}"]
