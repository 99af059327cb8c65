"""Store, then send: events of a transaction are published once it is committed."""

from collections.abc import Generator
from contextlib import contextmanager

from agentls.bus import Bus
from agentls.schema.event import Changed, Event, Kind, Scope
from agentls.storage.database import Database


class Journal:
    """The one way to write rows that clients are told about."""

    def __init__(self, database: Database, bus: Bus) -> None:
        self.database = database
        self._bus = bus
        self._held: list[Event] | None = None

    @contextmanager
    def transaction(self) -> Generator[None]:
        """All or nothing, and the events only after all. One inside another joins it."""
        if self._held is not None:
            yield
            return
        held: list[Event] = []
        self._held = held
        try:
            with self.database.transaction():
                yield
        finally:
            self._held = None
        for event in held:
            self._bus.publish(event)

    def changed(self, scope: Scope, seq: int, kind: Kind, row_id: str, method: str, params: bytes) -> None:
        self.publish(Changed(scope, seq, kind, row_id, method, params))

    def publish(self, event: Event) -> None:
        if self._held is None:
            self._bus.publish(event)
        else:
            self._held.append(event)
