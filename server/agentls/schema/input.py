"""What a client may put into a prompt."""

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from agentls.schema.base import Value


class LinePosition(Value):
    line: int
    character: int = 0


class LineRange(Value):
    """As in LSP: zero-based, the end excluded."""

    start: LinePosition
    end: LinePosition


class TextInput(Value):
    type: Literal["text"] = "text"
    text: str


class ImageInput(Value):
    """`data` is base64."""

    type: Literal["image"] = "image"
    data: str
    mime_type: str


class FileInput(Value):
    type: Literal["file"] = "file"
    uri: str
    range: LineRange | None = None


class ResourceInput(Value):
    type: Literal["resource"] = "resource"
    uri: str
    name: str | None = None
    text: str | None = None


class AgentInput(Value):
    type: Literal["agent"] = "agent"
    name: str


class SelectionInput(Value):
    type: Literal["selection"] = "selection"
    uri: str
    range: LineRange
    text: str
    version: int | None = None


def _plain(code: object) -> object:
    return code if isinstance(code, str | int) else None


class Diagnostic(Value):
    """As in LSP; its further members are not looked at."""

    message: str
    range: LineRange | None = None
    severity: Literal[1, 2, 3, 4] | None = None
    source: str | None = None
    code: Annotated[str | int | None, BeforeValidator(_plain)] = None


class DiagnosticsInput(Value):
    type: Literal["diagnostics"] = "diagnostics"
    uri: str
    items: tuple[Diagnostic, ...]


InputPart = Annotated[
    TextInput | ImageInput | FileInput | ResourceInput | AgentInput | SelectionInput | DiagnosticsInput,
    Field(discriminator="type"),
]
