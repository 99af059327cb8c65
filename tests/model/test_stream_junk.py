"""The decoder: whatever comes, it raises a failure and no more."""

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentls.model.client import (
    StepEnd,
    ToolInputDelta,
)
from agentls.model.failures import ModelFailure
from agentls.model.sse import ChunkReader
from model.chunks import ENDPOINT, decode, entry, f, summary, t

JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(
        st.sampled_from(
            ["choices", "delta", "tool_calls", "function", "name", "arguments", "index", "id", "content", "usage",
             "finish_reason", "message", "reasoning_details", "prompt_tokens", "text", "function_call"]
        ),
        inner,
        max_size=4,
    ),
    max_leaves=20,
)  # fmt: skip


@given(st.lists(JUNK, max_size=4))
def test_no_chunk_however_odd_raises_anything_but_a_failure(chunks: list[Any]) -> None:
    with suppress(ModelFailure):
        assert isinstance(decode(*chunks)[-1], StepEnd)


@given(st.data())
def test_arguments_survive_any_cutting_into_fragments(data: st.DataObject) -> None:
    arguments = data.draw(st.dictionaries(st.text(max_size=4), st.text(max_size=8) | st.integers(), max_size=3))
    raw = json.dumps(arguments)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(raw)), max_size=5)))
    pieces = [raw[a:b] for a, b in zip([0, *cuts], [*cuts, len(raw)], strict=True)]
    repeat = data.draw(st.booleans())
    chunks = [t(entry(piece, name="x" if repeat or not at else None)) for at, piece in enumerate(pieces)]
    events = decode(*chunks, f("tool_calls"))
    assert summary(events) == [("x", arguments)]
    assert "".join(event.text for event in events if isinstance(event, ToolInputDelta)) == raw


def test_a_frame_without_end_is_given_up_before_it_fills_the_memory() -> None:
    reader = ChunkReader(ENDPOINT)
    for _ in range(16):
        reader.feed(b"data: " + b"x" * (2**20 - 1) + b"\n")
    with pytest.raises(ModelFailure, match="larger than any should be"):
        reader.feed(b"data: " + b"x" * 2**20)


def test_comments_are_no_frame_however_many_there_are() -> None:
    reader = ChunkReader(ENDPOINT)
    for _ in range(20):
        assert reader.feed(b": " + b"x" * 2**20 + b"\n") == []
    assert reader.feed(b'data: {"a": 1}\n\n') == [{"a": 1}]
