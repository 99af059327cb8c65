"""Store, then send: events of a transaction are published once it is committed."""

import random
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from typing import TypeVar

import anyio

from agentls.bus import Bus
from agentls.errors import AgentError, ErrorKind
from agentls.schema.event import Changed, Event, Kind, Scope
from agentls.storage.database import BusyError, Database

PATIENCE = 10.0
_FIRST_PAUSE, _LONGEST_PAUSE = 0.002, 0.05

T = TypeVar("T")

_chance = random.SystemRandom()


class Journal:
    """The one way to write rows that clients are told about."""

    def __init__(self, database: Database, bus: Bus) -> None:
        self.database = database
        self._bus = bus
        self._held: list[Event] | None = None
        self._deeds: list[Callable[[], object]] = []
        self.news = anyio.Event()
        self._line = anyio.Lock(fast_acquire=True)

    async def patiently(self, deed: Callable[[], T], seconds: float = PATIENCE) -> T:
        """Runs `deed` in one transaction, at once if it can; while another process writes it waits, and the loop does
        not. Those who wait stay in their order. Once it is done this returns without a pause.

        Cancelled while it waits nothing is done. Raises `AgentError` where the others do not end.
        """
        if not self._line.locked():
            with suppress(BusyError):
                return self._at_once(deed)
        try:
            with anyio.fail_after(seconds):
                async with self._line:
                    return await self._in_turn(deed)
        except TimeoutError as error:
            raise AgentError(
                ErrorKind.INTERNAL,
                f"Another process has held {self.database.path} for {seconds:g} s, so nothing was stored. See what "
                "works on that file (a backup, a database tool, another editor), then try again.",
                retryable=True,
            ) from error

    async def _in_turn(self, deed: Callable[[], T]) -> T:
        longest = _FIRST_PAUSE
        while True:
            with suppress(BusyError):
                return self._at_once(deed)
            await anyio.sleep(_chance.uniform(longest / 2, longest))
            longest = min(2 * longest, _LONGEST_PAUSE)

    def _at_once(self, deed: Callable[[], T]) -> T:
        with self.transaction(at_once=True):
            return deed()

    @contextmanager
    def transaction(self, *, at_once: bool = False) -> Generator[None]:
        """All or nothing, and the events only after all. One inside another joins it."""
        if self._held is not None:
            yield
            return
        held: list[Event] = []
        deeds: list[Callable[[], object]] = []
        self._held, self._deeds = held, deeds
        try:
            with self.database.transaction(at_once=at_once):
                yield
        finally:
            self._held = None
        self.news.set()
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
