"""Params and results of sessions, their messages, parts and queues."""

from typing import Annotated, Any, Literal

from pydantic import Field

from agentls.protocol.params import Lenient, OfSession, OpenObject, PageSize, Params
from agentls.schema.base import Value
from agentls.schema.input import InputPart
from agentls.schema.message import AssistantMessage, Message, MessageError
from agentls.schema.model import ModelRef, Usage
from agentls.schema.part import Part as AnyPart
from agentls.schema.permission import Permission
from agentls.schema.question import Question
from agentls.schema.session import Mode, Position, Session, Status, StopReason, Todo, Turn

Delivery = Literal["steer", "queue", "reject"]
AcceptedState = Literal["running", "queued", "stored"]
Part = Annotated[AnyPart, Field(discriminator="type")]


class CreateParams(Params):
    """`directory` is an absolute path; absent, the editor's first folder."""

    directory: str | None = None
    title: str | None = None
    agent: str | None = None
    model: Lenient[ModelRef] | None = None
    mode: Mode | None = None


class SessionResult(Value):
    session: Session


class CreateResult(Value):
    """`position` is where the caller's copy stands: attach since it after a break."""

    session: Session
    position: Position


class ListParams(Params):
    """`query` is looked for in titles. `archived`: those instead of the others."""

    directory: str | None = None
    query: str | None = None
    archived: bool = False
    cursor: str | None = None
    limit: PageSize = 50


class SessionsResult(Value):
    sessions: tuple[Session, ...]
    next_cursor: str | None = None


class PendingAsks(Value):
    """What waits for an answer; a root's includes its children's."""

    permissions: tuple[Permission, ...]
    questions: tuple[Question, ...]


class GetResult(Value):
    session: Session
    status: Status
    turn: Turn | None = None
    position: Position
    pending: PendingAsks


class MessagesParams(OfSession):
    """`before` is the page mark (`nextCursor`) of an earlier answer. A page ends before `limit` at about 4 MiB."""

    before: str | None = None
    limit: PageSize = 50


class MessageWithParts(Value):
    message: Message
    parts: tuple[Part, ...]


class MessagesResult(Value):
    """Oldest first within the page."""

    messages: tuple[MessageWithParts, ...]
    next_cursor: str | None = None


class AttachParams(OfSession):
    since: Position | None = None


class QueueItem(Value):
    """A prompt that waits for its turn; `messageId` becomes its message's id, `text` is what its text parts say."""

    message_id: str
    text: str
    parts: tuple[InputPart, ...]
    created_at: int


class Change(Value):
    """A row in its newest state (`value`), or the id of one that is gone (`removed`).

    A `queue` value is one item, which `removed` names by its `messageId`; a `todo` value is the whole list. A
    permission or question that was settled is `removed`.
    """

    seq: int
    kind: Literal["session", "turn", "message", "part", "permission", "question", "todo", "queue"]
    value: Any = None
    removed: str | None = None


class Owner(Value):
    """Another process that runs this session."""

    pid: int


class Snapshot(Value):
    """The session as it stands, with its newest 50 messages."""

    session: Session
    turn: Turn | None = None
    todos: tuple[Todo, ...]
    queue: tuple[QueueItem, ...]
    messages: tuple[MessageWithParts, ...]
    next_cursor: str | None = None


class AttachResult(Value):
    """Either `changes` since the given position, or a `snapshot`. With an `owner` no notifications follow."""

    position: Position
    status: Status
    turn: Turn | None = None
    pending: PendingAsks
    truncated: bool
    owner: Owner | None = None
    changes: tuple[Change, ...] | None = None
    snapshot: Snapshot | None = None


class PromptParams(OfSession):
    """`messageId`, if given, makes the call idempotent. `wait: "idle"` answers when the turn has ended."""

    parts: tuple[InputPart, ...]
    message_id: str | None = None
    delivery: Delivery = "steer"
    agent: str | None = None
    model: Lenient[ModelRef] | None = None
    system: str | None = None
    format: OpenObject | None = None
    no_reply: bool = False
    wait: Literal["accepted", "idle"] = "accepted"
    work_done_token: str | int | None = None


class AcceptedResult(Value):
    """The members from `stopReason` on are there with `wait: "idle"` only."""

    message_id: str
    turn_id: str | None = None
    state: AcceptedState
    stop_reason: StopReason | None = None
    message: AssistantMessage | None = None
    error: MessageError | None = None
    usage: Usage | None = None


class AbortParams(OfSession):
    """`queue: "clear"` removes what is queued as well."""

    turn_id: str | None = None
    queue: Literal["keep", "clear"] = "keep"


class AbortResult(Value):
    """`forced`: something did not stop in time and was cut off."""

    aborted: bool
    turn_id: str | None = None
    forced: bool | None = None


class ShellParams(OfSession):
    command: Annotated[str, Field(min_length=1)]
    cwd: str | None = None
    message_id: str | None = None
    timeout_ms: Annotated[int, Field(ge=1)] | None = None


class ShellResult(Value):
    message_id: str
    part_id: str
    turn_id: str


class CommandParams(OfSession):
    command: str
    arguments: str | None = None
    parts: tuple[InputPart, ...] = ()
    message_id: str | None = None


class RevertParams(OfSession):
    message_id: str | None = None
    part_id: str | None = None
    dry_run: bool = False


class RevertConflict(Value):
    path: str
    reason: str


class RevertResult(Value):
    session: Session
    files: tuple[str, ...]
    conflicts: tuple[RevertConflict, ...]


class FromMessageParams(OfSession):
    message_id: str | None = None


class TurnResult(Value):
    turn_id: str


class UpdateParams(OfSession):
    """Absent members stay as they are."""

    title: str | None = None
    archived: bool | None = None
    agent: str | None = None
    model: Lenient[ModelRef] | None = None
    mode: Mode | None = None


class ExportParams(OfSession):
    format: Literal["markdown", "json"] = "markdown"


class ExportResult(Value):
    text: str


class Hunk(Value):
    old_start: int
    old_lines: int
    new_start: int
    new_lines: int


class ChangedFile(Value):
    """`patch` is a unified one."""

    uri: str
    status: Literal["added", "modified", "deleted"]
    patch: str
    hunks: tuple[Hunk, ...]


class DiffResult(Value):
    files: tuple[ChangedFile, ...]


class TodosResult(Value):
    todos: tuple[Todo, ...]


class QueueResult(Value):
    items: tuple[QueueItem, ...]


class QueueRemoveParams(OfSession):
    message_id: str


class PartParams(OfSession):
    part_id: str


class PartResult(Value):
    """The live part, not the stored row."""

    part: Part
