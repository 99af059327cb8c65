"""The client against a real server on loopback: bytes, frames, stalls, cancellation."""

import json
from collections.abc import Sequence
from typing import Any

import pytest

from agentls.model.client import ModelEvent, StepEnd, ToolCall
from agentls.model.failures import FailureKind, ModelFailure
from agentls.schema.model import Tokens
from fakes.openai_server import serve
from fakes.replies import DONE, Answer, C, F, Reset, T, answer, call, data, text
from model.chats import REQUEST, client_of, failure_of, play, said


def summary(events: Sequence[ModelEvent]) -> list[tuple[str, dict[str, Any] | None]]:
    return [(event.name, event.arguments) for event in events if isinstance(event, ToolCall)]


async def test_text_calls_and_usage_over_the_wire() -> None:
    events = await play(answer(text("Hello world", 4), call("read", {"filePath": "a"}), finish="tool_calls"))
    assert said(events) == "Hello world"
    assert summary(events) == [("read", {"filePath": "a"})]
    assert events[-1] == StepEnd("tool-calls", Tokens(input=100, output=20))


S01 = (
    T({"index": 0, "type": "function", "function": {"name": "read", "arguments": '{"filePath":'}}),
    T({"index": 0, "function": {"arguments": '"a.txt"}'}}),
)


PARALLEL = [
    T({"index": 0, "id": f"t{n}", "function": {"name": "read", "arguments": json.dumps({"filePath": n})}})
    for n in "abc"
]


RUNS: dict[str, tuple[list[bytes], list[tuple[str, dict[str, Any]]]]] = {
    "s01": ([*S01, F("tool_calls"), DONE], [("read", {"filePath": "a.txt"})]),
    "s02": (
        [
            T({"index": 0, "id": "t1", "function": {"name": "x", "arguments": ""}}),
            *(T({"index": 0, "function": {"arguments": piece}}) for piece in ('{"a', '":"', "bcd", "efg", '"}')),
            F("tool_calls"),
            DONE,
        ],
        [("x", {"a": "bcdefg"})],
    ),
    "s03": (
        [
            T({"index": 0, "id": "t1", "function": {"name": "bash", "arguments": "{"}}),
            T({"index": 0, "id": "", "function": {"name": "", "arguments": '"command":"ls"}'}}),
            F("tool_calls"),
            DONE,
        ],
        [("bash", {"command": "ls"})],
    ),
    "s04": (
        [
            T({"id": "t1", "function": {"name": "glob", "arguments": '{"pattern":"*.py"}'}}),
            T({"id": "t2", "function": {"name": "grep", "arguments": '{"pattern":"x"}'}}),
            F("tool_calls"),
            DONE,
        ],
        [("glob", {"pattern": "*.py"}), ("grep", {"pattern": "x"})],
    ),
    "s05": (
        [
            T({"index": 0, "function": {"name": "read"}}),
            T({"index": 0, "function": {"arguments": "{}"}}),
            T({"index": 0, "id": "real_1"}),
            F("tool_calls"),
            DONE,
        ],
        [("read", {})],
    ),
    "s08": (
        [
            *(T({"index": 0, "function": {"name": "read", "arguments": piece}}) for piece in ('{"a"', ":1", "}")),
            F("stop"),
            DONE,
        ],
        [("read", {"a": 1})],
    ),
    "s06": ([*PARALLEL, F("tool_calls"), DONE], [("read", {"filePath": n}) for n in "abc"]),
    "s10": ([*S01, F("stop"), DONE], [("read", {"filePath": "a.txt"})]),
    "s11": ([*S01, DONE], [("read", {"filePath": "a.txt"})]),
    "s14": (
        [T({"index": 0, "id": "t1", "function": {"name": "list", "arguments": ""}}), F("tool_calls"), DONE],
        [("list", {})],
    ),
}


@pytest.mark.parametrize("case", RUNS)
async def test_tool_calls_of_odd_servers_over_the_wire(case: str) -> None:
    frames, expected = RUNS[case]
    events = await play(Answer(frames))
    assert summary(events) == expected
    assert isinstance(events[-1], StepEnd)
    assert events[-1].finish == "tool-calls"


async def test_s12_a_body_that_closes_inside_arguments_is_broken() -> None:
    start = T({"index": 0, "id": "t", "function": {"name": "write", "arguments": '{"filePath":"a.py","content":"imp'}})
    failure = await failure_of(Answer([start]))
    assert failure.kind is FailureKind.STREAM
    assert failure.retryable


async def test_s13_a_reset_in_mid_stream_is_broken_after_its_text_came() -> None:
    seen: list[ModelEvent] = []
    async with serve([Answer([C({"content": "Hel"}), Reset()])]) as server, client_of(server) as client:
        stream = client.stream(REQUEST)
        seen.append(await anext(stream))
        with pytest.raises(ModelFailure) as caught:
            await anext(stream)
    assert said(seen) == "Hel"
    assert caught.value.retryable
    assert caught.value.kind is FailureKind.STREAM


@pytest.mark.parametrize("choices", [[], None])
async def test_s17_chunks_without_choices_over_the_wire(choices: list[Any] | None) -> None:
    last = data({"choices": choices, "usage": {"prompt_tokens": 10, "completion_tokens": 2, "total_tokens": 12}})
    first = data({"choices": choices, "prompt_filter_results": []})
    events = await play(Answer([first, C({"content": "hi"}), F("stop"), last, DONE]))
    assert said(events) == "hi"
    assert events[-1] == StepEnd("stop", Tokens(input=10, output=2))
