"""Session, turn, status, queue."""

from typing import Annotated, Literal

from pydantic import Field

from agentls.schema.base import Value
from agentls.schema.message import MessageError
from agentls.schema.model import ModelRef, Usage
from agentls.schema.permission import Rule

Mode = Literal["ask", "acceptEdits", "auto"]
StopReason = Literal["done", "cancelled", "rejected", "max_steps", "length", "content_filter", "error"]
DEFAULT_TITLE = "New session"


class SessionTime(Value):
    created: int
    updated: int
    archived: int | None = None


class Session(Value):
    id: str
    project_id: str
    parent_id: str | None = None
    directory: str
    title: str
    agent: str
    model: ModelRef | None = None
    model_chosen: bool | None = None
    mode: Mode = "ask"
    rules: tuple[Rule, ...] = ()
    time: SessionTime
    usage: Usage = Usage()


class TurnTime(Value):
    started: int
    ended: int | None = None


class Turn(Value):
    """From a prompt to idle. `message_id` is the user message that began it."""

    id: str
    session_id: str
    message_id: str
    state: Literal["running", "waiting", "ended"]
    stop_reason: StopReason | None = None
    error: MessageError | None = None
    usage: Usage = Usage()
    time: TurnTime


class PlainStatus(Value):
    type: Literal["idle", "busy", "waiting", "compacting"]


class RetryStatus(Value):
    """`next_at` is when the next attempt starts, in milliseconds since 1970."""

    type: Literal["retry"] = "retry"
    attempt: int
    next_at: int
    message: str


Status = Annotated[PlainStatus | RetryStatus, Field(discriminator="type")]


class Position(Value):
    """How far a client's copy of a session goes."""

    epoch: str
    seq: int


class Todo(Value):
    content: str
    status: Literal["pending", "in_progress", "completed", "cancelled"] = "pending"
    priority: Literal["high", "medium", "low"] = "medium"
