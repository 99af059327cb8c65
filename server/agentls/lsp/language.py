"""pygls's LSP with our own way in and out: its features, workspace, capabilities and text sync stay."""

import asyncio
import itertools
import logging
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any, cast

from lsprotocol import types
from pygls.exceptions import JsonRpcException, JsonRpcMethodNotFound
from pygls.lsp.server import LanguageServer
from pygls.protocol import JsonRPCNotification, JsonRPCRequestMessage, JsonRPCResponseMessage, LanguageServerProtocol
from pygls.protocol.language_server import lsp_method

from agentls.lsp.decode import ResponseMessage
from agentls.lsp.encode import RequestId, encode, notification
from agentls.lsp.text import EditorWorkspace
from agentls.protocol.params import as_object
from agentls.workspace.resolve import file_path

VERSION = "2.0"

log = logging.getLogger(__name__)


class MalformedAnswerError(JsonRpcException):
    """The client answered, but nobody can say what."""


class AgentProtocol(LanguageServerProtocol):
    """Neither reads nor decodes: frames come from `Connection`, and go to the function given to `send_with`."""

    def __init__(self, server: LanguageServer, converter: Any) -> None:
        super().__init__(server, converter)
        self.client: types.ClientInfo | None = None
        self._put: Callable[[bytes], None] | None = None
        self._asked: dict[RequestId, tuple[asyncio.Future[Any], str]] = {}
        self._numbers = itertools.count(1)

    def send_with(self, put: Callable[[bytes], None]) -> None:
        self._put = put

    @lsp_method(types.INITIALIZE)
    def lsp_initialize(self, params: types.InitializeParams) -> Generator[Any, Any, types.InitializeResult]:
        result = yield from super().lsp_initialize(params)
        self._workspace = EditorWorkspace.instead_of(self.workspace)
        return result

    def handler(self, method: str) -> Callable[..., Any] | None:
        try:
            return cast("Callable[..., Any]", self._get_handler(method))
        except JsonRpcMethodNotFound:
            return None

    def structure_params(self, method: str, params: Any) -> Any:
        """The params of a method as lsprotocol has them; unknown methods get them as they are."""
        kind = self.get_message_type(method)
        if kind is None or (params == {} and kind in {types.ShutdownRequest, types.ExitNotification}):
            return params
        given: Any = as_object(params)
        body: dict[str, Any] = {"jsonrpc": VERSION, "id": 0, "method": method, "params": given}
        return self._converter.structure(body, kind).params

    def plain_result(self, method: str, result: Any) -> Any:
        """The result of a method as JSON members."""
        kind = cast("Callable[..., Any]", self.get_result_type(method) or JsonRPCResponseMessage)
        return self._converter.unstructure(kind(id=0, result=result, jsonrpc=VERSION))["result"]

    def folders(self) -> tuple[Path, ...]:
        """What the editor has open, the first of its folders first."""
        workspace = self.workspace
        uris = [folder.uri for folder in workspace.folders.values()]
        uris = uris or ([workspace.root_uri] if workspace.root_uri else [])
        return tuple(path for uri in uris if (path := file_path(uri)) is not None)

    async def ask(self, method: str, params: Any) -> Any:
        """A request to the client. Cancelled, it tells the client so. Raises `JsonRpcException` for its errors."""
        request_id = f"agentls-{next(self._numbers)}"
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._asked[request_id] = (answer, method)
        kind = cast("Callable[..., Any]", self.get_message_type(method) or JsonRPCRequestMessage)
        self._send_data(kind(id=request_id, method=method, params=params, jsonrpc=VERSION))
        try:
            return await answer
        except asyncio.CancelledError:
            self.notify(types.CANCEL_REQUEST, types.CancelParams(id=request_id))
            raise
        finally:
            self._asked.pop(request_id, None)

    def take_response(self, message: ResponseMessage) -> None:
        answer, method = self._asked.get(message.id, (None, ""))
        if answer is None:
            self._take_foreign(message)
            return
        if answer.done():
            return
        if message.error is not None:
            answer.set_exception(_exception(message.error))
            return
        kind = self.get_result_type(method)
        try:
            answer.set_result(self._structured_result(kind, message))
        except (TypeError, ValueError, KeyError, AttributeError, ExceptionGroup) as error:
            answer.set_exception(MalformedAnswerError(f"the client's answer to {method} is malformed: {error}"))

    def _structured_result(self, kind: type[Any] | None, message: ResponseMessage) -> Any:
        if kind is None:
            return message.result
        return self._converter.structure({"jsonrpc": VERSION, "id": 0, "result": message.result}, kind).result

    def _take_foreign(self, message: ResponseMessage) -> None:
        """The answer to a request that pygls's own methods sent."""
        if message.id not in self._request_futures:
            log.info("an answer to no request: %r", message.id)
            return
        if message.error is not None:
            error = types.ResponseError(code=-32603, message=str(message.error))
            self._handle_response(message.id, None, error)
            return
        kind = cast("type[Any] | None", self._result_types.pop(message.id, None))
        self._handle_response(message.id, self._structured_result(kind, message))

    def _send_data(self, data: Any) -> None:
        if self._put is None:
            return
        if isinstance(data, JsonRPCNotification):
            self._put(notification(data.method, encode(self._converter.unstructure(data.params or {}))))
            return
        self._put(encode(self._converter.unstructure(data)))


class AgentServer(LanguageServer):
    """What features are registered with, as on any server of pygls."""

    @property
    def language(self) -> AgentProtocol:
        return cast("AgentProtocol", self.protocol)

    def report_server_error(self, error: Exception, source: Any) -> None:
        """Not to the client's screen: stock pygls shows every failure of a notification."""
        log.error("%s: %s", getattr(source, "__name__", source), error)


def agent_server(version: str) -> AgentServer:
    # pygls logs whole messages, with the settings and prompts in them.
    logging.getLogger("pygls").setLevel(logging.WARNING)
    make = cast("Callable[..., AgentServer]", AgentServer)
    return make("agentls", version, protocol_cls=AgentProtocol)


def _exception(error: Any) -> JsonRpcException:
    if not isinstance(error, dict):
        return JsonRpcException("the client answered with an error")
    members = cast("dict[str, Any]", error)
    code = members.get("code")
    return JsonRpcException(str(members.get("message")), code if isinstance(code, int) else None, members.get("data"))
