"""`agentls chat`: from the first prompt to the last."""

import signal
import sys
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path

import anyio

from agentls.cli.asking import ask_for_trust
from agentls.cli.chat.connection import Members, RefusedError
from agentls.cli.chat.console import LEAD, Console
from agentls.cli.chat.room import Room
from agentls.cli.chat.slash import Slash
from agentls.cli.ending import Exit, complain
from agentls.errors import AgentError, ErrorKind

_TWICE = 2.0
_LEAVING = frozenset({"/quit", "/exit"})


@dataclass(frozen=True, slots=True)
class ChatOptions:
    """`session` is an id; `resume` takes the one of this folder that was used last. `wishes` as of `session/create`."""

    directory: Path
    session: str | None
    resume: bool
    wishes: Members
    trust: bool


async def chat(options: ChatOptions) -> int:
    """Returns the exit code."""
    return await _Talk(options).run()


class _Talk:
    def __init__(self, options: ChatOptions) -> None:
        self._options = options
        self._console = Console(self._status)
        self._screen = self._console.screen
        self._room = Room(options.directory, self._console, options.wishes, trusted=options.trust)
        self._slash = Slash(self._room, self._screen)
        self._code: int = Exit.DONE
        self._pressed = -_TWICE
        self._sending = ""

    def _status(self) -> str:
        return self._room.status()

    async def run(self) -> int:
        try:
            await self._run()
        finally:
            for unsent in filter(str.strip, (self._sending, self._console.draft)):
                complain("this was not sent:")
                print(unsent, file=sys.stderr)
        return self._code

    async def _run(self) -> None:
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(self._console.open())
            async with anyio.create_task_group() as group:
                group.start_soon(self._watch, group.cancel_scope)
                group.start_soon(self._room.run)
                await self._begin()
                await self._converse()
                await self._room.server.close()
                group.cancel_scope.cancel()

    async def _begin(self) -> None:
        request = self._room.server.request
        self._screen.line(f"agentls chat in {self._options.directory} · /help", "dim")
        status = await request("server/status", {})
        await self._trust()
        for problem in status["problems"]:
            if problem["severity"] == "error":
                self._screen.line(problem["message"], "yellow")
        session_id = self._options.session
        if self._options.resume:
            params: Members = {"directory": self._room.directory, "limit": 1}
            found = (await request("session/list", params))["sessions"]
            session_id = found[0]["id"] if found else None
        if session_id is not None:
            await self._enter(session_id)
        elif "model" not in self._options.wishes:
            await self._say_model()
        self._screen.gap()

    async def _enter(self, session_id: str) -> None:
        try:
            owner = await self._room.enter(session_id)
            wishes, self._room.wishes = self._room.wishes, {}
            if owner is None and wishes:
                await self._room.change(**wishes)
        except RefusedError as error:
            raise AgentError(ErrorKind.SESSION_NOT_FOUND, str(error)) from error
        if owner is not None:
            message = f"Process {owner} works on session {session_id}. Use it there, or end it there first."
            raise AgentError(ErrorKind.SESSION_LOCKED, message)

    async def _trust(self) -> None:
        params: Members = {"directory": self._room.directory}
        trust = (await self._room.server.request("config/get", params))["config"]["trust"]
        if trust["withheld"]:
            if await ask_for_trust(trust["withheld"], self._console, changed=trust["state"] == "changed"):
                await self._room.server.request("workspace/trust", params)
            else:
                self._screen.line("They do not hold then.", "dim")

    async def _say_model(self) -> None:
        params: Members = {"directory": self._room.directory}
        models = (await self._room.server.request("model/list", params))["models"]
        named = next((f"{one['providerId']}/{one['modelId']}" for one in models if one.get("default")), "")
        if named == "demo/demo":
            self._screen.line("No model is set up, so the built-in demo model answers: see agentls doctor.", "yellow")
        elif named:
            self._screen.line(f"{named} answers; /model chooses another.", "dim")

    async def _converse(self) -> None:
        while (typed := await self._console.next()) is not None and typed.strip() not in _LEAVING:
            if not typed.strip():
                continue
            self._screen.line(f"{LEAD}{typed}", "bold")
            self._sending = typed
            try:
                await self._do(typed)
            except RefusedError as error:
                self._screen.line(f"✗ {error}", "red")
                self._console.give_back(typed)
            self._sending = ""

    async def _do(self, typed: str) -> None:
        if not typed.startswith("/"):
            await self._room.prompt(typed)
        elif not await self._slash.run(typed):
            name = typed.split(maxsplit=1)[0]
            raise RefusedError(
                {"message": f"There is no {name}: see /help. To send it as it is, put a space before it."}
            )

    async def _watch(self, scope: anyio.CancelScope) -> None:
        with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM, signal.SIGHUP) as signals:
            async for number in signals:
                again = anyio.current_time() - self._pressed < _TWICE
                self._pressed = anyio.current_time()
                if number != signal.SIGINT or again:
                    self._code = 128 + number
                    scope.cancel()
                elif self._room.busy:
                    self._room.abort()
                elif self._console.put_aside():
                    self._screen.line("Put aside; ↑ brings it back.", "dim")
                else:
                    self._screen.line("Ctrl-C once more, or Ctrl-D, leaves.", "dim")
