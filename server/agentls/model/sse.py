"""Server-sent events in, chunks out: pure, and forgiving where servers stray from the format."""

import json
from typing import NoReturn, cast

from pydantic_core import from_json

from agentls.model import failures
from agentls.model.failures import Endpoint

_LARGEST = 64 * 1024 * 1024
_LARGEST_FRAME = 16 * 1024 * 1024
_BOM = b"\xef\xbb\xbf"


class SseParser:
    """Bytes in, `(event, data)` frames out; comments are dropped. A frame is given when its blank line came."""

    def __init__(self) -> None:
        self._tail = b""
        self._event = b""
        self._named = False
        self._data: list[bytes] = []
        self._size = 0
        self.stray = b""

    @property
    def at_rest(self) -> bool:
        """Whether the next byte begins a frame."""
        return not (self._tail or self._data or self._named)

    @property
    def held(self) -> int:
        """Bytes of a frame that has not ended yet."""
        return self._size + len(self._tail)

    def feed(self, chunk: bytes) -> list[tuple[bytes, bytes]]:
        buffer = self._tail + chunk if self._tail else chunk
        if b"\r" in buffer:
            held = b"\r" if buffer.endswith(b"\r") else b""
            buffer = buffer.removesuffix(b"\r").replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        else:
            held = b""
        lines = buffer.split(b"\n")
        self._tail = lines.pop() + held
        frames: list[tuple[bytes, bytes]] = []
        for line in lines:
            if line:
                self._line(line)
            elif self._data or self._named:
                frames.append(self._frame())
        return frames

    def finish(self) -> list[tuple[bytes, bytes]]:
        """What stands at the end without its blank line."""
        tail, self._tail = self._tail.rstrip(b"\r"), b""
        if tail:
            self._line(tail)
        return [self._frame()] if self._data or self._named else []

    def _line(self, line: bytes) -> None:
        name, colon, value = line.partition(b":")
        value = value[1:] if value[:1] == b" " else value
        if name == b"data":
            self._take(value)
        elif name == b"event":
            self._event, self._named = value, True
        elif name == b"error" and colon:
            # llama.cpp before 2025 wrote its errors as a field of that name.
            self._event, self._named = b"error", True
            self._take(value)
        elif line[:1] == b"{":
            self._take(line)
        elif name and name not in {b"id", b"retry"}:
            self.stray = self.stray or line

    def _take(self, value: bytes) -> None:
        self._data.append(value)
        self._size += len(value)

    def _frame(self) -> tuple[bytes, bytes]:
        frame = self._event, b"\n".join(self._data)
        self._event, self._named, self._data, self._size = b"", False, [], 0
        return frame


class ChunkReader:
    """The body of a streamed answer, as JSON chunks. Raises `ModelFailure` where the body is something else."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._parser = SseParser()
        self._start = b""
        self._document: list[bytes] | None = None
        self._size = 0
        self._begun = False
        self._seen = False
        self.done = False

    def feed(self, data: bytes) -> list[object]:
        if self._document is None and self._parser.at_rest and _is_one_frame(data):
            # Most pieces of most servers: one frame, whole.
            self._begun = self._seen = True
            return [] if self.done else self._values(data[6:-2])
        if not self._begun:
            data = self._sniff(data)
        if self._document is not None:
            self._size += len(data)
            if self._size > _LARGEST:
                raise failures.broken(self._endpoint, "it is larger than any answer should be")
            self._document.append(data)
            return []
        chunks = self._chunks(self._parser.feed(data))
        if self._parser.held > _LARGEST_FRAME:
            raise failures.broken(self._endpoint, "a frame of the stream is larger than any should be")
        return chunks

    def finish(self) -> list[object]:
        """The rest, when the server has closed the body."""
        if self._document is not None:
            body = b"".join(self._document)
            value = _parsed(body)
            if value is None:
                self._malformed(body)
            self.done = True
            return cast("list[object]", value) if isinstance(value, list) else [value]
        if not self._begun and self._start:
            self._parser.feed(self._start)
        chunks = self._chunks(self._parser.finish())
        if not self._seen and not self.done and self._parser.stray:
            stray = self._parser.stray.decode("utf-8", "replace")
            raise failures.broken(self._endpoint, f"the server sent no event stream but {stray!r}")
        return chunks

    def _sniff(self, data: bytes) -> bytes:
        """HTML and plain JSON come with any content type; their first character tells."""
        self._start += data
        start = self._start.removeprefix(_BOM).lstrip()
        if not start:
            return b""
        self._begun = True
        if start[:1] == b"<":
            raise failures.not_a_model_server(self._endpoint, start.decode("utf-8", "replace"))
        if start[:1] in {b"{", b"["}:
            self._document = []
        return start

    def _chunks(self, frames: list[tuple[bytes, bytes]]) -> list[object]:
        chunks: list[object] = []
        for event, data in frames:
            if self.done:
                break
            body = data.strip()
            if event == b"error":
                self._error(body)
            if not body or body[:1] == b":":
                continue
            self._seen = True
            if body.startswith(b"[DONE]"):
                self.done = True
                break
            chunks += self._values(body)
        return chunks

    def _values(self, body: bytes) -> list[object]:
        value = _parsed(body)
        if value is not None:
            return [value]
        # Some servers forget the blank line between frames.
        lines = body.split(b"\n")
        parsed = [_parsed(line) for line in lines if not line.startswith(b"[DONE]")] if len(lines) > 1 else []
        values = [value for value in parsed if value is not None]
        if not parsed or len(values) < len(parsed):
            self._malformed(body)
        self.done = lines[-1].startswith(b"[DONE]")
        return values

    def _error(self, body: bytes) -> NoReturn:
        value = _parsed(body)
        said = value if value is not None else body.decode("utf-8", "replace")
        raise failures.from_error_object(self._endpoint, said or "the server reported an error without a word")

    def _malformed(self, body: bytes) -> NoReturn:
        shown = body.decode("utf-8", "replace")
        raise failures.broken(self._endpoint, f"a frame of the stream is not valid JSON: {shown}")


def _is_one_frame(data: bytes) -> bool:
    return data.startswith(b"data: {") and data.endswith(b"}\n\n") and data.count(b"\n") == 2 and b"\r" not in data


def _parsed(body: bytes) -> object | None:
    """JSON (a bare `null` as an empty object), or None where it is none.

    What the fast parser refuses (half an emoji, odd bytes) gets a second, more patient reading.
    """
    try:
        value: object = from_json(body, cache_strings="keys")
    except ValueError:
        value = _patiently(body)
    else:
        value = {} if value is None else value
    return value


def _patiently(body: bytes) -> object | None:
    try:
        value: object = json.loads(body.decode("utf-8", "replace"), strict=False)
    except (ValueError, RecursionError):
        return None
    return value
