"""What a turn said and did, for a reader."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from agentls.lsp.surfaces.doing import about
from agentls.protocol.session import MessageWithParts
from agentls.schema.message import UserMessage
from agentls.schema.part import Completed, Failed, Part, StepStartPart, TextPart, ToolPart

_TICKS = re.compile(r"`+")


@dataclass(frozen=True, slots=True)
class Answer:
    """`last` is what was said at last, `whole` the turn as Markdown."""

    last: str
    whole: str


def answer_of(messages: Sequence[MessageWithParts], first_id: str) -> Answer:
    """Of the turn that began with the message `first_id`; of those that are there if that is not among them."""
    place = next((index for index, one in enumerate(messages) if one.message.id == first_id), 0)
    blocks: list[str] = []
    last = ""
    for one in messages[place:]:
        if isinstance(one.message, UserMessage):
            blocks += [_quoted(text) for text in _texts(one.parts)]
            continue
        said = [_printed(one.parts)] if _is_shell(one.parts) else list(_texts(one.parts))
        last = "\n\n".join(said) or last
        blocks += _blocks(one.parts) if not _is_shell(one.parts) else said
    return Answer(last, "\n\n".join(blocks) + "\n")


def _texts(parts: Sequence[Part]) -> Iterator[str]:
    for part in parts:
        if isinstance(part, TextPart) and not part.synthetic and part.text.strip():
            yield part.text.strip()


def _blocks(parts: Sequence[Part]) -> list[str]:
    """Texts as they are, the calls between them as lists."""
    blocks: list[str] = []
    calls: list[str] = []
    for part in parts:
        if isinstance(part, ToolPart):
            calls.append(_call(part))
        elif text := next(_texts((part,)), None):
            blocks += ["\n".join(calls)] if calls else []
            blocks.append(text)
            calls = []
    return [*blocks, "\n".join(calls)] if calls else blocks


def _call(part: ToolPart) -> str:
    sign = "✓" if isinstance(part.state, Completed) else "✗"
    what = about(part).replace("`", "'")
    brief = (part.state.metadata or {}).get("brief") if isinstance(part.state, Failed) else None
    return f"- {sign} `{what}`" + (f": {brief}" if brief else "")


def _is_shell(parts: Sequence[Part]) -> bool:
    """The user's own command: no model took a step."""
    return any(isinstance(part, ToolPart) for part in parts) and not any(
        isinstance(part, StepStartPart | TextPart) for part in parts
    )


def _printed(parts: Sequence[Part]) -> str:
    """A command and what came of it."""
    shown: list[str] = []
    for part in parts:
        if not isinstance(part, ToolPart):
            continue
        state = part.state
        text = state.output if isinstance(state, Completed) else state.error if isinstance(state, Failed) else ""
        text = f"$ {state.input.get('command', '')}\n{text}"
        fence = "`" * max(3, 1 + max((len(ticks) for ticks in _TICKS.findall(text)), default=0))
        shown.append(f"{fence}\n{text.rstrip()}\n{fence}")
    return "\n\n".join(shown)


def _quoted(text: str) -> str:
    return "\n".join(f"> {line}".rstrip() for line in text.splitlines())
