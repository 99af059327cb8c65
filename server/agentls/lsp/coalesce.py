"""Growing text is sent in few frames: the first at once, then at most one per part every few milliseconds."""

import asyncio
from collections.abc import Callable

from agentls.lsp.encode import encode
from agentls.schema.event import Delta

_MOST_BYTES = 16 * 1024


class _Growing:
    """A part that grows, and what of it is not sent yet: `base` of the first piece, `rev` of the last."""

    __slots__ = ("base", "field", "head", "pieces", "rev", "sent_at", "size", "timer")

    def __init__(self, delta: Delta) -> None:
        session = b'"sessionId":%b,' % encode(delta.scope.session_id)
        if delta.scope.root_id != delta.scope.session_id:
            session += b'"rootSessionId":%b,' % encode(delta.scope.root_id)
        self.head = b'{"jsonrpc":"2.0","method":"part/delta","params":{%b"messageId":%b,"partId":%b,"field":"' % (
            session,
            encode(delta.message_id),
            encode(delta.part_id),
        )
        self.field = delta.field
        self.base = delta.base
        self.rev = delta.base
        self.pieces: list[str] = []
        self.size = 0
        self.sent_at = float("-inf")
        self.timer: asyncio.TimerHandle | None = None

    def body(self) -> bytes:
        text = encode(self.pieces[0] if len(self.pieces) == 1 else "".join(self.pieces))
        members = (self.head, self.field.encode(), self.base, self.rev, text)
        return b'%b%b","base":%d,"rev":%d,"delta":%b}}' % members


class Coalescer:
    def __init__(self, loop: asyncio.AbstractEventLoop, send: Callable[[bytes], None], seconds: float) -> None:
        self._loop = loop
        self._send = send
        self._seconds = seconds
        self._sessions: dict[str, dict[str, _Growing]] = {}

    def add(self, delta: Delta) -> None:
        parts = self._sessions.setdefault(delta.scope.session_id, {})
        part = parts.get(delta.part_id)
        if part is None:
            part = parts[delta.part_id] = _Growing(delta)
        elif part.pieces and (part.field != delta.field or part.rev != delta.base):
            self._flush(part)
        if not part.pieces:
            part.field, part.base = delta.field, delta.base
        part.pieces.append(delta.text)
        part.rev = delta.rev
        part.size += len(delta.text) if delta.text.isascii() else 3 * len(delta.text)
        due = part.sent_at + self._seconds
        now = self._loop.time()
        if part.size >= _MOST_BYTES or now >= due:
            self._flush(part, now)
        elif part.timer is None:
            part.timer = self._loop.call_at(due, self._flush, part)

    def flush(self, session_id: str) -> None:
        for part in self._sessions.get(session_id, {}).values():
            if part.pieces:
                self._flush(part)

    def drop(self, session_id: str, part_id: str) -> None:
        """Forgets a part and what is kept of it."""
        part = self._sessions.get(session_id, {}).pop(part_id, None)
        if part is not None and part.timer is not None:
            part.timer.cancel()

    def forget(self, session_id: str) -> None:
        for part_id in tuple(self._sessions.get(session_id, {})):
            self.drop(session_id, part_id)
        self._sessions.pop(session_id, None)

    def close(self) -> None:
        for session_id in tuple(self._sessions):
            self.forget(session_id)

    def _flush(self, part: _Growing, now: float | None = None) -> None:
        if part.timer is not None:
            part.timer.cancel()
            part.timer = None
        part.sent_at = self._loop.time() if now is None else now
        body = part.body()
        part.pieces.clear()
        part.size = 0
        self._send(body)
