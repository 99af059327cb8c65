"""Parts: the pieces of a message. The union is closed; `rev` rises with each change of a part."""

from typing import Annotated, Any, Literal

from pydantic import Field, TypeAdapter

from agentls.schema.base import Value
from agentls.schema.model import ModelRef, Tokens


class PartTime(Value):
    start: int
    end: int | None = None
    compacted: int | None = None


class _Part(Value):
    id: str
    session_id: str
    message_id: str
    pos: int
    rev: int = 0


class TextPart(_Part):
    """`synthetic` text is for the model; clients hide it."""

    type: Literal["text"] = "text"
    text: str
    synthetic: bool | None = None
    time: PartTime | None = None


class ReasoningPart(_Part):
    """`field` is the member in which the provider sent it and wants it back."""

    type: Literal["reasoning"] = "reasoning"
    text: str
    field: str | None = None
    time: PartTime


class FilePart(_Part):
    type: Literal["file"] = "file"
    mime: str
    filename: str | None = None
    url: str
    source: dict[str, Any] | None = None


class Pending(Value):
    """`raw` is the argument text as it streams in; `input` is set once it parses."""

    status: Literal["pending"] = "pending"
    input: dict[str, Any] = Field(default_factory=dict)
    raw: str = ""


class Running(Value):
    status: Literal["running"] = "running"
    input: dict[str, Any]
    title: str | None = None
    output: str | None = None
    metadata: dict[str, Any] | None = None
    time: PartTime


class Completed(Value):
    status: Literal["completed"] = "completed"
    input: dict[str, Any]
    output: str
    title: str
    metadata: dict[str, Any] = Field(default_factory=dict)
    attachments: tuple[dict[str, Any], ...] | None = None
    time: PartTime


class Failed(Value):
    """`error` is what the model reads. `metadata.interrupted` marks a call that was cut off."""

    status: Literal["error"] = "error"
    input: dict[str, Any]
    error: str
    metadata: dict[str, Any] | None = None
    time: PartTime


ToolState = Annotated[Pending | Running | Completed | Failed, Field(discriminator="status")]


class ToolPart(_Part):
    """`callId` is what the model calls it; absent until the call is whole."""

    type: Literal["tool"] = "tool"
    call_id: str | None = None
    tool: str
    state: ToolState


class StepStartPart(_Part):
    type: Literal["step-start"] = "step-start"
    snapshot: str | None = None


class StepFinishPart(_Part):
    type: Literal["step-finish"] = "step-finish"
    reason: str
    cost: float | None = None
    tokens: Tokens
    snapshot: str | None = None


class PatchPart(_Part):
    """The files (absolute paths) that the step's tools changed."""

    type: Literal["patch"] = "patch"
    files: tuple[str, ...]


class AgentPart(_Part):
    type: Literal["agent"] = "agent"
    name: str


class SubtaskPart(_Part):
    type: Literal["subtask"] = "subtask"
    prompt: str
    description: str
    agent: str
    model: ModelRef | None = None
    command: str | None = None


class CompactionPart(_Part):
    type: Literal["compaction"] = "compaction"
    auto: bool
    overflow: bool | None = None
    tail_start_id: str | None = None


Part = (
    TextPart
    | ReasoningPart
    | FilePart
    | ToolPart
    | StepStartPart
    | StepFinishPart
    | PatchPart
    | AgentPart
    | SubtaskPart
    | CompactionPart
)
PART: TypeAdapter[Part] = TypeAdapter(Annotated[Part, Field(discriminator="type")], config={"defer_build": True})


def is_open(part: Part) -> bool:
    """Whether more of this part is still to come."""
    match part:
        case TextPart():
            return part.time is not None and part.time.end is None
        case ReasoningPart():
            return part.time.end is None
        case ToolPart():
            return isinstance(part.state, Pending | Running)
        case _:
            return False
