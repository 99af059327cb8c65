"""Open documents beside their files: which of both counts for reading, and how a change gets into it."""

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path

from anyio import to_thread

from agentls.schema.change import content_hash, content_hasher
from agentls.workspace.editor import Applied, BufferEdit, Document, Editor, Headless
from agentls.workspace.files import FileContent, read_now
from agentls.workspace.hunks import hunks
from agentls.workspace.resolve import real_path
from agentls.workspace.textfile import Span, Text, decode

UNTITLED = "untitled:"
_WRITTEN_MOST = 200
_BLOCK = 256 * 1024
_MARK = "\ufeff"


class Standing(Enum):
    """Buffer and disk against their common base."""

    CLOSED = "not open"
    SAME = "buffer and disk agree"
    STALE = "the buffer is as it was, the disk moved on"
    DIRTY = "the buffer moved on, the disk is as it was"
    CONFLICT = "both moved on"
    UNTITLED = "no file"


@dataclass(frozen=True, slots=True)
class Sight:
    """A file as it stood at one moment. `content` is what counts: the disk's bytes, or the buffer's as UTF-8.

    `also` is the hash of the same text at the other of the two places, `text` the buffer's at `version`; `at` when it
    was looked at, on the monotonic clock.
    """

    standing: Standing
    content: FileContent
    document: Document | None = None
    version: int = 0
    text: str = ""
    also: str | None = None
    at: float = 0.0

    @property
    def in_buffer(self) -> bool:
        return self.standing in {Standing.DIRTY, Standing.CONFLICT, Standing.UNTITLED}

    def is_seen(self, digest: str | None) -> bool:
        """Whether a content of that hash is this one, or was before it went from buffer to disk."""
        return digest == self.content.hash or (digest is not None and digest == self.also)


@dataclass(frozen=True, slots=True)
class Disk:
    """A file's text as it is compared: its hash, and what tells without reading that it is another by now."""

    base: str
    mark: object


class Buffers:
    """What tools ask of the editor. Without one, every file is what the disk holds."""

    def __init__(self) -> None:
        self.editor: Editor = Headless()
        self._written: dict[Path, float] = {}

    def connect(self, editor: Editor) -> None:
        self.editor = editor

    def document(self, uri: str) -> Document | None:
        return self.editor.document(uri)

    def untitled(self, uri: str) -> Document | None:
        """The open document of that name which is no file."""
        return self.document(uri) if uri.startswith(UNTITLED) else None

    def of(self, path: Path) -> list[Document]:
        """The documents that show a real path; more than one where links lead to it."""
        return [one for one in self.editor.documents() if path == (one.path or Path(one.uri))]

    async def see(self, path: Path) -> Sight | None:
        """None where the path is not open, so that only the disk counts."""
        sights = [await self._see(path, document) for document in self.of(path)]
        if not sights:
            return None
        dirty = [sight for sight in sights if sight.in_buffer]
        return (dirty or sights)[0]

    async def content(self, path: Path) -> Sight:
        """The whole file, from where it counts."""
        at = time.monotonic()
        sight = await self.see(path)
        return sight or Sight(Standing.CLOSED, await to_thread.run_sync(read_now, path), at=at)

    def touched(self, sight: Sight) -> bool:
        """Whether an editor opened or changed that file since."""
        return any(document.touched > sight.at for document in self.of(sight.content.path))

    async def _see(self, path: Path, document: Document) -> Sight:
        await document.settled()
        at, looks = time.monotonic(), document.looks
        version, text, base = document.version, document.text, document.base
        if document.path is None:
            data = await to_thread.run_sync(text.encode)
            return Sight(Standing.UNTITLED, _buffer(path, data), document, version, text)
        sight, disk = await to_thread.run_sync(lambda: _compared(path, document, version, text, base))
        if sight.standing is Standing.SAME:
            document.agree(looks, disk.base, disk.mark)
            if document.version == version:
                document.ours = False
        return replace(sight, at=at)

    async def change(self, sight: Sight, data: bytes, label: str, check_open: Callable[[], None]) -> Applied:
        """Brings a new content, made on that of `sight`, into the document that the sight is of."""
        document = sight.document
        if document is None or document.version != sight.version:
            return Applied.MOVED
        edit = await to_thread.run_sync(_edit, sight, data, label)
        if not edit.spans:
            return Applied.CONFIRMED
        done = await self.editor.apply(document, edit, check_open)
        if done is Applied.CONFIRMED:
            document.ours = True
        return done

    async def save(self, document: Document) -> bool:
        """Asks the editor to save it; whether the disk has it all now."""
        if not self.editor.saves or not await self.editor.save(document):
            return False
        await document.settled()
        return document.path is not None and (await self._see(document.path, document)).standing is Standing.SAME

    async def save_ours(self, folders: Sequence[Path]) -> tuple[Path, ...]:
        """Before a command: saves the documents that carry changes of ours. Returns those below the folders that stay
        unsaved, whoever changed them. What changed on the disk too is not saved over.
        """
        for document in self.editor.documents():
            if not document.ours or document.path is None:
                continue
            if (await self._see(document.path, document)).standing is Standing.DIRTY:
                await self.save(document)
        return await self.unsaved(folders)

    async def unsaved(self, folders: Sequence[Path]) -> tuple[Path, ...]:
        """The files below the folders whose buffers hold what the disk does not."""
        found: dict[Path, None] = {}
        for document in self.editor.documents():
            path = document.path
            if path is not None and any(map(path.is_relative_to, folders)) and await _unsaved(document):
                found[path] = None
        return tuple(found)

    async def places(self, uris: Sequence[str]) -> list[Path | None]:
        """Their real paths; of an untitled document its name. None for what is no file."""
        known = {uri: document.path or Path(document.uri) for uri in uris if (document := self.document(uri))}
        return await to_thread.run_sync(lambda: [known.get(uri) or real_path(uri) for uri in uris])

    def wrote(self, path: Path) -> None:
        """A tool changed a file on the disk."""
        self._written[path] = time.monotonic()
        if len(self._written) > _WRITTEN_MOST:
            self._written.pop(next(iter(self._written)))

    def written(self, path: Path) -> float:
        """When a tool last changed it on the disk, on the monotonic clock."""
        return self._written.get(path, -math.inf)


