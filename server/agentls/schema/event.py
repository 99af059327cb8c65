"""Events: what the engine says to those who listen. A closed union."""

from dataclasses import dataclass
from typing import Literal

from agentls.schema.model import Usage
from agentls.schema.session import PlainStatus, RetryStatus

Kind = Literal["session", "turn", "message", "part", "permission", "question", "todo", "queue"]
DeltaField = Literal["text", "raw", "output"]


@dataclass(frozen=True, slots=True)
class Scope:
    """Which session an event is of, and where it belongs: its root session and its folder."""

    session_id: str
    root_id: str
    directory: str


@dataclass(frozen=True, slots=True)
class Changed:
    """A row was stored. `method` is the notification that tells of it, `params` its members beside
    `sessionId`, `rootSessionId` and `seq`, as JSON without the outer braces (`"part":{…}`); never empty.
    """

    scope: Scope
    seq: int
    kind: Kind
    id: str
    method: str
    params: bytes


@dataclass(frozen=True, slots=True)
class Delta:
    """Text was appended to a part: a copy at `base` becomes one at `rev`. Not stored."""

    scope: Scope
    message_id: str
    part_id: str
    field: DeltaField
    base: int
    rev: int
    text: str


@dataclass(frozen=True, slots=True)
class StatusChanged:
    scope: Scope
    status: PlainStatus | RetryStatus
    turn_id: str | None


@dataclass(frozen=True, slots=True)
class UsageChanged:
    """`usage` of the session so far; `context` is the share of the model's window that the last step filled, 0 to 1."""

    scope: Scope
    usage: Usage
    context: float | None


@dataclass(frozen=True, slots=True)
class FileEdited:
    scope: Scope
    uri: str
    via: Literal["buffer", "disk"]
    part_id: str


@dataclass(frozen=True, slots=True)
class Noticed:
    """A word to the person, outside any session if `scope` is None. Never stored."""

    severity: Literal["info", "warning", "error"]
    title: str
    description: str | None = None
    scope: Scope | None = None


Event = Changed | Delta | StatusChanged | UsageChanged | FileEdited | Noticed
