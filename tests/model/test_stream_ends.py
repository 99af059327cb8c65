"""The decoder: usage, reasoning, ends and errors inside a success."""

from typing import Any

import pytest

from agentls.model.client import (
    ModelEvent,
    ReasoningDelta,
    StepEnd,
    TextDelta,
)
from agentls.model.failures import FailureKind
from agentls.schema.model import CacheTokens, Tokens
from model.chunks import c, decode, end, f, fails, summary


def said(events: list[ModelEvent]) -> str:
    return "".join(event.text for event in events if isinstance(event, TextDelta))


@pytest.mark.parametrize("choices", [[], None])
def test_s17_a_chunk_without_choices(choices: list[Any] | None) -> None:
    counts = {"prompt_tokens": 10, "completion_tokens": 2, "total_tokens": 12}
    events = decode(
        {"choices": choices, "prompt_filter_results": []},
        c({"content": "hi"}),
        f("stop"),
        {"choices": choices, "usage": counts},
    )
    assert said(events) == "hi"
    assert end(events) == StepEnd("stop", Tokens(input=10, output=2))


def test_s17_usage_on_every_chunk_counts_once() -> None:
    chunks = [{**c({"content": "x"}), "usage": {"prompt_tokens": 10, "completion_tokens": n}} for n in (1, 2, 3)]
    assert end(decode(*chunks, f("stop"), {"choices": [], "usage": None})).tokens == Tokens(input=10, output=3)


@pytest.mark.parametrize(
    ("usage", "tokens"),
    [
        (
            {
                "prompt_tokens": 100,
                "completion_tokens": 50,
                "total_tokens": 150,
                "prompt_tokens_details": {"cached_tokens": 80},
                "completion_tokens_details": {"reasoning_tokens": 30},
            },
            Tokens(input=20, output=20, reasoning=30, cache=CacheTokens(read=80)),
        ),
        ({"prompt_tokens": 100, "prompt_cache_hit_tokens": 60}, Tokens(input=40, cache=CacheTokens(read=60))),
        (
            {
                "prompt_tokens": 10,
                "completion_tokens": 5,
                "total_tokens": 25,
                "completion_tokens_details": {"reasoning_tokens": 10},
            },
            Tokens(input=10, output=5, reasoning=10),
        ),
        ({"prompt_tokens": None, "completion_tokens": "x", "prompt_tokens_details": None}, Tokens()),
    ],
)
def test_tokens_are_split_as_they_are_priced(usage: dict[str, Any], tokens: Tokens) -> None:
    assert end(decode(c({"content": "x"}), f("stop"), {"choices": [], "usage": usage})).tokens == tokens


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
def test_reasoning_keeps_the_member_it_came_in(field: str) -> None:
    assert decode(c({field: "hm", "content": None}), c({"content": "hi"}), f("stop"))[0] == ReasoningDelta("hm", field)


def test_reasoning_details_and_thinking_parts() -> None:
    details = c(
        {"reasoning_details": [{"type": "reasoning.text", "text": "a"}, {"type": "reasoning.summary", "summary": "b"}]}
    )
    parts = c(
        {"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "t"}]}, {"type": "text", "text": "hi"}]}
    )
    events = decode(details, parts, f("stop"))
    assert events[:3] == [ReasoningDelta("ab", "reasoning_details"), ReasoningDelta("t", ""), TextDelta("hi")]


def test_reasoning_that_comes_in_two_members_is_taken_once() -> None:
    both = c({"reasoning": "hm", "reasoning_content": "hm"})
    assert decode(both, c({"content": "x"}), f("stop"))[:2] == [
        ReasoningDelta("hm", "reasoning_content"),
        TextDelta("x"),
    ]


@pytest.mark.parametrize(
    ("reason", "finish"),
    [("stop", "stop"), ("length", "length"), ("max_tokens", "length"), ("content_filter", "content-filter"),
     ("tool_calls", "stop"), ("end_turn", "stop"), ("STOP", "stop"), ("something_new", "unknown")],
)  # fmt: skip
def test_finish_reasons_of_a_text(reason: str, finish: str) -> None:
    assert end(decode(c({"content": "x"}), f(reason))).finish == finish


def test_a_text_without_finish_reason_is_whole_only_if_the_server_said_so() -> None:
    assert end(decode(c({"content": "x"}), done=True)).finish == "stop"
    assert end(decode(c({"content": "x"}), done=False)).finish == "unknown"


@pytest.mark.parametrize("reason", ["abort", "error"])
def test_an_aborted_answer_is_a_broken_stream(reason: str) -> None:
    assert fails(c({"content": "x"}), f(reason)).retryable


def test_s23_an_empty_answer_is_a_failure() -> None:
    for chunks in ([], [c({"role": "assistant", "content": ""}), f("stop")], [f("tool_calls")]):
        failure = fails(*chunks)
        assert failure.kind is FailureKind.EMPTY
        assert failure.retryable


def test_the_limit_and_the_filter_may_leave_nothing() -> None:
    assert end(decode(f("length"))).finish == "length"
    assert end(decode(f("content_filter"))).finish == "content-filter"


@pytest.mark.parametrize(
    "chunk",
    [
        {"error": {"message": "boom", "code": 502}},
        {"error": "boom"},
        {"object": "error", "message": "boom"},
        {"choices": [{"delta": {}, "finish_reason": "error", "error": {"message": "boom"}}]},
        {"detail": "boom"},
    ],
)
def test_an_error_object_inside_a_success(chunk: dict[str, Any]) -> None:
    failure = fails(c({"content": "x"}), chunk)
    assert "boom" in failure.message
    assert "local/test-model" in failure.message


def test_an_overflow_inside_a_success() -> None:
    assert fails({"error": {"code": "context_length_exceeded", "message": "too big"}}).kind is FailureKind.OVERFLOW


def test_an_answer_that_was_not_streamed() -> None:
    message = {
        "role": "assistant",
        "content": "hi",
        "tool_calls": [{"id": "a", "function": {"name": "x", "arguments": "{}"}}],
    }
    events = decode({"choices": [{"message": message, "finish_reason": "tool_calls"}], "usage": {"prompt_tokens": 1}})
    assert said(events) == "hi"
    assert summary(events) == [("x", {})]


def test_l01_an_emoji_in_two_halves_is_joined_and_a_lone_half_replaced() -> None:
    events = decode(
        c({"content": "a\ud83d"}),
        c({"content": "\ude42b"}),
        c({"content": "\ud83d"}),
        c({"content": "c\ud83d"}),
        f("stop"),
    )
    assert said(events) == "a🙂b\ufffdc\ufffd"
    said(events).encode()
