"""One turn in the terminal: from the prompt to its end, or to the signal that stops it."""

import math
import signal
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import anyio

from agentls.app.app import App
from agentls.bus import Bus
from agentls.engine.prompt import PromptRequest
from agentls.engine.runner import Outcome
from agentls.schema.event import Event

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@dataclass(slots=True)
class Caught:
    """The signals that came."""

    numbers: list[int] = field(default_factory=list[int])


class Feed:
    """The events of one session, in order, from the moment this is made."""

    def __init__(self, bus: Bus) -> None:
        self._send, self._receive = anyio.create_memory_object_stream[Event](math.inf)
        self._unsubscribe = bus.subscribe(self._send.send_nowait)
        self._asking: anyio.CancelScope | None = None

    async def follow(
        self, session_id: str, show: Callable[[Event], None], ask: Callable[[Event], Awaitable[None]]
    ) -> None:
        """Until `end` was called and all that came before it was shown."""
        async with self._receive:
            async for event in self._receive:
                if event.scope is not None and event.scope.session_id != session_id:
                    continue
                show(event)
                with anyio.CancelScope() as self._asking:
                    await ask(event)

    def end(self) -> None:
        """An answer that is still waited for can change nothing any more."""
        self._unsubscribe()
        self._send.close()
        if self._asking is not None:
            self._asking.cancel()


@asynccontextmanager
async def _stopping_on_signals(app: App, session_id: str, caught: Caught) -> AsyncGenerator[None]:
    """Ctrl-C and the like abort the turn."""

    async def watch() -> None:
        with anyio.open_signal_receiver(*_SIGNALS) as signals:
            async for number in signals:
                caught.numbers.append(number)
                await app.turns.abort(session_id)

    async with anyio.create_task_group() as group:
        group.start_soon(watch)
        yield
        group.cancel_scope.cancel()


async def run_turn(
    app: App,
    feed: Feed,
    request: PromptRequest,
    show: Callable[[Event], None],
    ask: Callable[[Event], Awaitable[None]],
) -> tuple[Outcome, Caught]:
    caught, outcomes = Caught(), list[Outcome]()
    async with _stopping_on_signals(app, request.session_id, caught), anyio.create_task_group() as group:
        group.start_soon(feed.follow, request.session_id, show, ask)
        outcomes.append(await app.turns.prompt(request).outcome())
        feed.end()
    return outcomes[0], caught
