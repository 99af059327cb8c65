"""Params of the notifications. Those that tell of a stored row carry its `seq`."""

from typing import Literal

from agentls.protocol.catalog import Problem, Severity
from agentls.protocol.session import ChangedFile, Part, QueueItem
from agentls.schema.base import Value
from agentls.schema.event import DeltaField
from agentls.schema.message import Message, MessageError
from agentls.schema.model import Usage
from agentls.schema.permission import Permission, PermissionResolved
from agentls.schema.question import Question, QuestionResolved
from agentls.schema.session import Position, Session, Status, StopReason, Todo


class OfOneSession(Value):
    """`rootSessionId` is there if the session is a child's."""

    session_id: str
    root_session_id: str | None = None


class Stored(OfOneSession):
    seq: int


class SessionChanged(Stored):
    session: Session


class StatusParams(OfOneSession):
    status: Status
    turn_id: str | None = None


class TurnStarted(Stored):
    turn_id: str
    message_id: str


class TurnEnded(OfOneSession):
    """`seq` is absent only where the end could not be stored."""

    seq: int | None = None
    turn_id: str
    stop_reason: StopReason
    error: MessageError | None = None
    usage: Usage


class MessageUpdated(Stored):
    message: Message


class MessageRemoved(Stored):
    message_id: str


class PartUpdated(OfOneSession):
    """`seq` is absent when a part is sent whole in place of deltas that were dropped."""

    seq: int | None = None
    part: Part


class PartDelta(OfOneSession):
    """Appends `delta` to `field` of a part whose `rev` is `base`; its `rev` is then `rev`."""

    message_id: str
    part_id: str
    field: DeltaField
    base: int
    rev: int
    delta: str


class PartRemoved(Stored):
    message_id: str
    part_id: str


class PermissionAsked(Permission):
    seq: int


class PermissionSettled(PermissionResolved):
    seq: int


class QuestionAsked(Question):
    seq: int


class QuestionSettled(QuestionResolved):
    seq: int


class TodoUpdated(Stored):
    todos: tuple[Todo, ...]


class DiffChanged(OfOneSession):
    files: tuple[ChangedFile, ...]


class UsageParams(OfOneSession):
    """`context` is the share of the model's window that the last step filled, 0 to 1."""

    usage: Usage
    context: float | None = None


class FileEditedParams(OfOneSession):
    uri: str
    via: Literal["buffer", "disk"]
    part_id: str


class QueueChanged(Stored):
    items: tuple[QueueItem, ...]


class ResyncParams(OfOneSession):
    """Notifications of this session were dropped: attach again from your own position."""

    reason: str
    position: Position | None = None


class NoticeParams(Value):
    severity: Severity
    title: str
    description: str | None = None
    session_id: str | None = None
    root_session_id: str | None = None


class ServerStatusChanged(Value):
    problems: tuple[Problem, ...]
