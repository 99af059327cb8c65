"""A whole conversation as a text: Markdown to read, JSON to work with."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any, Literal

from anyio import lowlevel, to_thread
from pydantic_core import from_json, to_json

from agentls.engine.sessions import Sessions
from agentls.schema.message import MESSAGE, AssistantMessage, UserMessage
from agentls.schema.part import PART, Completed, Failed, FilePart, Part, ReasoningPart, TextPart, ToolPart
from agentls.schema.session import Session
from agentls.schema.text import one_line

Format = Literal["markdown", "json"]
_PAGE = 50
_MOST_LINES = 60
_RUNS = re.compile(r"`+")


@dataclass(frozen=True, slots=True)
class Said:
    message: UserMessage | AssistantMessage
    parts: tuple[Part, ...]


class Exports:
    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions

    async def text(self, session_id: str, form: Format) -> str:
        """All of a session. Raises `AgentError` `session_not_found`."""
        session = from_json(self._sessions.get(session_id).json)["session"]
        pages: list[list[dict[str, Any]]] = []
        before: str | None = None
        while True:
            page = from_json(self._sessions.messages(session_id, before, _PAGE).json)
            pages.append(page["messages"])
            before = page.get("nextCursor")
            if before is None:
                break
            await lowlevel.checkpoint()  # others get on between two pages
        messages = [message for page in reversed(pages) for message in page]
        write = _json if form == "json" else _markdown
        return await to_thread.run_sync(partial(write, session, messages))


def _json(session: dict[str, Any], messages: list[dict[str, Any]]) -> str:
    return to_json({"session": session, "messages": messages}, indent=2).decode() + "\n"


def _markdown(session: dict[str, Any], messages: list[dict[str, Any]]) -> str:
    return markdown(Session.model_validate(session), said(messages))


def said(messages: Iterable[dict[str, Any]]) -> list[Said]:
    """From the wire's form."""
    return [
        Said(MESSAGE.validate_python(one["message"]), tuple(PART.validate_python(part) for part in one["parts"]))
        for one in messages
    ]


def markdown(session: Session, messages: Iterable[Said]) -> str:
    return f"# {one_line(session.title)}\n\n{_facts(session)}\n\n{conversation(messages)}"


def conversation(messages: Iterable[Said]) -> str:
    """Without the head. Long outputs of tools are cut in their middle; JSON has them whole."""
    return "\n".join(f"{block}\n" for one in messages for block in _message(one))


def _facts(session: Session) -> str:
    facts = [f"`{session.id}`", f"`{session.directory}`", clock(session.time.created)]
    if session.usage.tokens.total:
        facts.append(f"{session.usage.tokens.total:,} tokens")
    if session.usage.cost:
        facts.append(f"${session.usage.cost:.4f}")
    return " · ".join(facts)


def clock(milliseconds: int) -> str:
    """Local time."""
    return datetime.fromtimestamp(milliseconds / 1000).astimezone().strftime("%Y-%m-%d %H:%M")


def _message(one: Said) -> Iterator[str]:
    message = one.message
    blocks = [block for part in one.parts for block in _part(part)]
    match message:
        case UserMessage() if blocks:
            yield f"## User, {clock(message.time.created)}"
        case AssistantMessage() if blocks or message.error:
            yield f"## {message.agent} ({message.model})"
        case _:
            pass
    yield from blocks
    if isinstance(message, AssistantMessage) and message.error is not None:
        yield f"**Stopped:** {message.error.data.get('message') or message.error.name}"


def _part(part: Part) -> Iterator[str]:
    match part:
        case TextPart() if part.text.strip() and not part.synthetic:
            yield part.text.strip()
        case ReasoningPart() if part.text.strip():
            yield "\n".join(f"> {row}".rstrip() for row in part.text.strip().splitlines())
        case FilePart():
            yield f"*Attached: {one_line(part.filename or part.url[:100])}*"
        case ToolPart():
            yield from _tool(part)
        case _:
            pass


def _tool(part: ToolPart) -> Iterator[str]:
    state = part.state
    match state:
        case Completed():
            yield f"**{part.tool}** {_code(_subject(part))}".rstrip()
            diff = state.metadata.get("diff")
            yield from _fenced(diff, "diff") if isinstance(diff, str) and diff else _fenced(state.output)
        case Failed():
            yield f"**{part.tool}** {_code(_subject(part))}: failed".replace("  ", " ")
            yield from _fenced(state.error)
        case _:
            yield f"**{part.tool}** {_code(_subject(part))}: not finished".replace("  ", " ")


def _subject(part: ToolPart) -> str:
    given = part.state.input
    named = next((given[key] for key in ("command", "filePath", "pattern", "path") if key in given), "")
    return one_line(str(named))


def _code(text: str) -> str:
    if "`" in text:
        ticks = "`" * (max(len(run) for run in _RUNS.findall(text)) + 1)
        return f"{ticks} {text} {ticks}"
    return f"`{text}`" if text else ""


def _fenced(text: str, language: str = "") -> Iterator[str]:
    rows = text.rstrip().splitlines()
    if not rows:
        return
    if len(rows) > _MOST_LINES:
        half = _MOST_LINES // 2
        rows = [*rows[:half], f"… {len(rows) - 2 * half} lines …", *rows[-half:]]
    fence = "`" * max([3, *(len(run) + 1 for run in _RUNS.findall(text))])
    yield "\n".join((f"{fence}{language}", *rows, fence))
