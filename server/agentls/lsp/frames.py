"""Frames of the base protocol: cutting them out of a byte stream, and putting them together."""

import re
from dataclasses import dataclass

HEADER_MOST = 8 * 1024
BODY_MOST = 64 * 1024 * 1024
# A length beyond this is taken for a broken header: skipping it would silence the stream for good.
_LENGTH_MOST = 16 * BODY_MOST

_END = b"\r\n\r\n"
_FIELD = re.compile(rb"[!-9;-~]+:[^\r\n]*")
_LENGTH_LINE = re.compile(rb"(?i)content-length:[ \t]*([0-9]{1,15})[ \t]*")
# A length in what is otherwise rubbish counts if only well-formed fields follow it.
_RESCUED = re.compile(rb"(?i)content-length:[ \t]*([0-9]{1,15})[ \t]*(?:\r\n[!-9;-~]+:[^\r\n]*)*\Z")


@dataclass(frozen=True, slots=True)
class BrokenFrame:
    """Something that is no message. `too_large` is the size of a body that was skipped."""

    reason: str
    too_large: int | None = None


def frame(body: bytes) -> bytes:
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)


class FrameCutter:
    """Cuts bodies out of a stream, however it is split. After a broken header it finds the next one."""

    def __init__(self, header_most: int = HEADER_MOST, body_most: int = BODY_MOST) -> None:
        self._header_most = header_most
        self._body_most = body_most
        self._buffer = bytearray()
        self._wanted: int | None = None
        self._skip = 0
        self._searched = 0
        self._lost = False

    def feed(self, data: bytes) -> list[bytes | BrokenFrame]:
        self._buffer += data
        found: list[bytes | BrokenFrame] = []
        while True:
            item = self._next()
            if item is None:
                return found
            if item is not _AGAIN:
                found.append(item)

    def _next(self) -> "bytes | BrokenFrame | None":
        """The next item, `_AGAIN` to go on without one, or None if more bytes are needed."""
        if self._skip:
            skipped = min(self._skip, len(self._buffer))
            del self._buffer[:skipped]
            self._skip -= skipped
            return None if self._skip else _AGAIN
        if self._wanted is not None:
            return self._body(self._wanted)
        end = self._buffer.find(_END, self._searched)
        if end < 0:
            return self._unfinished_header()
        header = bytes(self._buffer[:end])
        del self._buffer[: end + len(_END)]
        self._searched = 0
        return self._header(header)

    def _body(self, wanted: int) -> "bytes | None":
        if len(self._buffer) < wanted:
            return None
        with memoryview(self._buffer) as view, view[:wanted] as part:  # copied once: it may be large
            body = bytes(part)
        del self._buffer[:wanted]
        self._wanted = None
        return body

    def _unfinished_header(self) -> "BrokenFrame | None":
        if len(self._buffer) > self._header_most:
            del self._buffer[: len(self._buffer) - self._header_most]
            self._searched = self._header_most - len(_END) + 1
            return self._broken(f"a header of more than {self._header_most} bytes")
        self._searched = max(0, len(self._buffer) - len(_END) + 1)
        return None

    def _header(self, header: bytes) -> BrokenFrame:
        length = None if len(header) > self._header_most or self._lost else _length_of(header)
        broken: BrokenFrame = _AGAIN
        if length is None or length > _LENGTH_MOST:
            broken = self._broken("a header without a valid Content-Length")
            rescued = _RESCUED.search(header[-self._header_most :])
            length = int(rescued[1]) if rescued else None
            if length is None or length > _LENGTH_MOST:
                return broken
        self._lost = False
        if length > self._body_most:
            self._skip = length
            return BrokenFrame(f"a message of {length} bytes; the most is {self._body_most}", too_large=length)
        self._wanted = length
        return broken

    def _broken(self, reason: str) -> BrokenFrame:
        """One report for each stretch of rubbish."""
        if self._lost:
            return _AGAIN
        self._lost = True
        return BrokenFrame(reason)


_AGAIN = BrokenFrame("")


def _length_of(header: bytes) -> int | None:
    """The length that a well-formed header gives; names of fields are case-insensitive."""
    lengths: set[int] = set()
    for line in header.split(b"\r\n"):
        if _FIELD.fullmatch(line) is None:
            return None
        if (match := _LENGTH_LINE.fullmatch(line)) is not None:
            lengths.add(int(match[1]))
        elif line[:15].lower() == b"content-length:":
            return None
    return lengths.pop() if len(lengths) == 1 else None
