"""Selections and diagnostics that a user attached, in words for the model, against the documents as they are now."""

from agentls.config.prompts import prompt
from agentls.engine.prompt import path_of
from agentls.schema.input import Diagnostic, DiagnosticsInput, LineRange, SelectionInput
from agentls.tools.diagnostics import diagnostic_row
from agentls.workspace.buffers import Buffers
from agentls.workspace.editor import Document


class Attachments:
    def __init__(self, buffers: Buffers) -> None:
        self._buffers = buffers

    def text(self, part: SelectionInput | DiagnosticsInput) -> str:
        document = self._buffers.document(part.uri)
        if isinstance(part, DiagnosticsInput):
            lines = "\n".join(diagnostic_row(_counted(item, document)) for item in part.items)
            return prompt("input/diagnostics", path=path_of(part.uri), lines=lines or "(none)")
        first, last = _lines(part.range)
        path = path_of(part.uri)
        text = prompt("input/selection", path=path, first=first, last=last, text=part.text)
        note = _since(part, document) if document is not None else None
        return text if note is None else f"{text}\n\n{note}"


def _lines(place: LineRange) -> tuple[int, int]:
    """The first and the last line, from 1; whole lines end at the start of the next."""
    first, end = place.start.line + 1, place.end
    return first, max(first, end.line + (end.character > 0))


def _since(part: SelectionInput, document: Document) -> str | None:
    """What became of the text since it was selected; None where it stands as it stood."""
    if part.version == document.version or not part.text:
        return None
    text, wanted = document.text, part.text
    if text[document.offset(part.range.start) : document.offset(part.range.end)] == wanted:
        return None
    text, wanted = text.replace("\r\n", "\n"), wanted.replace("\r\n", "\n")
    place = text.find(wanted)
    if place < 0 or text.find(wanted, place + 1) >= 0:
        return prompt("input/selection-changed")
    first = text.count("\n", 0, place) + 1
    last = first + wanted.removesuffix("\n").count("\n")
    if (first, last) == _lines(part.range):
        return None
    return prompt("input/selection-moved", first=first, last=last)


def _counted(item: Diagnostic, document: Document | None) -> Diagnostic:
    """Its place in characters, where the document can tell."""
    return item if item.range is None or document is None else item.but(range=document.counted(item.range))
