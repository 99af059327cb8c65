"""The port to a language model: one request in, a closed union of events out."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from agentls.schema.message import Finish
from agentls.schema.model import ModelRef, Tokens


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """`messages` are the elements of the chat's `messages` array and `tools` the whole `tools` array, all encoded
    already, so that what was sent before is sent again byte for byte.
    """

    model: ModelRef
    messages: Sequence[bytes]
    tools: bytes | None = None
    tool_choice: str | None = None
    max_output: int | None = None
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True)
class TextDelta:
    text: str


@dataclass(frozen=True, slots=True)
class ReasoningDelta:
    """`field` names the member in which the provider sent it (`reasoning_content`, `reasoning`, …)."""

    text: str
    field: str


@dataclass(frozen=True, slots=True)
class ToolInputStart:
    """A call begins to stream. `key` stays the same for all events of this call within the attempt."""

    key: int
    name: str


@dataclass(frozen=True, slots=True)
class ToolInputDelta:
    key: int
    text: str


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A whole call; sent when the attempt has ended. `arguments` is None where `raw` does not parse to an object:
    such a call is never run, `problem` says why.
    """

    key: int
    call_id: str
    name: str
    raw: str
    arguments: dict[str, Any] | None
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class StepEnd:
    """The attempt has ended. `tokens` is None where the provider told none."""

    finish: Finish
    tokens: Tokens | None


ModelEvent = TextDelta | ReasoningDelta | ToolInputStart | ToolInputDelta | ToolCall | StepEnd


class ModelClient(Protocol):
    """One provider. `stream` yields events and ends with `StepEnd`.

    Raises `agentls.model.failures.ModelFailure` for all that goes wrong at the provider or on the way to it.
    """

    def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent]: ...

    async def aclose(self) -> None: ...
