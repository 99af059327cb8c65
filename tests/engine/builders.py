"""A whole store in a folder, and short ways to put sessions, messages and parts into it."""

import itertools
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio

from agentls.bus import Bus
from agentls.engine.history import History
from agentls.engine.interrupt import Interrupter
from agentls.engine.stores import Stores
from agentls.engine.transcript import Token, Transcript, Writer
from agentls.permission.broker import Broker
from agentls.permission.ledger import Asker, Ledger
from agentls.permission.questions import Questions
from agentls.permission.rules import Layer, Verdict, judge
from agentls.schema.event import Changed, Event, Scope
from agentls.schema.ids import Prefix, new
from agentls.schema.message import AssistantMessage, Created, Span, UserMessage, Where
from agentls.schema.model import ModelRef
from agentls.schema.part import Completed, PartTime, Pending, Running, TextPart, ToolPart
from agentls.schema.permission import Ask, Rule
from agentls.schema.session import Session, SessionTime, Turn, TurnTime
from agentls.storage.database import VERSION, Database
from agentls.storage.journal import Journal
from agentls.storage.migrations import migrate
from agentls.storage.owners import Owners

MODEL = ModelRef(provider_id="demo", model_id="one")
FOLDER = "/project"


def open_database(path: Path) -> Database:
    database = Database(path)
    if database.version < VERSION:
        migrate(path)
    database.open()
    return database


def user_message(session_id: str, pos: int, **more: Any) -> UserMessage:
    names: dict[str, Any] = {"id": new(Prefix.MESSAGE), "time": Created(created=1), "agent": "build", "model": MODEL}
    return UserMessage(**{**names, "session_id": session_id, "pos": pos, **more})


def assistant_message(session_id: str, pos: int, parent_id: str, **more: Any) -> AssistantMessage:
    names: dict[str, Any] = {
        "id": new(Prefix.MESSAGE),
        "time": Span(created=1),
        "agent": "build",
        "model": MODEL,
        "path": Where(cwd=FOLDER, root=FOLDER),
    }
    return AssistantMessage(**{**names, "session_id": session_id, "pos": pos, "parent_id": parent_id, **more})


def text_part(message: UserMessage | AssistantMessage, pos: int, text: str, **more: Any) -> TextPart:
    names: dict[str, Any] = {"id": new(Prefix.PART), "session_id": message.session_id, "message_id": message.id}
    return TextPart(**{**names, "pos": pos, "text": text, **more})


def tool_part(message: UserMessage | AssistantMessage, pos: int, state: Any, tool: str = "read") -> ToolPart:
    part_id = new(Prefix.PART)
    return ToolPart(
        id=part_id,
        session_id=message.session_id,
        message_id=message.id,
        pos=pos,
        call_id=f"call_{pos}",
        tool=tool,
        state=state,
    )


def completed(output: str = "done", arguments: dict[str, Any] | None = None, **more: Any) -> Completed:
    return Completed(input=arguments or {}, output=output, title="", time=PartTime(start=1, end=2), **more)


def running(**more: Any) -> Running:
    return Running(**{"input": {}, "time": PartTime(start=1), **more})


def pending(**more: Any) -> Pending:
    return Pending(**more)


@asynccontextmanager
async def at_work(*works: Callable[[], Awaitable[None]]) -> AsyncIterator[None]:
    """All have gone as far as they can without us; at the end those that still wait are cut off."""
    failure: AssertionError | None = None
    async with anyio.create_task_group() as tasks:
        for work in works:
            tasks.start_soon(work)
        await anyio.wait_all_tasks_blocked()
        try:
            yield
        except AssertionError as error:  # raised below, so that it is told as it is and not as one of a group
            failure = error
        await anyio.wait_all_tasks_blocked()
        tasks.cancel_scope.cancel()
    if failure is not None:
        raise failure