async def _unsaved(document: Document) -> bool:
    await document.settled()
    if document.base is None:  # a pipe, or what may not be read: no file for us
        return False
    version, text = document.version, document.text
    if document.digest is None or document.digest[0] != version:
        document.digest = (version, await to_thread.run_sync(text_hash, text))
    return document.digest[1] != document.base


def text_hash(text: str) -> str:
    """How a text is compared: line feeds, no byte order mark, and no matter whether the last line is ended, which some
    editors mend on their way to and from the disk.
    """
    start, end = int(text.startswith(_MARK)), len(text) - text.endswith("\n") - text.endswith("\r\n")
    digest = content_hasher()
    while start < end:  # in blocks, between which other threads get on
        stop = min(start + _BLOCK, end)
        stop -= stop < end and text[stop - 1] == "\r"
        digest.update(text[start:stop].replace("\r\n", "\n").encode("utf-8", "surrogatepass"))
        start = stop
    return digest.hexdigest()


def disk_of(path: Path) -> tuple[FileContent, Disk]:
    """A file that is not there counts as empty. Call it in a thread."""
    mark = mark_of(path)
    content = read_now(path)
    return content, Disk(text_hash(decode(content.data).view) if content.data else text_hash(""), mark)


def mark_of(path: Path) -> object:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns


def names(paths: Sequence[Path], root: Path, most: int = 10) -> str:
    """A few files for a sentence."""
    shown = [path.relative_to(root).as_posix() if path.is_relative_to(root) else str(path) for path in paths[:most]]
    return ", ".join(shown) + (f" and {len(paths) - most} more" if len(paths) > most else "")


def _compared(path: Path, document: Document, version: int, text: str, base: str | None) -> tuple[Sight, Disk]:
    content, disk = disk_of(path)
    mine, data = text_hash(text), text.encode("utf-8", "surrogatepass")
    if mine == disk.base:
        also = content_hash(data)
        return Sight(Standing.SAME, content, document, version, text, also), disk
    if mine == base:
        return Sight(Standing.STALE, content, document, version, text), disk
    standing = Standing.DIRTY if disk.base == base else Standing.CONFLICT
    return Sight(standing, _buffer(path, data), document, version, text), disk


def _buffer(path: Path, data: bytes) -> FileContent:
    return FileContent(path, data, content_hash(data))


def _edit(sight: Sight, data: bytes, label: str) -> BufferEdit:
    """The new content may have the disk's line endings: what is put into the buffer has the buffer's."""
    start = len(sight.text) - len(sight.text.removeprefix(_MARK))
    buffer = Text(sight.text[start:])
    placed = (buffer.placed(span) for span in hunks(buffer.view, decode(data).view))
    spans = tuple(Span(span.start + start, span.end + start, span.text) for span in placed)
    return BufferEdit(sight.version, sight.text, spans, label)
