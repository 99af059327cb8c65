"""A response is written before the events that its request causes."""

from collections import deque
from collections.abc import Callable
from contextvars import ContextVar

from agentls.schema.event import Event


class Hold:
    """While it is closed, events published by its request's handler, or by what that started, are kept back."""

    __slots__ = ("released", "sessions")

    def __init__(self) -> None:
        self.released = False
        self.sessions: set[str] = set()


_HOLD: ContextVar[Hold | None] = ContextVar("hold", default=None)


def hold_events(hold: Hold) -> None:
    """From here on, in this task and those that it starts."""
    _HOLD.set(hold)


class EventGate:
    """Passes events on in the order of publication within each session, none before its hold is released."""

    def __init__(self, deliver: Callable[[Event], None]) -> None:
        self._deliver = deliver
        self._kept: dict[str, deque[tuple[Hold | None, Event]]] = {}

    def publish(self, event: Event) -> None:
        session_id = event.scope.session_id if event.scope is not None else ""
        hold = _HOLD.get()
        if hold is not None and hold.released:
            hold = None
        kept = self._kept.get(session_id)
        if kept is None:
            if hold is None:
                self._deliver(event)
                return
            kept = self._kept[session_id] = deque()
        if hold is not None:
            hold.sessions.add(session_id)
        kept.append((hold, event))

    def release(self, hold: Hold) -> None:
        if hold.released:
            return
        hold.released = True
        for session_id in hold.sessions:
            kept = self._kept.get(session_id)
            while kept and (kept[0][0] is None or kept[0][0].released):
                self._deliver(kept.popleft()[1])
            if not kept:
                self._kept.pop(session_id, None)
