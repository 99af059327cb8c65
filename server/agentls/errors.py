"""The exception tree.

AgentlsError
├── AgentError      an answer to the caller: a JSON-RPC error, or a message's error
├── ToolError       a tool's failure: its result for the model, and a brief for the person
└── RunClosedError  a run that was stopped tried to write

Anything else that is raised is a bug: it is logged with its traceback and never shown.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any


class ErrorKind(StrEnum):
    """What clients switch on (`error.data.kind`)."""

    PARSE_ERROR = "parse_error"
    INVALID_REQUEST = "invalid_request"
    SHUTTING_DOWN = "shutting_down"
    METHOD_NOT_FOUND = "method_not_found"
    INVALID_PARAMS = "invalid_params"
    INTERNAL = "internal"
    NOT_INITIALIZED = "not_initialized"
    CANCELLED = "cancelled"
    EDIT_CONFLICT = "edit_conflict"
    DRAINING = "draining"
    SESSION_NOT_FOUND = "session_not_found"
    MESSAGE_NOT_FOUND = "message_not_found"
    PART_NOT_FOUND = "part_not_found"
    PERMISSION_NOT_FOUND = "permission_not_found"
    QUESTION_NOT_FOUND = "question_not_found"
    SESSION_BUSY = "session_busy"
    SESSION_LOCKED = "session_locked"
    TURN_MISMATCH = "turn_mismatch"
    CONFLICT = "conflict"
    AGENT_NOT_FOUND = "agent_not_found"
    MODEL_NOT_FOUND = "model_not_found"
    AUTH_REQUIRED = "auth_required"
    PROVIDER_ERROR = "provider_error"
    CONTEXT_OVERFLOW = "context_overflow"
    PATH_DENIED = "path_denied"
    UNTRUSTED = "untrusted"
    OVERLOADED = "overloaded"
    NOT_SUPPORTED = "not_supported"


class AgentlsError(Exception):
    """Root of everything that this program raises on purpose."""


class AgentError(AgentlsError):
    """Something that the caller asked for cannot be had.

    `message` is one line for a person: what happened, where, what to do. `data` holds what the kind promises.
    """

    def __init__(
        self, kind: ErrorKind, message: str, data: Mapping[str, Any] | None = None, *, retryable: bool = False
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.data = dict(data or {})
        self.retryable = retryable


def invalid_param(path: str, message: str) -> AgentError:
    """One of the params cannot be used: `path` is where it stands in them, `message` a whole sentence."""
    return AgentError(ErrorKind.INVALID_PARAMS, message, {"errors": [{"path": path, "message": message}]})


class ToolError(AgentlsError):
    """A tool failed: `message` goes to the model and says how to mend the call, `brief` to the person. `kind` is set
    where a client may want to act on it.
    """

    def __init__(self, message: str, brief: str | None = None, kind: ErrorKind | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.kind = kind
        self.brief = brief or message.partition("\n")[0]


class RunClosedError(AgentlsError):
    """The run was stopped: nothing more may be written in its name."""
