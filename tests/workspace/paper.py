"""An editor on paper: documents that tests write, and edits that end as they say."""

import time
from collections.abc import Callable, Sequence
from pathlib import Path

from agentls.schema.input import LinePosition, LineRange
from agentls.workspace.buffers import Buffers, text_hash
from agentls.workspace.editor import Applied, BufferEdit, Document, FileDiagnostics
from agentls.workspace.hunks import applied


class Paper:
    """A document's text, written by the test."""

    def __init__(self, text: str) -> None:
        self.source = text
        self.version: int | None = 1

    def offset(self, position: LinePosition) -> int:
        return position.character

    def counted(self, place: LineRange) -> LineRange:
        return place

    def write(self, text: str) -> None:
        self.source = text
        self.version = (self.version or 0) + 1


class PaperEditor:
    """The port without a wire."""

    edits = saves = diagnoses = True

    def __init__(self, *documents: Document) -> None:
        self.open = documents
        self.papers: dict[str, Paper] = {}
        self.outcome = Applied.CONFIRMED
        self.told: tuple[FileDiagnostics, ...] = ()

    def type(self, document: Document, text: str) -> None:
        self.papers[document.uri].write(text)
        document.touched = time.monotonic()

    def documents(self) -> Sequence[Document]:
        return self.open

    def document(self, uri: str) -> Document | None:
        return next((one for one in self.open if one.uri == uri), None)

    async def apply(self, document: Document, edit: BufferEdit, check_open: Callable[[], None]) -> Applied:
        check_open()
        if self.outcome is Applied.CONFIRMED:
            self.papers[document.uri].write(applied(edit.text, edit.spans))
        return self.outcome

    async def save(self, document: Document) -> bool:
        assert document.path
        document.path.write_text(document.text)
        return True

    async def diagnostics(self, uri: str | None) -> tuple[FileDiagnostics, ...] | None:
        return self.told

    async def looking(self) -> str | None:
        return None


def opened(path: Path, text: str, base: str | None = None) -> tuple[Buffers, PaperEditor, Document, Paper]:
    paper = Paper(text)
    document = Document(path.as_uri(), path, paper)
    document.settle(document.begin(), text_hash(text if base is None else base), None)
    editor, buffers = PaperEditor(document), Buffers()
    editor.papers[document.uri] = paper
    buffers.connect(editor)
    return buffers, editor, document, paper
