"""The editor as the tools see it: its open documents, and what it can be asked to do with them."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Protocol

import anyio

from agentls.schema.input import Diagnostic, LinePosition, LineRange
from agentls.workspace.textfile import Span


class LiveText(Protocol):
    """A document's text as the editor tells it. Positions are given as the editor counts: `offset` is the place in the
    text, `counted` the same range in characters.
    """

    @property
    def version(self) -> int | None: ...

    @property
    def source(self) -> str: ...

    def offset(self, position: LinePosition) -> int: ...

    def counted(self, place: LineRange) -> LineRange: ...


class Document:
    """An open document. `path` is its real path, None where it is no file (untitled).

    `base` is the hash of the disk's text when buffer and disk were last known to agree. `ours` says that the buffer
    carries a change of ours which is not saved; `mark` is what the disk's file looked like when `base` was taken;
    `touched` when the text changed last, on the monotonic clock; `digest` the text's hash, at a version.
    """

    def __init__(self, uri: str, path: Path | None, live: LiveText) -> None:
        self.uri = uri
        self.path = path
        self.base: str | None = None
        self.mark: object = None
        self.ours = False
        self.open = True
        self.touched = time.monotonic()
        self.digest: tuple[int, str] | None = None
        self._live = live
        self._known = anyio.Event()
        self._asked = 0

    @property
    def version(self) -> int:
        return self._live.version or 0

    @property
    def text(self) -> str:
        return self._live.source

    def offset(self, position: LinePosition) -> int:
        return self._live.offset(position)

    def counted(self, place: LineRange) -> LineRange:
        return self._live.counted(place)

    @property
    def looks(self) -> int:
        """How often `begin` was called."""
        return self._asked

    def begin(self) -> int:
        """A new look at the disk begins: `base` is not known until it ends."""
        if self._known.is_set():
            self._known = anyio.Event()
        self._asked += 1
        return self._asked

    def settle(self, ticket: int, base: str | None, mark: object) -> None:
        """The look that `begin` gave the ticket for has ended; an older one counts no more."""
        if ticket == self._asked:
            self.base, self.mark = base, mark
            self._known.set()

    def agree(self, looks: int, base: str, mark: object) -> None:
        """Buffer and disk were seen to hold the same text; that counts no more if `begin` was called since `looks`."""
        if looks == self._asked:
            self.base, self.mark = base, mark

    async def settled(self) -> None:
        await self._known.wait()


class Applied(Enum):
    """What became of an edit: UNKNOWN where the text did not come in time, MOVED where the text was another before."""

    CONFIRMED = "confirmed"
    REFUSED = "refused"
    UNKNOWN = "unknown"
    MOVED = "moved"


@dataclass(frozen=True, slots=True)
class BufferEdit:
    """`spans` of `text`, the document at `version`, are to be replaced; `label` is what the editor's undo may show."""

    version: int
    text: str
    spans: tuple[Span, ...]
    label: str


@dataclass(frozen=True, slots=True)
class FileDiagnostics:
    """What the editor shows for one document, positions in characters. `version` is the text's that they are about."""

    uri: str
    items: tuple[Diagnostic, ...]
    version: int | None


class Editor(Protocol):
    """Who hosts us. `edits`, `saves`, `diagnoses` say what it can be asked, and may change while it lives."""

    @property
    def edits(self) -> bool: ...

    @property
    def saves(self) -> bool: ...

    @property
    def diagnoses(self) -> bool: ...

    def documents(self) -> Sequence[Document]: ...

    def document(self, uri: str) -> Document | None:
        """The open document of that name, whichever of its characters are percent-encoded."""
        ...

    async def apply(self, document: Document, edit: BufferEdit, check_open: Callable[[], None]) -> Applied:
        """Raises what `check_open` raises, called right before the edit is sent."""
        ...

    async def save(self, document: Document) -> bool: ...

    async def diagnostics(self, uri: str | None) -> tuple[FileDiagnostics, ...] | None:
        """Of one document or all; None where the editor does not say."""
        ...

    async def looking(self) -> str | None:
        """The URI of what the user looks at; None where the editor does not say."""
        ...


class Headless:
    """No editor: nothing is open."""

    edits = False
    saves = False
    diagnoses = False

    def documents(self) -> Sequence[Document]:
        return ()

    def document(self, uri: str) -> Document | None:
        _ = uri
        return None

    async def apply(self, document: Document, edit: BufferEdit, check_open: Callable[[], None]) -> Applied:
        _ = document, edit, check_open
        return Applied.REFUSED

    async def save(self, document: Document) -> bool:
        _ = document
        return False

    async def diagnostics(self, uri: str | None) -> tuple[FileDiagnostics, ...] | None:
        _ = uri
        return None

    async def looking(self) -> str | None:
        return None
