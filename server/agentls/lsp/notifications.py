"""From the engine's events to the client: who gets what, and what becomes of it when the client is slow."""

import asyncio
from collections.abc import Callable
from typing import assert_never

from agentls.bus import Bus
from agentls.errors import AgentError
from agentls.lsp.coalesce import Coalescer
from agentls.lsp.encode import encode, notification
from agentls.lsp.order import EventGate
from agentls.lsp.writer import FrameWriter
from agentls.protocol.options import ClientEvents
from agentls.schema.base import Raw
from agentls.schema.event import Changed, Delta, Event, FileEdited, Noticed, Scope, StatusChanged, UsageChanged
from agentls.schema.session import Position

DELTAS_MOST_BYTES = 8 * 1024 * 1024
EVENTS_MOST_BYTES = 32 * 1024 * 1024
_FOR_ALL = ("session/", "permission/", "question/")
_ASKS = ("permission/", "question/")

Told = Changed | StatusChanged | UsageChanged | FileEdited | Noticed
"""What watchers see: deltas are too many."""


class Outlet:
    """Nothing is sent before `open`. `part` and `position` read from the engine what a slow client missed."""

    def __init__(
        self,
        bus: Bus,
        writer: FrameWriter,
        part: Callable[[str, str], Raw],
        position: Callable[[str], Position],
    ) -> None:
        self._writer = writer
        self._part = part
        self._position = position
        self._attached: set[str] = set()
        self._open = False
        self._deltas = True
        self._coalescer = Coalescer(asyncio.get_running_loop(), writer.write, ClientEvents().coalesce_ms / 1000)
        self._stale_parts: dict[tuple[str, str], Scope] = {}
        self._stale_sessions: dict[str, Scope] = {}
        self._watchers: list[Callable[[Told], None]] = []
        self.gate = EventGate(self._deliver)
        self._unsubscribe = bus.subscribe(self.gate.publish)

    def open(self) -> None:
        """The client knows of us: it gave our options, or called a method of ours."""
        self._open = True

    @property
    def is_open(self) -> bool:
        return self._open

    def configure(self, events: ClientEvents) -> None:
        self._deltas = events.deltas
        self._coalescer.close()
        loop = asyncio.get_running_loop()
        self._coalescer = Coalescer(loop, self._writer.write, events.coalesce_ms / 1000)

    def watch(self, watcher: Callable[[Told], None]) -> None:
        """`watcher` sees every event but deltas, after the client, and also where the client knows nothing of us."""
        self._watchers.append(watcher)

    def attach(self, session_id: str) -> None:
        self._attached.add(session_id)

    def flush(self, session_id: str) -> None:
        """What is read after this is not older than what the client has of it."""
        self._coalescer.flush(session_id)

    def pressed(self) -> bool:
        return self._writer.queued > EVENTS_MOST_BYTES

    def drained(self) -> None:
        """The client reads again: it gets whole what it missed pieces of."""
        parts, self._stale_parts = self._stale_parts, {}
        sessions, self._stale_sessions = self._stale_sessions, {}
        for scope in sessions.values():
            self._resync(scope)
        for (session_id, part_id), scope in parts.items():
            if session_id not in sessions:
                self._send_whole(scope, part_id)

    def close(self) -> None:
        self._unsubscribe()
        for session_id in self._attached:
            self._coalescer.flush(session_id)
        self._coalescer.close()

    def _deliver(self, event: Event) -> None:
        if isinstance(event, Delta):
            if self._open:
                self._delta(event)
            return
        if self._open:
            self._tell(event)
        for watcher in self._watchers:
            watcher(event)

    def _tell(self, event: Told) -> None:
        if event.scope is not None:
            self._coalescer.flush(event.scope.session_id)
        match event:
            case Changed():
                self._changed(event)
            case StatusChanged():
                status = {"status": event.status.members()}
                turn = {} if event.turn_id is None else {"turnId": event.turn_id}
                self._send(event.scope, "session/status", encode(status | turn))
                if status["status"]["type"] == "idle":
                    self._coalescer.forget(event.scope.session_id)
            case UsageChanged():
                context = {} if event.context is None else {"context": event.context}
                self._send(event.scope, "session/usage", encode({"usage": event.usage.members()} | context))
            case FileEdited():
                members = {"uri": event.uri, "via": event.via, "partId": event.part_id}
                self._send(event.scope, "file/edited", encode(members))
            case Noticed():
                described = {} if event.description is None else {"description": event.description}
                members = {"severity": event.severity, "title": event.title} | described
                self._send(event.scope, "notice", encode(members))
            case _:
                assert_never(event)

    def _delta(self, event: Delta) -> None:
        session_id = event.scope.session_id
        if not self._deltas or session_id not in self._attached or session_id in self._stale_sessions:
            return
        key = (session_id, event.part_id)
        if key in self._stale_parts:
            return
        if self._writer.queued <= DELTAS_MOST_BYTES:
            self._coalescer.add(event)
            return
        self._coalescer.drop(session_id, event.part_id)
        self._stale_parts[key] = event.scope
        self._writer.watch_drain()

    def _changed(self, event: Changed) -> None:
        if event.kind == "part":
            self._coalescer.drop(event.scope.session_id, event.id)
            self._stale_parts.pop((event.scope.session_id, event.id), None)
        self._send(event.scope, event.method, b"{%b}" % event.params, event.seq)
        if event.kind == "session" and event.method == "session/deleted":
            self._coalescer.forget(event.scope.session_id)
            self._attached.discard(event.scope.session_id)

    def _send(self, scope: Scope | None, method: str, params: bytes, seq: int | None = None) -> None:
        """`params` is an object with at least one member; those of the session are put in front."""
        if scope is None:
            self._writer.write(notification(method, params))
            return
        if scope.session_id not in self._attached and not method.startswith(_FOR_ALL):
            return
        if self._writer.queued > EVENTS_MOST_BYTES or scope.session_id in self._stale_sessions:
            self._miss(scope)
            return
        head = b'{"sessionId":%b,' % encode(scope.session_id)
        if scope.root_id != scope.session_id or method.startswith(_ASKS):
            head += b'"rootSessionId":%b,' % encode(scope.root_id)
        if seq is not None:
            head += b'"seq":%d,' % seq
        self._writer.write(notification(method, head + params[1:]))

    def _miss(self, scope: Scope) -> None:
        if scope.session_id in self._stale_sessions:
            return
        self._stale_sessions[scope.session_id] = scope
        self._coalescer.forget(scope.session_id)
        self._writer.watch_drain()

    def _resync(self, scope: Scope) -> None:
        members: dict[str, object] = {"reason": "the client did not read fast enough"}
        try:
            members["position"] = self._position(scope.session_id).members()
        except AgentError:
            # The session is gone; attaching will say so.
            members.pop("position", None)
        self._send(scope, "session/resync", encode(members))

    def _send_whole(self, scope: Scope, part_id: str) -> None:
        try:
            part = self._part(scope.session_id, part_id)
        except AgentError:
            return
        self._send(scope, "part/updated", part.json)
