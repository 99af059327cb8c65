"""Permissions: rules, what is asked, and how it ended."""

from typing import Literal

from agentls.schema.base import Value

Action = Literal["allow", "ask", "deny"]
Reply = Literal["once", "always", "reject"]
RuleScope = Literal["session", "project"]
Outcome = Literal["allowed", "rejected", "cancelled", "expired"]
ResolvedBy = Literal["client", "rule", "abort", "policy"]


class Rule(Value):
    """`permission` and `pattern` match with `*` and `?`; a trailing ` *` is optional."""

    permission: str
    pattern: str = "*"
    action: Action


class FileDiff(Value):
    uri: str
    patch: str


class AskMetadata(Value):
    command: str | None = None
    cwd: str | None = None
    files: tuple[FileDiff, ...] | None = None
    url: str | None = None


class Ask(Value):
    """What a tool wants to do, before it does it.

    `patterns` are what is judged (all must be allowed), `always` what an "always" would store: empty means it is not
    offered. A `protected` one is asked in every mode.
    """

    permission: str
    patterns: tuple[str, ...]
    always: tuple[str, ...] = ()
    title: str
    description: str | None = None
    metadata: AskMetadata = AskMetadata()
    protected: bool = False


class AskOption(Value):
    """`patterns` and `scope` come with `always`: what it would store, and where. `feedback`: words may go along."""

    kind: Reply
    patterns: tuple[str, ...] | None = None
    scope: tuple[RuleScope, ...] | None = None
    feedback: bool | None = None


class Permission(Value):
    """A question about a tool's deed, as stored and as sent (`permission/asked`)."""

    session_id: str
    root_session_id: str
    agent: str
    permission_id: str
    turn_id: str
    message_id: str
    part_id: str | None = None
    permission: str
    title: str
    description: str | None = None
    patterns: tuple[str, ...]
    metadata: AskMetadata
    options: tuple[AskOption, ...]
    created_at: int


class Resolution(Value):
    outcome: Outcome
    reply: Reply | None = None
    by: ResolvedBy
    message: str | None = None


class PermissionResolved(Value):
    """`permission/resolved`."""

    session_id: str
    root_session_id: str
    permission_id: str
    outcome: Outcome
    reply: Reply | None = None
    by: ResolvedBy
