"""What the agent does now, in a few words for a progress."""

from pydantic_core import from_json

from agentls.lsp.notifications import Told
from agentls.schema.event import Changed, StatusChanged
from agentls.schema.part import PART, Completed, ReasoningPart, TextPart, ToolPart, is_open
from agentls.schema.session import RetryStatus
from agentls.schema.text import one_line, visible

THINKING = "thinking"
WAITING = "waiting for your answer"
_MOST = 80
_SUBJECTS = ("command", "filePath", "pattern", "path")
_WORDS = {"busy": THINKING, "waiting": WAITING, "compacting": "summarising what was said"}


def doing(event: Told) -> str | None:
    """None where the event changes nothing of it."""
    match event:
        case StatusChanged(status=RetryStatus() as status):
            return short(f"waiting to try again: {status.message}")
        case StatusChanged(status=status):
            return _WORDS.get(status.type)
        case Changed(method="permission/asked" | "question/asked"):
            return WAITING
        case Changed(method="permission/resolved" | "question/resolved"):
            return THINKING
        case Changed(method="part/updated"):
            return _of_part(event)
        case _:
            return None


def about(part: ToolPart) -> str:
    """A call in a few words: the tool, and what it is used on."""
    subject = part.state.title if isinstance(part.state, Completed) else ""
    for name in _SUBJECTS:
        if isinstance(part.state.input.get(name), str):
            subject = part.state.input[name]
            break
    return short(f"{part.tool} {subject}")


def short(text: str) -> str:
    line = visible(one_line(text))
    return line if len(line) <= _MOST else f"{line[: _MOST - 1]}…"


def _of_part(event: Changed) -> str | None:
    part = PART.validate_python(from_json(b"{%b}" % event.params)["part"])
    match part:
        case ToolPart():
            return about(part) if is_open(part) else THINKING
        case TextPart():
            return "writing" if is_open(part) else None
        case ReasoningPart():
            return THINKING if is_open(part) else None
        case _:
            return None
