"""One turn in the terminal: from the prompt to its end, or to the signal that stops it."""

import math
import signal
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any

import anyio
from anyio.abc import TaskStatus

from agentls.app.app import App
from agentls.bus import Bus
from agentls.engine.prompt import PromptRequest
from agentls.engine.runner import Outcome
from agentls.schema.event import Event

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@dataclass(slots=True)
class Stop:
    """The signal that came, if any. While `abort` is set a signal calls it; otherwise it ends all at once."""

    number: int | None = None
    abort: Callable[[], Awaitable[Any]] | None = None

    @property
    def code(self) -> int:
        """What the shell is told of a program that a signal ended."""
        return 128 + (self.number or 0)


@asynccontextmanager
async def stopping_on_signals() -> AsyncGenerator[Stop]:
    """Ctrl-C and the like. The body may be left early by one: `number` tells."""
    stop = Stop()
    async with anyio.create_task_group() as group:

        async def watch(*, task_status: TaskStatus[None]) -> None:
            with anyio.open_signal_receiver(*_SIGNALS) as signals:
                task_status.started()
                async for number in signals:
                    stop.number = number
                    if stop.abort is None:
                        group.cancel_scope.cancel()
                    else:
                        await stop.abort()

        await group.start(watch)
        yield stop
        group.cancel_scope.cancel()


class Feed:
    """The events of one session, in order, from the moment this is made."""

    def __init__(self, bus: Bus) -> None:
        self._send, self._receive = anyio.create_memory_object_stream[Event](math.inf)
        self._unsubscribe = bus.subscribe(self._take)
        self._asking: anyio.CancelScope | None = None

    def _take(self, event: Event) -> None:
        with suppress(anyio.BrokenResourceError):  # nobody looks any more
            self._send.send_nowait(event)

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


async def run_turn(
    app: App,
    feed: Feed,
    stop: Stop,
    request: PromptRequest,
    show: Callable[[Event], None],
    ask: Callable[[Event], Awaitable[None]],
) -> Outcome:
    async def abort() -> None:
        await app.turns.abort(request.session_id)

    outcomes: list[Outcome] = []
    async with anyio.create_task_group() as group:
        group.start_soon(feed.follow, request.session_id, show, ask)
        accepted = app.turns.prompt(request)
        stop.abort = abort
        outcomes.append(await accepted.outcome())
        feed.end()
    stop.abort = None
    return outcomes[0]
