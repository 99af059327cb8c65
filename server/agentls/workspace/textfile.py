"""Text files, decoded and encoded so that what is not edited stays byte for byte."""

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from agentls.errors import ToolError
from agentls.later import Later
from agentls.schema.text import clean

if TYPE_CHECKING:
    import charset_normalizer
else:
    charset_normalizer = Later("charset_normalizer")

UTF8_BOM = b"\xef\xbb\xbf"
_SAMPLE = 65536
_SURROGATE = re.compile("[\ud800-\udfff]")
_ESCAPED = re.compile("[\udc80-\udcff]")
_UNREADABLE = "�"


@dataclass(frozen=True, slots=True)
class Span:
    """`text` replaces what stands from `start` to `end` of a view."""

    start: int
    end: int
    text: str


def split_lines(text: str) -> list[str]:
    """Lines with their line feeds; other separators of Unicode divide nothing."""
    lines = text.split("\n")
    return [line + "\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])


@dataclass(frozen=True)
class Text:
    """A decoded file. `raw` has the file's own line endings and no byte order mark; undecodable bytes are kept as
    surrogates, an odd last byte in `tail`.
    """

    raw: str
    encoding: str = "utf-8"
    bom: bytes = b""
    tail: bytes = b""

    @cached_property
    def view(self) -> str:
        """What a model sees and quotes: line feeds only, U+FFFD for what cannot be decoded."""
        view = self.raw.replace("\r\n", "\n")
        try:
            view.encode()
        except UnicodeEncodeError:
            return _SURROGATE.sub(_UNREADABLE, view)
        return view

    @cached_property
    def _crlf(self) -> list[int]:
        """Where in the view the line feeds stand that are CRLF in the file."""
        return [found.start() - i for i, found in enumerate(re.finditer("\r\n", self.raw))]

    @cached_property
    def newline(self) -> str:
        """The line ending that most lines have."""
        crlf = len(self._crlf)
        return "\r\n" if crlf * 2 > self.raw.count("\n") else "\n"

    def raw_index(self, index: int) -> int:
        """The place in `raw` of a place in the view."""
        return index + bisect_left(self._crlf, index)

    def splice(self, spans: Sequence[Span]) -> "Text":
        """This text with some spans of its view replaced; line endings and all the rest stay."""
        pieces: list[str] = []
        done = 0
        for span in sorted(spans, key=lambda s: s.start):
            raw = self.placed(span)
            pieces += [self.raw[done : raw.start], raw.text]
            done = raw.end
        pieces.append(self.raw[done:])
        return Text("".join(pieces), self.encoding, self.bom, self.tail)

    def placed(self, span: Span) -> Span:
        """A span of the view as one of `raw`, its text with the line endings of the place."""
        start, end = self.raw_index(span.start), self.raw_index(span.end)
        return Span(start, end, self._as_here(span.text, start, end))

    def rewritten(self, view: str) -> "Text":
        """This file with a wholly new text: lines that are the same at both ends keep their bytes."""
        view = clean(view.removeprefix("\ufeff").replace("\r\n", "\n"))
        old, new = split_lines(self.view), split_lines(view)
        head = 0
        while head < min(len(old), len(new)) and old[head] == new[head]:
            head += 1
        rest = 0
        while rest < min(len(old), len(new)) - head and old[-1 - rest] == new[-1 - rest]:
            rest += 1
        start, end = sum(map(len, old[:head])), len(self.view) - sum(map(len, old[len(old) - rest :]))
        return self.splice([Span(start, end, "".join(new[head : len(new) - rest]))])

    def encode(self) -> bytes:
        try:
            return self.bom + self.raw.encode(self.encoding, _errors(self.encoding)) + self.tail
        except UnicodeEncodeError as error:
            wrong = self.raw[error.start : error.end][:10]
            raise ToolError(
                f"The file is encoded as {self.encoding}, which cannot hold {wrong!r}. Use other characters, or write "
                "the whole file anew with bash in another encoding.",
                f"{self.encoding} cannot hold {wrong!r}",
            ) from error

    def _as_here(self, text: str, start: int, end: int) -> str:
        """New text with the line endings, and the undecodable bytes, of what it replaces."""
        replaced = self.raw[start:end]
        text = _restore(clean(text.replace("\r\n", "\n")), replaced)
        endings = re.findall("\r?\n", replaced)
        last = endings[-1] if endings else self._ending_near(start)
        lines = text.split("\n")
        joined = [line + (endings[i] if i < len(endings) else last) for i, line in enumerate(lines[:-1])]
        return "".join(joined) + lines[-1]

    def _ending_near(self, start: int) -> str:
        found = self.raw.find("\n", start)
        if found < 0:
            return self.newline
        return "\r\n" if self.raw[found - 1 : found] == "\r" else "\n"


def decode(data: bytes) -> Text:
    """Any bytes as text; `decode(data).encode() == data` holds for all of them."""
    if data.startswith(UTF8_BOM):
        return Text(data[3:].decode("utf-8", "surrogateescape"), "utf-8", UTF8_BOM)
    for bom, encoding in ((b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be")):
        if data.startswith(bom):
            return _utf16(data, bom, encoding)
    try:
        return Text(data.decode("utf-8"))
    except UnicodeDecodeError:
        return _legacy(data)


def _utf16(data: bytes, bom: bytes, encoding: str) -> Text:
    cut = len(data) - len(data) % 2
    text = Text(data[2:cut].decode(encoding, "surrogatepass"), encoding, bom, data[cut:])
    return text if text.encode() == data else Text(data.decode("latin-1"), "latin-1")


def _legacy(data: bytes) -> Text:
    escaped = data.decode("utf-8", "surrogateescape")
    bad = len(_ESCAPED.findall(escaped))
    good = sum(1 for c in escaped[:_SAMPLE] if ord(c) > 127) - len(_ESCAPED.findall(escaped[:_SAMPLE]))
    if good >= bad:  # valid sequences of several bytes hardly ever arise by chance: UTF-8 with a few bad bytes
        return Text(escaped)
    best = charset_normalizer.from_bytes(_around(data)).best()
    if best is None:
        return Text(escaped)
    try:
        text = Text(data.decode(best.encoding), best.encoding)
        return text if text.encode() == data else Text(escaped)
    except (UnicodeError, LookupError, ToolError):
        return Text(escaped)


def _around(data: bytes) -> bytes:
    """A sample that holds the first byte which is not ASCII."""
    if len(data) <= _SAMPLE:
        return data
    found = re.search(rb"[\x80-\xff]", data)
    start = max(0, (found.start() if found else 0) - _SAMPLE // 2)
    return data[start : start + _SAMPLE]


def _errors(encoding: str) -> str:
    match encoding:
        case "utf-8":
            return "surrogateescape"
        case "utf-16-le" | "utf-16-be":
            return "surrogatepass"
        case _:
            return "strict"


def _restore(text: str, replaced: str) -> str:
    """U+FFFD stands for bytes that cannot be shown: put them back, in order, where the new text keeps all of them."""
    lost = [c for c in replaced if c == _UNREADABLE or "\ud800" <= c <= "\udfff"]
    if not any(c != _UNREADABLE for c in lost) or _UNREADABLE not in text:
        return text
    if text.count(_UNREADABLE) != len(lost):
        raise ToolError(
            "The part to replace holds bytes that are no text (shown as U+FFFD). Keep all or none of them in newString."
        )
    kept = iter(lost)
    return "".join(next(kept) if c == _UNREADABLE else c for c in text)
