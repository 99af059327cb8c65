"""Messages: what one role said at one time; its content is in parts."""

from typing import Annotated, Any, Literal

from pydantic import Field, TypeAdapter

from agentls.schema.base import Value
from agentls.schema.model import ModelRef, Tokens

Finish = Literal["stop", "tool-calls", "length", "content-filter", "error", "unknown"]
ErrorName = Literal[
    "ProviderAuthError",
    "APIError",
    "ContextOverflowError",
    "ContentFilterError",
    "MessageOutputLengthError",
    "MessageAbortedError",
    "StructuredOutputError",
    "UnknownError",
]


class MessageError(Value):
    """`data.message` is one line for a person; `data.reason` of an abort is `abort`, `exit` or `crash`."""

    name: ErrorName
    data: dict[str, Any] = Field(default_factory=dict)


class Created(Value):
    created: int


class Span(Value):
    created: int
    completed: int | None = None


class Where(Value):
    cwd: str
    root: str


class UserMessage(Value):
    id: str
    session_id: str
    pos: int
    role: Literal["user"] = "user"
    time: Created
    agent: str
    model: ModelRef
    format: dict[str, Any] | None = None
    system: str | None = None


class AssistantMessage(Value):
    """`parent_id` is the user message that it answers."""

    id: str
    session_id: str
    pos: int
    role: Literal["assistant"] = "assistant"
    parent_id: str
    time: Span
    agent: str
    model: ModelRef
    path: Where
    finish: Finish | None = None
    error: MessageError | None = None
    cost: float | None = None
    tokens: Tokens = Tokens()
    summary: bool | None = None
    structured: Any = None


Message = Annotated[UserMessage | AssistantMessage, Field(discriminator="role")]
MESSAGE: TypeAdapter[UserMessage | AssistantMessage] = TypeAdapter(Message, config={"defer_build": True})