class World:
    """One process's services over one database, the layers that own it and no more."""

    def __init__(self, folder: Path) -> None:
        self.database = open_database(folder / "data" / "agentls.db")
        self.events: list[Event] = []
        bus = Bus()
        bus.subscribe(self.events.append)
        self.journal = Journal(self.database, bus)
        self.owners = Owners(self.database, folder / "data" / "instances")
        self.stores = Stores(self.journal, self.owners)
        self.transcript = Transcript(self.journal, self.stores.messages)
        self.ledger = Ledger(self.journal, self.stores.questions, self.stores.sessions)
        self.interrupter = Interrupter(self.stores, self.transcript, self.ledger)
        self.layers: list[Layer] = []
        self.broker = Broker(
            self.journal, self.ledger, self.stores.questions, self.stores.rules, self.stores.sessions, self.judge
        )
        self.questions = Questions(self.journal, self.ledger, self.stores.questions)
        self.ledger.can_ask = True
        self.answered: list[str] = []
        self.ledger.on_answered = self.answered.append
        self._count = itertools.count(1)

    def judge(self, session_id: str, _agent: str, ask: Ask) -> Verdict:
        row = self.stores.session(session_id)
        stored = self.stores.rules.of(row.session.project_id, row.root_id)
        approvals = Layer("approvals", tuple(one.rule for one in stored))
        return judge([*self.layers, approvals], row.session.mode, ask)

    def rule(self, permission: str, action: Any, pattern: str = "*") -> None:
        self.layers.append(Layer("test", (Rule(permission=permission, pattern=pattern, action=action),)))

    def session(
        self, parent: Scope | None = None, *, project: str = "prj", updated: int = 1, title: str = "T"
    ) -> Scope:
        session_id = new(Prefix.SESSION)
        session = Session(
            id=session_id,
            project_id=project,
            parent_id=parent.session_id if parent else None,
            directory=FOLDER,
            title=title,
            agent="build",
            time=SessionTime(created=1, updated=updated),
        )
        root = parent.root_id if parent else session_id
        with self.journal.transaction():
            self.stores.sessions.insert(session, root)
        return Scope(session_id, root, FOLDER)

    def writer(self, scope: Scope, token: Token | None = None) -> Writer:
        return self.transcript.writer(scope, token or Token())

    def user(self, scope: Scope, text: str = "hello", **more: Any) -> UserMessage:
        writer = self.writer(scope)
        message = writer.message(user_message(scope.session_id, writer.place(), **more))
        writer.part(TextPart(**writer.ids(message.id), text=text))
        return message

    def assistant(self, scope: Scope, user: UserMessage, **more: Any) -> AssistantMessage:
        writer = self.writer(scope)
        return writer.message(assistant_message(scope.session_id, writer.place(), user.id, **more))

    def growing(self, scope: Scope, message: AssistantMessage, text: str = "") -> TextPart:
        writer = self.writer(scope)
        part = writer.part(TextPart(**writer.ids(message.id), text="", time=PartTime(start=1)))
        if text:
            writer.grow(part.id, "text", text)
        return part

    def tool(self, scope: Scope, message: AssistantMessage, state: Any, tool: str = "bash") -> ToolPart:
        writer = self.writer(scope)
        return writer.part(ToolPart(**writer.ids(message.id), call_id="call", tool=tool, state=state))

    def turn(self, scope: Scope, message: UserMessage, *, started: int | None = None, **more: Any) -> Turn:
        turn = Turn(
            id=new(Prefix.TURN),
            session_id=scope.session_id,
            message_id=message.id,
            state=more.pop("state", "running"),
            time=TurnTime(started=started if started is not None else next(self._count)),
            **more,
        )
        with self.journal.transaction():
            self.stores.turns.save(turn)
        return turn

    def asker(self, scope: Scope, part_id: str = "", turn_id: str = "trn_x") -> Asker:
        project = self.stores.session(scope.session_id).session.project_id
        return Asker(scope, project, "build", turn_id, "msg_x", part_id or new(Prefix.PART))

    def part(self, part_id: str) -> Any:
        return self.writer(Scope(self._session_of(part_id), "", "")).stored(part_id)

    def _session_of(self, part_id: str) -> str:
        row = self.database.one("SELECT session_id FROM parts WHERE id = ?", (part_id,))
        return str(row[0]) if row else ""

    def history(self, scope: Scope) -> History:
        history = History(self.stores.messages, scope.session_id)
        history.refresh()
        return history

    def methods(self) -> list[str]:
        return [event.method for event in self.events if isinstance(event, Changed)]

    def close(self) -> None:
        self.owners.stop()
        self.database.close()
