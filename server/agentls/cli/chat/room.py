"""The session that is talked in, as it is on the wire: kept up to date, shown, and asked for."""

import math
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path

import anyio

from agentls.cli.asking import Asking, Person
from agentls.cli.chat.connection import Connection, Members, RefusedError
from agentls.cli.chat.copy import Copy
from agentls.cli.chat.server import Server
from agentls.cli.view import STOPPED, View, about, waits
from agentls.schema.ids import Prefix, new
from agentls.schema.message import MessageError
from agentls.schema.model import Usage
from agentls.schema.part import TextPart, ToolPart
from agentls.schema.permission import Permission, Reply, RuleScope
from agentls.schema.question import Answers, Question
from agentls.schema.session import RetryStatus


class Room:
    """`wishes` are the agent, model and mode for the next new session."""

    def __init__(self, directory: Path, person: Person, wishes: Members, *, trusted: bool) -> None:
        self.directory = str(directory)
        self.server = Server(directory, self._hear, self._died, self._again, trusted=trusted)
        self.copy: Copy | None = None
        self.wishes = wishes
        self._screen = person.screen
        self._asking = Asking(self, person, self.directory)
        self._view = View(self._screen, self.directory)
        self._pending: dict[str, Members] = {}
        self._open: tuple[str, anyio.CancelScope] | None = None
        self._asks, self._asked = anyio.create_memory_object_stream[Members](math.inf)
        self._errands, self._to_do = anyio.create_memory_object_stream[Callable[[], Awaitable[None]]](math.inf)
        self._cut = False

    @property
    def busy(self) -> bool:
        return self.copy is not None and self.copy.busy

    def status(self) -> str:
        """What goes on, in a few words; nothing while nothing does, or while it is asked."""
        if self.copy is None or not self.copy.busy or self._open is not None:
            return ""
        running = self.copy.running()
        return f"{'working' if running is None else about(running, self.directory)} · Ctrl-C stops"

    async def run(self) -> None:
        """Until cancelled, or until `server.close`."""
        async with anyio.create_task_group() as group:
            group.start_soon(self._ask_in_turn)
            group.start_soon(self._run_errands)
            await self.server.run()
            group.cancel_scope.cancel()

    # -- what the person wants

    async def prompt(self, text: str) -> None:
        """While a turn runs it steers it. The id makes it safe to send it again. Raises `RefusedError`."""
        message_id = new(Prefix.MESSAGE)
        copy = await self._session()
        part = {"type": "text", "text": text}
        params: Members = {"sessionId": copy.id, "messageId": message_id, "parts": [part]}
        result = await self.server.request("session/prompt", params)
        if result["state"] == "queued":
            self._screen.line("It waits for its turn.", "dim")

    async def resume(self) -> None:
        if self.copy is not None:
            await self.server.request("session/continue", {"sessionId": self.copy.id})

    def abort(self) -> None:
        """Nothing waits for it: an abort is shown by the turn's end."""
        if self.copy is not None:
            self._errands.send_nowait(partial(self._abort, self.copy.id))

    async def change(self, **members: str | Members) -> None:
        """Of the session, or of the one to come."""
        if self.copy is None:
            self.wishes |= members
            return
        params: Members = {"sessionId": self.copy.id, **members}
        await self.server.request("session/update", params)

    def leave(self) -> None:
        """The next prompt begins a new session."""
        self.copy = None
        self._forget_asks()

    async def enter(self, session_id: str) -> int | None:
        """Goes on with a session; where another process works on it, that one's number is returned instead."""
        result = await self.server.request("session/attach", {"sessionId": session_id}, self._entered)
        return int(result["owner"]["pid"]) if "owner" in result else None

    async def _session(self) -> Copy:
        if self.copy is None:
            params: Members = {"directory": self.directory, **self.wishes}
            await self.server.request("session/create", params, self._created)
        if self.copy is None:
            raise RefusedError({"message": "the session is gone; send it once more"})
        return self.copy

    async def _abort(self, session_id: str) -> None:
        await self.server.request("session/abort", {"sessionId": session_id})

    # -- what comes

    def _hear(self, method: str, params: Members) -> None:
        mine = self.copy is not None and params.get("sessionId") == self.copy.id
        match method:
            case "permission/asked" | "question/asked":
                self._ask(params)
            case "permission/resolved" | "question/resolved":
                self._settled(params.get("permissionId") or params["questionId"])
            case "notice":
                self._screen.line(" ".join(filter(None, (params["title"], params.get("description")))), "yellow")
            case "session/resync" if mine:
                self._errands.send_nowait(self._catch_up)
            case "session/deleted" if mine:
                self._screen.line("This session was deleted elsewhere.", "yellow")
                self.leave()
            case _ if mine:
                self._tell(method, params)
            case _:
                pass

    def _tell(self, method: str, params: Members) -> None:
        if self.copy is not None:
            self.copy.notified(method, params)
        if method == "session/status" and params["status"]["type"] == "retry":
            self._screen.line(waits(RetryStatus.model_validate(params["status"])), "yellow")

    def _ended(self, turn: Members) -> None:
        reason = turn["stopReason"]
        if self._cut and reason == "cancelled":
            self._screen.line("The turn was cut off by that; /continue goes on with it.", "yellow")
        elif reason == "error":
            failed = MessageError.model_validate(turn.get("error") or {"name": "UnknownError"})
            self._screen.line(f"✗ {failed.data.get('message') or failed.name}", "red")
        elif reason in STOPPED:
            self._screen.line(STOPPED[reason], "yellow")
        usage = Usage.model_validate(turn["usage"])
        cost = f" · ${usage.cost:.4f}" if usage.cost else ""
        self._screen.line(f"{reason} · {usage.tokens.total:,} tokens{cost}", "dim")
        self._screen.gap()

    # -- attaching

    def _made(self, session: Members) -> Copy:
        self._view = View(self._screen, self.directory)
        self.copy = Copy(session, self._view, self._ended, self._misfit)
        return self.copy

    def _created(self, result: Members) -> None:
        self._made(result["session"]).created(result)

    def _entered(self, result: Members) -> None:
        if "owner" in result:
            return
        self._forget_asks()
        copy = self._made(result["snapshot"]["session"])
        copy.attached(result, quiet=True)
        self._show_last(copy)
        self._take_pending(result)

    def _show_last(self, copy: Copy) -> None:
        self._screen.title(copy.session["title"])
        asked, parts = copy.last_exchange()
        if asked:
            self._screen.line(f"› {asked}", "bold")
        for part in parts:
            self._view.part(part)
            if isinstance(part, TextPart) and not part.synthetic:
                self._view.text(part.id, part.text)
            elif isinstance(part, ToolPart) and part.state.status == "running":
                self._screen.line(f"… {about(part, self.directory)}", "dim")
        self._screen.gap()

    def _caught_up(self, result: Members) -> None:
        if self.copy is not None:
            self.copy.attached(result, quiet=False)
            self._take_pending(result)

    async def _catch_up(self) -> None:
        if self.copy is not None:
            await self.server.request("session/attach", self._since(self.copy), self._caught_up)

    def _misfit(self, part_id: str) -> None:
        self._errands.send_nowait(partial(self._fetch, part_id))

    async def _fetch(self, part_id: str) -> None:
        copy = self.copy
        if copy is not None:
            await self.server.request("part/get", {"sessionId": copy.id, "partId": part_id}, copy.fetched)

    def _died(self, why: str) -> None:
        self._forget_asks()
        self._cut = True
        self._screen.line(f"The server ended ({why}); it is started again.", "yellow")

    async def _again(self, connection: Connection) -> None:
        if self.copy is not None:
            await connection.request("session/attach", self._since(self.copy), self._caught_up)
        self._cut = False

    def _since(self, copy: Copy) -> Members:
        return {"sessionId": copy.id, **({"since": copy.position} if copy.position is not None else {})}

    async def _run_errands(self) -> None:
        async for errand in self._to_do:
            try:
                await errand()
            except RefusedError as error:
                self._screen.line(f"✗ {error}", "red")

    # -- asking

    def _take_pending(self, result: Members) -> None:
        for asked in (*result["pending"]["permissions"], *result["pending"]["questions"]):
            self._ask(asked)

    def _ask(self, asked: Members) -> None:
        name = asked.get("permissionId") or asked["questionId"]
        if self.copy is not None and asked["rootSessionId"] == self.copy.id and name not in self._pending:
            self._pending[name] = asked
            self._asks.send_nowait(asked)

    def _settled(self, name: str) -> None:
        self._pending.pop(name, None)
        if self._open is not None and self._open[0] == name:
            self._open[1].cancel()

    def _forget_asks(self) -> None:
        for name in tuple(self._pending):
            self._settled(name)

    async def _ask_in_turn(self) -> None:
        async for asked in self._asked:
            name = asked.get("permissionId") or asked["questionId"]
            if self._pending.get(name) is not asked:
                continue
            with anyio.CancelScope() as scope:
                self._open = (name, scope)
                try:
                    await self._put(asked)
                except RefusedError as error:
                    self._screen.line(f"✗ {error}", "red")
            self._open = None

    async def _put(self, asked: Members) -> None:
        if "permissionId" in asked:
            await self._asking.permission(Permission.model_validate(asked))
        else:
            await self._asking.question(Question.model_validate(asked))

    async def allow(self, permission_id: str, reply: Reply, scope: RuleScope | None, words: str | None) -> bool:
        params: Members = {"permissionId": permission_id, "reply": reply}
        params |= {name: value for name, value in (("scope", scope), ("message", words)) if value is not None}
        return (await self._answer("permission/reply", params))["status"] != "superseded"

    async def answer(self, question_id: str, answers: Answers | None) -> None:
        if answers is None:
            await self._answer("question/reject", {"questionId": question_id})
        else:
            await self._answer("question/reply", {"questionId": question_id, "answers": answers})

    async def _answer(self, method: str, params: Members) -> Members:
        """Our own answer settles it too: that must not cut off the sending of it."""
        if self._open is not None:
            self._open = ("", self._open[1])
        return await self.server.request(method, params)
