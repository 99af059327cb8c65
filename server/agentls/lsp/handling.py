"""What a handler of a method of ours is, and what it may ask of its caller."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, TypeVar

from pydantic import ValidationError

from agentls.errors import AgentError, ErrorKind
from agentls.lsp.dispatch import Call, Dispatcher, invalid_params, params_error
from agentls.lsp.notifications import Outlet
from agentls.protocol.methods import REQUESTS
from agentls.protocol.registry import Request
from agentls.schema.base import Raw, Value

P = TypeVar("P", bound=Value)
R = TypeVar("R", bound=Value)
A = TypeVar("A")

Token = int | str
Took = Callable[[str, str, str | None, Token | None], None]
"""Session, message and turn (absent while it waits in the queue) of a prompt, and what its progress is told under."""


class Caller(Generic[A]):
    """One request's view of the program: the app, and its own place on the connection."""

    def __init__(
        self,
        app: A,
        first_folder: Callable[[], Path],
        outlet: Outlet,
        dispatcher: Dispatcher,
        call: Call,
        took: Took,
    ) -> None:
        self.app = app
        self._first_folder = first_folder
        self._outlet = outlet
        self._dispatcher = dispatcher
        self._call = call
        self.took = took

    def folder(self, directory: str | None) -> Path:
        """What the params say, or the editor's first folder."""
        if directory is None:
            return self._first_folder()
        path = Path(directory)
        if not path.is_absolute():
            raise invalid_params([("directory", "must be an absolute path")])
        return path

    def attach(self, session_id: str) -> None:
        """The client gets all of this session's notifications from now on."""
        self._outlet.attach(session_id)

    def flush(self, session_id: str) -> None:
        """To be called before a session's messages or parts are read for an answer."""
        self._outlet.flush(session_id)

    def step_aside(self) -> None:
        """To be called before waiting for what others do: events no longer wait for this answer."""
        self._dispatcher.step_aside(self._call)


@dataclass(frozen=True, slots=True)
class Command(Generic[A]):
    """What `workspace/executeCommand` runs by its name, with its params as they came. An `urgent` one never waits for
    a place.
    """

    run: Callable[[Caller[A], Any], Awaitable[object]]
    urgent: bool = False


def _nothing(*_: object) -> None:
    """Where nothing stands beside the methods."""


@dataclass(frozen=True, slots=True)
class Beside(Generic[A]):
    """What stands beside the methods, by way of LSP's own: `offer` puts it into the server's capabilities, `took` and
    `commanded` hear of each prompt that was taken by a method or by a command.
    """

    commands: Mapping[str, Command[A]] = field(default_factory=dict[str, Command[A]])
    offer: Callable[[dict[str, Any]], None] = _nothing
    took: Took = _nothing
    commanded: Took = _nothing


_Function = Callable[[Caller[A], P], Awaitable[R | Raw]]


@dataclass(frozen=True, slots=True)
class Handler(Generic[A, P, R]):
    row: Request[P, R]
    function: _Function[A, P, R]

    async def run(self, caller: Caller[A], params: Any) -> Value | Raw:
        try:
            given = self.row.params.model_validate(params)
        except ValidationError as error:
            raise params_error(error) from error
        return await self.function(caller, given)


def handles(row: Request[P, R]) -> Callable[[_Function[A, P, R]], Handler[A, P, R]]:
    """Declares the function that serves a row of the table."""

    def declare(function: _Function[A, P, R]) -> Handler[A, P, R]:
        return Handler(row, function)

    return declare


class Routes(Generic[A]):
    """Every request of the table, with its handler if it is served."""

    def __init__(self, handlers: tuple[Handler[A, Any, Any], ...]) -> None:
        self._handlers = {handler.row.name: handler for handler in handlers}
        self._rows = {row.name: row for row in REQUESTS if row.direction == "toServer"}
        self._rows |= {handler.row.name: handler.row for handler in handlers}

    @property
    def served(self) -> tuple[str, ...]:
        return tuple(self._handlers)

    def row(self, method: str) -> Request[Any, Any] | None:
        return self._rows.get(method)

    def handler(self, row: Request[Any, Any]) -> Handler[A, Any, Any]:
        handler = self._handlers.get(row.name)
        if handler is None:
            raise AgentError(ErrorKind.NOT_SUPPORTED, f"{row.name} is not supported by this version")
        return handler
