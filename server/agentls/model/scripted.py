"""A model that plays a script: deterministic, through the same decoder as a real one; it keeps what it was asked."""

import json
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import anyio

from agentls.model.client import ModelEvent, ModelRequest
from agentls.model.failures import Endpoint, FailureKind, ModelFailure
from agentls.model.stream import Decoder

_ENDPOINT = Endpoint("scripted", "scripted", "script:", loopback=True)


@dataclass(frozen=True, slots=True)
class Say:
    text: str
    deltas: int = 1


@dataclass(frozen=True, slots=True)
class Think:
    text: str
    field: str = "reasoning_content"


@dataclass(frozen=True, slots=True)
class Call:
    """`raw` in place of `arguments` sends that text as it is. Without an id the call gets `call_1`, `call_2`, …"""

    name: str
    arguments: dict[str, Any] = field(default_factory=dict[str, Any])
    raw: str | None = None
    id: str | None = None
    deltas: int = 1


@dataclass(frozen=True, slots=True)
class Chunk:
    """Any chunk, as a server might send it."""

    value: object


@dataclass(frozen=True, slots=True)
class Signal:
    """Sets the event when the script gets here."""

    event: anyio.Event


@dataclass(frozen=True, slots=True)
class Wait:
    event: anyio.Event


@dataclass(frozen=True, slots=True)
class Fail:
    failure: ModelFailure


@dataclass(frozen=True, slots=True)
class Hang:
    """Nothing more comes until the stream is cancelled."""


@dataclass(frozen=True, slots=True)
class End:
    """How the step ends; without it `stop` or `tool_calls`, with some usage. No `finish`: the stream just closes."""

    finish: str | None = "stop"
    input: int = 10
    output: int = 5
    cached: int = 0


Move = Say | Think | Call | Chunk | Signal | Wait | Fail | Hang | End
Step = Sequence[Move]
Play = Step | Callable[[ModelRequest], Step]


class ScriptedModel:
    """A `ModelClient`: one step of the script a request. `requests` are those it got, in order."""

    def __init__(self, *steps: Play) -> None:
        self._steps = list(steps)
        self._calls = 0
        self.requests: list[ModelRequest] = []

    def add(self, *steps: Play) -> None:
        self._steps.extend(steps)

    @property
    def left(self) -> int:
        return len(self._steps)

    def bodies(self) -> list[list[dict[str, Any]]]:
        """The messages of each request, decoded."""
        return [[json.loads(message) for message in request.messages] for request in self.requests]

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent]:
        self.requests.append(request)
        await anyio.lowlevel.checkpoint()
        decoder = Decoder(_ENDPOINT)
        moves = list(self._next(request))
        if not any(isinstance(move, End) for move in moves):
            moves.append(End("tool_calls" if any(isinstance(move, Call) for move in moves) else "stop"))
        index = 0
        for move in moves:
            for chunk in self._chunks(move, index):
                for event in decoder.feed(chunk):
                    yield event
            index += isinstance(move, Call)
            await _pause(move)
        closed = any(isinstance(move, End) and move.finish is None for move in moves)
        for event in decoder.finish(done=not closed):
            yield event

    async def aclose(self) -> None:
        """Nothing is open."""

    def _next(self, request: ModelRequest) -> Step:
        if not self._steps:
            raise ModelFailure(FailureKind.API, "The script of the model has ended.", provider="scripted")
        step = self._steps.pop(0)
        return step(request) if callable(step) else step

    def _chunks(self, move: Move, index: int) -> Iterator[object]:
        match move:
            case Say(text, deltas):
                yield from (_chunk({"content": piece}) for piece in _pieces(text, deltas))
            case Think(text, member):
                yield _chunk({member: text})
            case Call():
                yield from self._call(move, index)
            case Chunk(value):
                yield value
            case End(finish, prompt, completion, cached):
                if finish is not None:
                    details = {"cached_tokens": cached}
                    counts = {
                        "prompt_tokens": prompt,
                        "completion_tokens": completion,
                        "prompt_tokens_details": details,
                    }
                    yield _chunk({}, finish) | {"usage": counts}
            case Signal() | Wait() | Fail() | Hang():
                pass

    def _call(self, call: Call, index: int) -> Iterator[object]:
        self._calls += 1
        raw = json.dumps(call.arguments, ensure_ascii=False) if call.raw is None else call.raw
        start = {
            "index": index,
            "id": call.id or f"call_{self._calls}",
            "function": {"name": call.name, "arguments": ""},
        }
        yield _chunk({"tool_calls": [start]})
        for piece in _pieces(raw, call.deltas):
            yield _chunk({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})


async def _pause(move: Move) -> None:
    match move:
        case Signal(event):
            event.set()
        case Wait(event):
            await event.wait()
        case Fail(failure):
            raise failure
        case Hang():
            await anyio.sleep_forever()
        case _:
            pass


def _chunk(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


def _pieces(text: str, count: int) -> list[str]:
    size = max(-(-len(text) // max(count, 1)), 1)
    return [text[at : at + size] for at in range(0, len(text), size)]
