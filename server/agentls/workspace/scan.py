"""Reads a window of lines of a file of any size, in bounded memory, hashing all of it on the way."""

import codecs
import os
from dataclasses import dataclass, field
from io import FileIO
from pathlib import Path

from agentls.schema.change import content_hash, content_hasher
from agentls.workspace.binary import UTF16_BOMS, attachment_mime, binary_type
from agentls.workspace.opened import folder_of, regular_file
from agentls.workspace.textfile import decode

_WHOLE = 4 * 1024 * 1024
_BLOCK = 1024 * 1024


@dataclass(slots=True)
class Line:
    """`text` is the part of the line that was asked for; `length` counts all its characters."""

    number: int
    text: str
    length: int


@dataclass(frozen=True, slots=True)
class Window:
    """`kept` is the whole content where the file is small enough to be held."""

    lines: tuple[Line, ...]
    total: int
    size: int
    hash: str
    kept: bytes | None


@dataclass(frozen=True, slots=True)
class Binary:
    """A file that is no text. `mime` is set where a model can be shown it."""

    kind: str
    size: int
    mime: str | None


@dataclass(slots=True)
class Picker:
    """Takes lines `offset` to `offset + limit - 1` (1-based) out of a text that arrives in blocks, of each line `width`
    characters after the first `skip`.
    """

    offset: int
    limit: int
    skip: int = 0
    width: int = 2000
    number: int = 1
    length: int = 0
    lines: list[Line] = field(default_factory=list[Line])

    def feed(self, block: str) -> None:
        start = 0
        while True:
            end = block.find("\n", start)
            if end < 0:
                self._take(block, start, len(block))
                return
            self._take(block, start, end)
            self._end_line()
            start = end + 1

    def finish(self) -> None:
        """A text's last line needs no line feed; an empty text has no line."""
        if self.length:
            self._end_line()
        elif self.lines and self.lines[-1].number == self.number:
            self.lines.pop()

    def _take(self, block: str, start: int, end: int) -> None:
        if self.offset <= self.number < self.offset + self.limit:
            self._store(block, start, end)
        self.length += end - start

    def _store(self, block: str, start: int, end: int) -> None:
        if not self.lines or self.lines[-1].number != self.number:
            self.lines.append(Line(self.number, "", 0))
        line = self.lines[-1]
        first = max(start, start + self.skip - self.length)
        last = min(end, start + self.skip + self.width - self.length)
        if first < last:
            line.text += block[first:last]

    def _end_line(self) -> None:
        if self.lines and self.lines[-1].number == self.number:
            line = self.lines[-1]
            line.length = self.length
            if line.text.endswith("\r") and self.skip + len(line.text) == self.length:
                line.text, line.length = line.text[:-1], self.length - 1
        self.number += 1
        self.length = 0


def scan(path: Path, picker: Picker) -> Window | Binary | None:
    """None where no file stands. Every byte is looked at: a NUL anywhere makes the file binary."""
    try:
        with folder_of(path) as folder, regular_file(folder, path.name, path) as found:
            return None if found is None else _scan(*found, picker)
    except FileNotFoundError:
        return None


def _scan(file: FileIO, status: os.stat_result, picker: Picker) -> Window | Binary:
    head = file.read(_BLOCK)
    kind = binary_type(head)
    if kind is not None:
        return Binary(kind, status.st_size, attachment_mime(head))
    if status.st_size <= _WHOLE:
        return scan_bytes(head + file.readall(), picker)
    return _large(head, file, picker)


def scan_bytes(data: bytes, picker: Picker) -> Window | Binary:
    kind = binary_type(data)
    if kind is not None:
        return Binary(kind, len(data), None)
    picker.feed(decode(data).view)
    picker.finish()
    return Window(tuple(picker.lines), picker.number - 1, len(data), content_hash(data), data)


def _large(head: bytes, file: FileIO, picker: Picker) -> Window | Binary:
    encoding = {UTF16_BOMS[0]: "utf-16", UTF16_BOMS[1]: "utf-16"}.get(head[:2], "utf-8-sig")
    decoder = codecs.getincrementaldecoder(encoding)("replace")
    digest, size, block = content_hasher(), 0, head
    while block:
        if size and encoding == "utf-8-sig" and b"\0" in block:
            return Binary("data with NUL bytes", size, None)
        digest.update(block)
        size += len(block)
        picker.feed(decoder.decode(block))
        block = file.read(_BLOCK)
    picker.feed(decoder.decode(b"", final=True))
    picker.finish()
    return Window(tuple(picker.lines), picker.number - 1, size, digest.hexdigest(), None)
