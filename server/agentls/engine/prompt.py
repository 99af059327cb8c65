"""A prompt on its way in: what a client sent becomes a user message and its parts."""

import hashlib
import mimetypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, assert_never

from pydantic_core import to_json

from agentls.config.prompts import prompt
from agentls.engine.transcript import Writer
from agentls.errors import AgentError, ErrorKind, invalid_param
from agentls.schema.base import Value, now
from agentls.schema.ids import Prefix, is_message_id, new
from agentls.schema.input import (
    AgentInput,
    DiagnosticsInput,
    FileInput,
    ImageInput,
    InputPart,
    ResourceInput,
    SelectionInput,
    TextInput,
)
from agentls.schema.message import Created, UserMessage
from agentls.schema.model import ModelRef
from agentls.schema.part import AgentPart, FilePart, Part, TextPart
from agentls.schema.text import clean
from agentls.workspace.resolve import file_path

Delivery = Literal["steer", "queue", "reject"]


class PromptRequest(Value):
    """`session/prompt`, as the engine takes it and as the queue keeps it."""

    session_id: str
    parts: tuple[InputPart, ...]
    message_id: str | None = None
    delivery: Delivery = "steer"
    agent: str | None = None
    model: ModelRef | None = None
    system: str | None = None
    format: dict[str, Any] | None = None
    no_reply: bool = False


def digest_of(request: Value) -> str:
    """Equal for equal requests: it makes a client's `messageId` idempotent."""
    return hashlib.blake2b(request.wire(), digest_size=16).hexdigest()


@dataclass(frozen=True, slots=True)
class Chosen:
    """The agent and model that a prompt is answered by."""

    agent: str
    model: ModelRef


def checked_message_id(message_id: str | None) -> str:
    if message_id is None:
        return new(Prefix.MESSAGE)
    if not is_message_id(message_id):
        raise invalid_param(
            "messageId",
            f"`messageId` {message_id!r} is not of the form msg_ + ULID (26 characters). Leave it out to get one.",
        )
    return message_id


def checked_format(answer_format: dict[str, Any] | None) -> None:
    """Only plain text so far: an answer that looked structured and was not would be worse than a refusal."""
    if answer_format is not None and answer_format.get("type", "text") != "text":
        raise AgentError(
            ErrorKind.NOT_SUPPORTED, "Structured answers come in a later version: leave `format` out, or ask for text."
        )


def checked_parts(parts: Sequence[InputPart]) -> None:
    """A prompt that says nothing would be a request that no model answers."""
    if not parts:
        raise invalid_param("parts", "`parts` is empty. Give at least one part, such as a text.")


Attached = Callable[[SelectionInput | DiagnosticsInput], str]
"""What of the editor was attached, in words for the model."""


def store_prompt(
    writer: Writer,
    request: PromptRequest,
    message_id: str,
    chosen: Chosen,
    notes: Sequence[str],
    attached: Attached,
) -> UserMessage:
    """Store the message and its raw parts; expansion comes as the turn's first act. `notes` are further texts for the
    model, such as a new date.
    """
    message = UserMessage(
        id=message_id,
        session_id=request.session_id,
        pos=writer.place(),
        time=Created(created=now()),
        agent=chosen.agent,
        model=chosen.model,
        format=request.format,
        system=request.system,
    )
    writer.message(message, digest_of(request))
    for part in request.parts:
        writer.part(_stored(part, writer.ids(message.id), attached))
    for note in notes:
        writer.part(TextPart(**writer.ids(message.id), text=note, synthetic=True))
    return message


def store_synthetic(
    writer: Writer, session_id: str, text: str, chosen: Chosen, message_id: str | None = None, digest: str | None = None
) -> UserMessage:
    """A user message that the engine writes itself."""
    message = UserMessage(
        id=message_id or new(Prefix.MESSAGE),
        session_id=session_id,
        pos=writer.place(),
        time=Created(created=now()),
        agent=chosen.agent,
        model=chosen.model,
    )
    writer.message(message, digest)
    writer.part(TextPart(**writer.ids(message.id), text=text, synthetic=True))
    return message


def _stored(part: InputPart, ids: dict[str, Any], attached: Attached) -> Part:
    match part:
        case TextInput():
            return TextPart(**ids, text=part.text)
        case ImageInput():
            return FilePart(**ids, mime=part.mime_type, url=f"data:{part.mime_type};base64,{part.data}")
        case FileInput():
            return _file(part, ids)
        case AgentInput():
            return AgentPart(**ids, name=part.name)
        case ResourceInput():
            text = prompt("input/resource", uri=part.uri, text=part.text or "")
            return TextPart(**ids, text=text, synthetic=True)
        case SelectionInput() | DiagnosticsInput():
            return TextPart(**ids, text=attached(part), synthetic=True)
        case _:
            assert_never(part)


def _file(part: FileInput, ids: dict[str, Any]) -> FilePart:
    path = path_of(part.uri)
    mime = mimetypes.guess_type(path)[0] or "text/plain"
    lines = ""
    if part.range is not None:
        lines = f"?start={part.range.start.line + 1}&end={part.range.end.line + 1}"
    source = {"type": "file", "path": path, "expanded": False}
    return FilePart(**ids, mime=mime, filename=path.rsplit("/", 1)[-1], url=part.uri + lines, source=source)


def path_of(uri: str) -> str:
    """The path of a `file:` URI in characters that can be stored; anything else as it is."""
    path = file_path(uri)
    return uri if path is None else clean(str(path))


def queued_wire(request: PromptRequest, message_id: str) -> str:
    """What a client sees of a queued prompt."""
    text = " ".join(part.text for part in request.parts if isinstance(part, TextInput))
    members = {
        "messageId": message_id,
        "text": text,
        "parts": [part.members() for part in request.parts],
        "createdAt": now(),
    }
    return to_json(members).decode()
