"""Chunks of an answer, and the decoder over them."""

from typing import Any

import pytest

from agentls.model.client import (
    ModelEvent,
    StepEnd,
    ToolCall,
)
from agentls.model.failures import Endpoint, ModelFailure
from agentls.model.stream import Decoder

ENDPOINT = Endpoint("local", "test-model", "http://127.0.0.1:1", loopback=True)


def c(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


def t(*entries: dict[str, Any]) -> dict[str, Any]:
    return c({"tool_calls": list(entries)})


def f(reason: str) -> dict[str, Any]:
    return c({}, reason)


def entry(
    arguments: Any = None, *, name: str | None = None, index: int | None = 0, call_id: Any = None
) -> dict[str, Any]:
    function = {} if arguments is None else {"arguments": arguments}
    made: dict[str, Any] = {"function": function}
    if name is not None:
        function["name"] = name
    if index is not None:
        made["index"] = index
    if call_id is not None:
        made["id"] = call_id
    return made


def decode(*chunks: object, done: bool = True) -> list[ModelEvent]:
    decoder = Decoder(ENDPOINT)
    events = [event for chunk in chunks for event in decoder.feed(chunk)]
    return events + decoder.finish(done=done)


def calls(events: list[ModelEvent]) -> list[ToolCall]:
    return [event for event in events if isinstance(event, ToolCall)]


def summary(events: list[ModelEvent]) -> list[tuple[str, dict[str, Any] | None]]:
    return [(call.name, call.arguments) for call in calls(events)]


def end(events: list[ModelEvent]) -> StepEnd:
    assert isinstance(events[-1], StepEnd)
    return events[-1]


def fails(*chunks: object, done: bool = True) -> ModelFailure:
    with pytest.raises(ModelFailure) as caught:
        decode(*chunks, done=done)
    return caught.value
