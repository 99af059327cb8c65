"""Stored history to the elements of a chat's `messages`: pure, and the same bytes for the same input.

What strict servers want stands here too: `content` is never null, `tool_calls` never empty, arguments are always a JSON
object, and each call has its result right behind it.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agentls.config.prompts import prompt
from agentls.schema.message import AssistantMessage, UserMessage
from agentls.schema.model import ModelRef
from agentls.schema.part import (
    Completed,
    Failed,
    FilePart,
    Part,
    Pending,
    ReasoningPart,
    Running,
    TextPart,
    ToolPart,
)
from agentls.schema.text import clean


@dataclass(frozen=True, slots=True)
class Traits:
    """What the model takes. `returns_reasoning`: its own thinking is sent back to it (S25)."""

    images: bool = False
    returns_reasoning: bool = True


def system_element(text: str) -> bytes:
    return _json({"role": "system", "content": text})


def user_element(messages: Sequence[tuple[UserMessage, Sequence[Part]]], traits: Traits) -> bytes | None:
    """Neighbouring user messages as one element; None if they say nothing. A message's own `system` comes first."""
    content = [piece for message, parts in messages for piece in _said(message, parts, traits)]
    if not content:
        return None
    if all(piece["type"] == "text" for piece in content):
        return _json({"role": "user", "content": "\n\n".join(piece["text"] for piece in content)})
    return _json({"role": "user", "content": content})


def assistant_elements(
    message: AssistantMessage, parts: Sequence[Part], target: ModelRef, traits: Traits
) -> list[bytes]:
    """The assistant's element, then one `tool` element a call in the order of the calls, then the images they returned.

    A message that failed or was cut off before it said anything becomes a short text, so that the order of roles and
    the prefix stand.
    """
    calls = sorted((part for part in parts if isinstance(part, ToolPart)), key=lambda part: part.pos)
    text = "\n\n".join(part.text for part in parts if isinstance(part, TextPart) and part.text.strip())
    element: dict[str, Any] = {"role": "assistant", "content": text}
    if not text and not calls:
        element["content"] = prompt("history/no-answer")
    if traits.returns_reasoning and _same_model(message.model, target):
        element |= _thought(parts)
    if calls:
        element["tool_calls"] = [_call(call) for call in calls]
    results = [_json({"role": "tool", "tool_call_id": _name(c), "content": _result(c, traits)}) for c in calls]
    return [_json(element), *results, *_images(calls, traits)]


def _said(message: UserMessage, parts: Sequence[Part], traits: Traits) -> Iterator[dict[str, Any]]:
    if message.system and message.system.strip():
        yield {"type": "text", "text": message.system}
    for part in parts:
        match part:
            case TextPart() if part.text.strip():
                yield {"type": "text", "text": part.text}
            case FilePart() if _stands_alone(part.mime):
                yield _media(part.mime, part.url, part.filename, traits)
            case _:
                # Text files and folders stand in synthetic text already; the rest is the engine's business.
                pass


def _stands_alone(mime: str) -> bool:
    return mime.startswith(("image/", "audio/", "video/")) or mime == "application/pdf"


def _media(mime: str, url: str, name: str | None, traits: Traits) -> dict[str, Any]:
    if traits.images and mime.startswith("image/") and url.startswith(("data:", "https:", "http:")):
        return {"type": "image_url", "image_url": {"url": url}}
    return {"type": "text", "text": _unseen(mime, name)}


def _unseen(mime: str, name: str | None) -> str:
    return prompt("history/unseen", name=name or "unnamed", mime=mime)


def _same_model(one: ModelRef, other: ModelRef) -> bool:
    return (one.provider_id, one.model_id) == (other.provider_id, other.model_id)


def _thought(parts: Sequence[Part]) -> dict[str, Any]:
    """Reasoning in the member that it came in; thinking that came in none is not sent back."""
    thoughts = [part for part in parts if isinstance(part, ReasoningPart) and part.field and part.text]
    if not thoughts:
        return {}
    name = thoughts[0].field or ""
    text = "".join(part.text for part in thoughts if part.field == name)
    return {name: [{"type": "reasoning.text", "text": text}] if name == "reasoning_details" else text}


def _name(part: ToolPart) -> str:
    """A call that was cut off while it streamed has no id of the model's, and strict servers want one."""
    return part.call_id or part.id


def _call(part: ToolPart) -> dict[str, Any]:
    arguments = _text(part.state.input)
    return {
        "id": _name(part),
        "type": "function",
        "function": {"name": part.tool or "invalid", "arguments": arguments},
    }


def _result(part: ToolPart, traits: Traits) -> str:
    match part.state:
        case Completed() as state if state.time.compacted is not None:
            return prompt("history/pruned")
        case Completed() as state:
            unseen = [
                _unseen(str(item.get("mime")), item.get("filename"))
                for item in state.attachments or ()
                if not (traits.images and _is_image(item))
            ]
            return "\n".join([state.output, *unseen]) if unseen else state.output
        case Failed() as state:
            return state.error
        case Pending() | Running():
            return prompt("results/interrupted")


def _images(calls: Sequence[ToolPart], traits: Traits) -> list[bytes]:
    """Tool elements hold text alone, so images follow as the user's."""
    if not traits.images:
        return []
    states = [call.state for call in calls]
    found = [
        {"type": "image_url", "image_url": {"url": item["url"]}}
        for state in states
        if isinstance(state, Completed) and state.time.compacted is None
        for item in state.attachments or ()
        if _is_image(item)
    ]
    if not found:
        return []
    return [_json({"role": "user", "content": [{"type": "text", "text": prompt("history/images")}, *found]})]


def _is_image(item: Mapping[str, Any]) -> bool:
    return str(item.get("mime")).startswith("image/") and str(item.get("url")).startswith(("data:", "https:", "http:"))


def _text(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _json(value: object) -> bytes:
    return clean(_text(value)).encode()
