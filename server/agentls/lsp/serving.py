"""One editor served over two file descriptors, from its first byte to the end of the process."""

import asyncio
import logging
import signal
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from typing import Any, Generic, TypeVar, cast

import anyio
from lsprotocol import types

from agentls.bus import Bus
from agentls.lsp.connection import Connection
from agentls.lsp.dispatch import RUNNING_MOST, WAITING_MOST, Dispatcher, logged
from agentls.lsp.frames import BODY_MOST
from agentls.lsp.handling import Beside, Routes
from agentls.lsp.language import AgentServer
from agentls.lsp.notifications import Outlet
from agentls.lsp.parent import Editor, find_editor, wait_until_gone
from agentls.lsp.reader import FrameReader
from agentls.lsp.writer import FrameWriter
from agentls.protocol.digest import SCHEMA_DIGEST
from agentls.protocol.options import ClientOptions, Limits, ServerOffer, read_options
from agentls.schema.base import Raw
from agentls.schema.session import Position

A = TypeVar("A")
Spawn = Callable[[Coroutine[Any, Any, object]], None]
"""Starts work that ends with the connection at the latest; its failures are logged."""

_CLOSE_SECONDS = 4.0
_LAST_BYTES_SECONDS = 2.0
_READ_SECONDS = 0.005

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Engine(Generic[A]):
    """What the transport itself needs of the app; `app` goes to the handlers as it is.

    `connect` hears what the client said at `initialize`, before that is answered; `extend` is called once, before
    anything is read, for what stands beside the methods. `close` ends all work; `shutdown` is answered after it.
    """

    app: A
    routes: Routes[A]
    server: AgentServer
    bus: Bus
    part: Callable[[str, str], Raw]
    position: Callable[[str], Position]
    connect: Callable[[ClientOptions | None], None]
    extend: Callable[[Outlet, Spawn], Beside[A]]
    close: Callable[[], Awaitable[None]]


class _Life:
    """How the process ends: the first reason counts; the engine is closed once, whoever asks."""

    def __init__(self, close: Callable[[], Awaitable[None]]) -> None:
        self._close = close
        self._closing: asyncio.Task[None] | None = None
        self._ended: asyncio.Future[int] = asyncio.get_running_loop().create_future()

    def end(self, code: int) -> None:
        if not self._ended.done():
            self._ended.set_result(code)

    async def wait(self) -> int:
        return await self._ended

    async def close(self) -> None:
        if self._closing is None:
            self._closing = asyncio.create_task(logged(self._close()))
        await asyncio.shield(self._closing)


async def serve_connection(engine: Engine[A], descriptor_in: int, descriptor_out: int) -> int:
    """Returns the code to exit with. Ends at `exit`, at the end of the input, when the editor is gone, at SIGTERM."""
    loop = asyncio.get_running_loop()
    life = _Life(engine.close)

    def soon(deed: Callable[[], object]) -> None:
        # The writer's thread may outlive the loop.
        if not loop.is_closed():
            loop.call_soon_threadsafe(deed)

    writer = FrameWriter(descriptor_out, lambda: soon(outlet.drained), lambda: soon(lambda: life.end(0)))
    outlet = Outlet(engine.bus, writer, engine.part, engine.position)
    engine.server.language.send_with(writer.write)
    reader = FrameReader()
    await reader.open(descriptor_in)
    async with asyncio.TaskGroup() as tasks:
        background: set[asyncio.Task[None]] = set()

        def spawn(work: Coroutine[Any, Any, object]) -> None:
            task = tasks.create_task(logged(work))
            background.add(task)
            task.add_done_callback(background.discard)

        dispatcher = Dispatcher(tasks, outlet.gate, writer.write, outlet.pressed)

        def initialized(params: types.InitializeParams) -> dict[str, Any]:
            options = _client_options(params)
            if options is not None:
                outlet.configure(options.events)
                outlet.open()
            engine.connect(options)
            spawn(_watch(find_editor(params.process_id), writer, life))
            return _offer(engine.routes).members()

        connection = Connection(
            engine.app,
            engine.routes,
            engine.server.language,
            outlet,
            dispatcher,
            engine.extend(outlet, spawn),
            spawn=spawn,
            send=writer.write,
            initialized=initialized,
            close=life.close,
            end=life.end,
        )
        spawn(_read(reader, connection, life))
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            if signal.getsignal(number) is not signal.SIG_IGN:  # `nohup` wants it to go on
                loop.add_signal_handler(number, life.end, 0)
        code = await life.wait()
        connection.shut_down()
        with anyio.move_on_after(_CLOSE_SECONDS):
            await life.close()
        await dispatcher.finish()
        outlet.close()
        for task in tuple(background):
            task.cancel()
        reader.close()
    await asyncio.to_thread(writer.close, _LAST_BYTES_SECONDS)
    return code


async def _read(reader: FrameReader, connection: Connection[Any], life: _Life) -> None:
    loop = asyncio.get_running_loop()
    began = loop.time()
    try:
        while (item := await reader.next()) is not None:
            connection.receive(item)
            if loop.time() - began > _READ_SECONDS:
                await asyncio.sleep(0)
                began = loop.time()
    finally:
        life.end(0)


async def _watch(editor: Editor | None, writer: FrameWriter, life: _Life) -> None:
    reason = await wait_until_gone(editor, writer.nobody_reads)
    log.info("%s; ending", reason)
    life.end(0)


def _client_options(params: types.InitializeParams) -> ClientOptions | None:
    return read_options(of_agentls(params.initialization_options), of_agentls(params.capabilities.experimental))


def of_agentls(given: Any) -> object:
    """Our member of options, capabilities or settings, which are anything."""
    return cast("dict[str, Any]", given).get("agentls") if isinstance(given, dict) else None


def _offer(routes: Routes[Any]) -> ServerOffer:
    return ServerOffer(
        features=routes.served,
        limits=Limits(message_bytes=BODY_MOST, running=RUNNING_MOST, waiting=WAITING_MOST),
        schema_digest=SCHEMA_DIGEST,
    )
