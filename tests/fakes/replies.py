"""What the scripted server replies with: events of a stream, whole answers, statuses."""

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

USAGE = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
DONE = b"data: [DONE]\n\n"


@dataclass(frozen=True)
class Gate:
    """The test lets the stream go on by `server.open(name)`."""

    name: str


@dataclass(frozen=True)
class Reset:
    """The connection breaks with a TCP reset."""


@dataclass(frozen=True)
class Hang:
    """Nothing more comes; the connection stays open until the client closes it."""


@dataclass(frozen=True)
class Every:
    """`data` each `seconds`, until the client closes."""

    seconds: float
    data: bytes


@dataclass(frozen=True)
class Pause:
    """The next comes so much later, as a model takes its time."""

    seconds: float


Event = bytes | Gate | Reset | Hang | Every | Pause


@dataclass(frozen=True)
class Answer:
    """A streamed 200. The body ends cleanly after the last event."""

    events: Sequence[Event]
    content_type: str = "text/event-stream"


@dataclass(frozen=True)
class Status:
    code: int
    body: bytes | str | dict[str, Any] = b""
    headers: dict[str, str] = field(default_factory=dict)


Reply = Answer | Status


@dataclass(frozen=True)
class Request:
    method: str
    target: str
    headers: dict[str, str]
    body: bytes
    connection: int

    @property
    def json(self) -> dict[str, Any]:
        return json.loads(self.body)


Script = Iterable[Reply] | Callable[[Request], Reply]


def data(value: object) -> bytes:
    return b"data: " + json.dumps(value).encode() + b"\n\n"


def C(delta: dict[str, Any], finish: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return data({"id": "c1", "object": "chat.completion.chunk", "choices": [choice]})


def F(reason: str) -> bytes:
    return C({}, reason)


def T(*entries: dict[str, Any]) -> bytes:
    return C({"tool_calls": list(entries)})


def usage(counts: dict[str, Any] | None = None) -> bytes:
    return data({"id": "c1", "object": "chat.completion.chunk", "choices": [], "usage": counts or USAGE})


def text(content: str, deltas: int = 1) -> list[bytes]:
    size = max(-(-len(content) // deltas), 1)
    return [C({"content": content[at : at + size]}) for at in range(0, len(content), size)]


def call(
    name: str, arguments: dict[str, Any], *, call_id: str = "call_1", index: int = 0, size: int = 12
) -> list[bytes]:
    raw = json.dumps(arguments)
    first = T({"index": index, "id": call_id, "type": "function", "function": {"name": name, "arguments": ""}})
    pieces = [raw[at : at + size] for at in range(0, len(raw), size)]
    return [first, *(T({"index": index, "function": {"arguments": piece}}) for piece in pieces)]


def answer(*groups: Iterable[Event], finish: str = "stop") -> Answer:
    """A whole, well-formed answer."""
    return Answer([*(event for group in groups for event in group), F(finish), usage(), DONE])
