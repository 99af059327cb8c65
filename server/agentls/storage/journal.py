"""Store, then send: events of a transaction are published once it is committed."""

from collections.abc import Callable, Generator
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
        self._deeds: list[Callable[[], object]] = []

    @contextmanager
    def transaction(self) -> Generator[None]:
        """All or nothing, and the events only after all. One inside another joins it."""
        if self._held is not None:
            yield
            return
        held: list[Event] = []
        deeds: list[Callable[[], object]] = []
        self._held, self._deeds = held, deeds
        try:
            with self.database.transaction():
                yield
        finally:
            self._held = None
        for deed in deeds:
            deed()
        for event in held:
            self._bus.publish(event)

    def then(self, deed: Callable[[], object]) -> None:
        """Once what is being written is committed; never, if it is not. Before its events are told."""
        if self._held is None:
            deed()
        else:
            self._deeds.append(deed)

    def changed(self, scope: Scope, seq: int, kind: Kind, row_id: str, method: str, params: bytes) -> None:
        self.publish(Changed(scope, seq, kind, row_id, method, params))

    def publish(self, event: Event) -> None:
        if self._held is None:
            self._bus.publish(event)
        else:
            self._held.append(event)
