"""One client: what arrives is answered, refused, or handed to its handler, according to the state of the connection."""

from collections.abc import Awaitable, Callable, Coroutine
from enum import Enum
from functools import partial
from pathlib import Path
from typing import Any, Generic, TypeVar, cast

from lsprotocol import types
from pygls.exceptions import JsonRpcInvalidParams

from agentls.errors import AgentError, ErrorKind
from agentls.lsp.decode import (
    Malformed,
    NotificationMessage,
    RequestMessage,
    ResponseMessage,
    decode,
)
from agentls.lsp.dispatch import Call, Dispatcher, invalid_params, notify_quietly, structured
from agentls.lsp.drive import call_here, call_now
from agentls.lsp.encode import failure
from agentls.lsp.frames import BrokenFrame
from agentls.lsp.handling import Beside, Caller, Command, Routes, Took
from agentls.lsp.language import AgentProtocol
from agentls.lsp.notifications import Outlet
from agentls.protocol.methods import ABORT

A = TypeVar("A")


class Phase(Enum):
    NEW = "new"
    READY = "ready"
    CLOSING = "closing"


class Connection(Generic[A]):
    """`initialized` is called with the params of `initialize` before it is answered, and gives what is added to the
    server's experimental capabilities; `close` ends the app's work, `end` the process with that code.
    """

    def __init__(
        self,
        app: A,
        routes: Routes[A],
        language: AgentProtocol,
        outlet: Outlet,
        dispatcher: Dispatcher,
        beside: Beside[A],
        *,
        spawn: Callable[[Coroutine[Any, Any, object]], None],
        send: Callable[[bytes], None],
        initialized: Callable[[types.InitializeParams], dict[str, Any]],
        close: Callable[[], Awaitable[None]],
        end: Callable[[int], None],
    ) -> None:
        self._app = app
        self._routes = routes
        self._language = language
        self._outlet = outlet
        self._dispatcher = dispatcher
        self._beside = beside
        self._spawn = spawn
        self._send = send
        self._initialized = initialized
        self._close = close
        self._end = end
        self._phase = Phase.NEW

    def receive(self, item: bytes | BrokenFrame) -> None:
        if isinstance(item, BrokenFrame):
            kind = ErrorKind.PARSE_ERROR if item.too_large is None else ErrorKind.INVALID_REQUEST
            self._send(failure(None, AgentError(kind, f"the input holds {item.reason}")))
            return
        message = decode(item)
        match message:
            case RequestMessage():
                try:
                    self._requested(message)
                except AgentError as error:
                    self._send(failure(message.id, error))
            case NotificationMessage():
                notify_quietly(partial(self._notified, message))
            case ResponseMessage():
                notify_quietly(partial(self._language.take_response, message))
            case Malformed():
                self._send(failure(message.id, message.error))

    def shut_down(self) -> None:
        """No request is taken from here on."""
        self._phase = Phase.CLOSING
        self._dispatcher.refuse_waiting()

    def _requested(self, request: RequestMessage) -> None:
        if self._phase is Phase.CLOSING:
            raise AgentError(ErrorKind.SHUTTING_DOWN, "the server is shutting down")
        if self._dispatcher.knows(request.id):
            raise AgentError(ErrorKind.INVALID_REQUEST, f"the id {request.id!r} belongs to a request that still runs")
        if request.method == types.INITIALIZE:
            self._initialize(request)
        elif self._phase is Phase.NEW:
            raise AgentError(ErrorKind.NOT_INITIALIZED, "the first request must be initialize")
        elif request.method == types.SHUTDOWN:
            self.shut_down()
            self._dispatcher.submit(Call(request.id, self._shutdown, urgent=True))
        elif self._routes.row(request.method) is not None:
            self._ours(request)
        elif (command := self._command_of(request)) is not None:
            self._command(request, command)
        else:
            self._of_lsp(request)

    def _initialize(self, request: RequestMessage) -> None:
        if self._phase is not Phase.NEW:
            raise AgentError(ErrorKind.INVALID_REQUEST, "initialize was sent already")
        params = structured(partial(self._language.structure_params, request.method), request.params)
        self._phase = Phase.READY
        self._dispatcher.answer_now(request.id, partial(self._initialize_now, params))

    def _initialize_now(self, params: types.InitializeParams) -> object:
        self._language.client = params.client_info
        handler = cast("Callable[..., Any]", self._language.handler(types.INITIALIZE))
        result = call_now(handler, params, spawn=self._spawn)
        plain = self._language.plain_result(types.INITIALIZE, result)
        plain["capabilities"].setdefault("experimental", {})["agentls"] = self._initialized(params)
        self._beside.offer(plain["capabilities"])
        return plain

    def _ours(self, request: RequestMessage) -> None:
        row = self._routes.row(request.method)
        if row is None:
            return
        self._outlet.open()
        handler = self._routes.handler(row)
        params = cast("dict[str, Any]", request.params) if isinstance(request.params, dict) else {}
        session_id = params.get("sessionId")
        if row.name == ABORT.name:
            self._dispatcher.hurry(session_id)

        async def run(call: Call) -> object:
            return await handler.run(self._caller(call, self._beside.took), request.params)

        self._dispatcher.submit(Call(request.id, run, urgent=row.urgent, session_id=session_id))

    def _of_lsp(self, request: RequestMessage) -> None:
        handler = self._language.handler(request.method)
        if handler is None:
            raise AgentError(ErrorKind.METHOD_NOT_FOUND, f"there is no method {request.method}")
        params = structured(partial(self._language.structure_params, request.method), request.params)

        async def run(_call: Call) -> object:
            try:
                result = await call_here(handler, params)
            except JsonRpcInvalidParams as error:  # such as a command that there is not
                raise invalid_params([("", str(error))]) from error
            return self._language.plain_result(request.method, result)

        self._dispatcher.submit(Call(request.id, run))

    def _command_of(self, request: RequestMessage) -> Command[A] | None:
        if request.method != types.WORKSPACE_EXECUTE_COMMAND or not isinstance(request.params, dict):
            return None
        return self._beside.commands.get(str(cast("dict[str, Any]", request.params).get("command")))

    def _command(self, request: RequestMessage, command: Command[A]) -> None:
        async def run(call: Call) -> object:
            return await command.run(self._caller(call, self._beside.commanded), request.params)

        self._dispatcher.submit(Call(request.id, run, urgent=command.urgent))

    def _caller(self, call: Call, took: Took) -> Caller[A]:
        return Caller(self._app, self._folder, self._outlet, self._dispatcher, call, took)

    def _folder(self) -> Path:
        """The editor's first folder."""
        return next(iter(self._language.folders()), Path.cwd())

    async def _shutdown(self, call: Call) -> object:
        await self._close()
        await self._dispatcher.finish(but=call)
        return None

    def _notified(self, message: NotificationMessage) -> None:
        if message.method == types.EXIT:
            self._end(0 if self._phase is Phase.CLOSING else 1)
            return
        if message.method == types.CANCEL_REQUEST:
            params = cast("dict[str, Any]", message.params) if isinstance(message.params, dict) else {}
            self._dispatcher.cancel(params.get("id", ""))
            return
        if self._phase is not Phase.READY:
            return
        handler = self._language.handler(message.method)
        if handler is None:
            return
        params = structured(partial(self._language.structure_params, message.method), message.params)
        call_now(handler, params, spawn=self._spawn)
