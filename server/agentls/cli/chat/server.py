"""The server as long as the chat lasts: started, asked, and started again if it dies."""

import os
from collections.abc import Awaitable, Callable
from pathlib import Path

import anyio

from agentls.cli.chat.connection import Connection, GoneError, Members, Then
from agentls.errors import AgentError, ErrorKind

_MOST_DEATHS = 3
_WITHIN = 60.0


class Server:
    """`hears` gets its notifications, `died` is told of a death, `again` brings all up to date after one."""

    def __init__(
        self,
        directory: Path,
        hears: Callable[[str, Members], None],
        died: Callable[[str], None],
        again: Callable[[Connection], Awaitable[None]],
        *,
        trusted: bool,
    ) -> None:
        self._directory = directory
        self._hears = hears
        self._died = died
        self._again = again
        self._trusted = trusted
        self._connection: Connection | None = None
        self._up = anyio.Event()
        self._leaving = False
        self._deaths: list[float] = []

    async def run(self) -> None:
        """Until `close`. Raises `AgentError` where the server does not come up, or dies again and again."""
        while not self._leaving:
            connection = await Connection.open(self._hears)
            try:
                async with anyio.create_task_group() as group:
                    group.start_soon(self._greet, connection)
                    await connection.read()
                    group.cancel_scope.cancel()
            finally:
                self._up = anyio.Event()
                await connection.close()
            if not self._leaving:
                self._count(connection)

    async def request(self, method: str, params: Members, then: Then | None = None) -> Members:
        """Asked again of the next server if this one dies: all that we ask may be asked twice.

        Raises `RefusedError`.
        """
        while True:
            await self._up.wait()
            try:
                return await self._living().request(method, params, then)
            except GoneError:
                self._up = anyio.Event()

    async def close(self) -> None:
        self._leaving = True
        if self._connection is not None:
            await self._connection.close()

    def _living(self) -> Connection:
        if self._connection is None:
            raise GoneError
        return self._connection

    async def _greet(self, connection: Connection) -> None:
        options: Members = {
            "protocolVersion": 1,
            "clientId": "agentls-chat",
            "ui": {"permission": True, "question": True},
        }
        if self._trusted:
            options["trusted"] = True
        uri = self._directory.as_uri()
        params: Members = {
            "processId": os.getpid(),
            "rootUri": uri,
            "workspaceFolders": [{"uri": uri, "name": self._directory.name}],
            "capabilities": {},
            "initializationOptions": {"agentls": options},
        }
        try:
            await connection.request("initialize", params)
            await connection.notify("initialized")
            await self._again(connection)
        except GoneError:
            return
        self._connection = connection
        self._up.set()

    def _count(self, connection: Connection) -> None:
        why = connection.last_words.removeprefix("agentls: ") or f"exit code {connection.code}"
        now = anyio.current_time()
        self._deaths = [*(at for at in self._deaths if now - at < _WITHIN), now]
        if self._connection is None or len(self._deaths) > _MOST_DEATHS:
            raise AgentError(ErrorKind.INTERNAL, f"the server ended: {why}. agentls doctor may tell more.")
        self._died(why)
