"""The composition root: builds the house, floor by floor, and takes it down again."""

import importlib
import logging
import sqlite3
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
from anyio import to_thread
from anyio.abc import TaskGroup
from pydantic_core import to_json

from agentls.app.catalog import Choices
from agentls.app.configuration import Configuration
from agentls.app.models import Models, make_sdk_client
from agentls.app.status import Status
from agentls.app.toolbox import Toolbox
from agentls.bus import Bus
from agentls.config.agents import Agent
from agentls.config.files import Problem
from agentls.config.paths import Paths
from agentls.engine.accepted import Defaults
from agentls.engine.attachments import Attachments
from agentls.engine.expand import Expander
from agentls.engine.frame import Frames
from agentls.engine.histories import Histories
from agentls.engine.interrupt import Interrupter
from agentls.engine.loop import Loop
from agentls.engine.queue import Queue
from agentls.engine.run import Run
from agentls.engine.runner import Runner
from agentls.engine.sessions import Sessions
from agentls.engine.step import Steps
from agentls.engine.stores import Stores
from agentls.engine.toolcalls import ToolCalls
from agentls.engine.transcript import Transcript
from agentls.engine.turns import Turns
from agentls.engine.usershell import UserShell
from agentls.engine.views import Views
from agentls.errors import AgentError, invalid_param
from agentls.model.providers import MakeClient
from agentls.permission.broker import Broker
from agentls.permission.ledger import Ledger
from agentls.permission.policy import Configured, Policy
from agentls.permission.questions import Questions
from agentls.schema.base import Raw
from agentls.schema.event import Changed, Event
from agentls.storage.changes import ChangeStore
from agentls.storage.database import VERSION, Database, is_broken
from agentls.storage.journal import Journal
from agentls.storage.owners import Owners
from agentls.storage.rescue import move_aside
from agentls.storage.upkeep import Upkeep
from agentls.tools.diagnostics import Diagnostics
from agentls.workspace.find import find_files

log = logging.getLogger(__name__)

# The permission that decides whether a tool is offered; of others it is the tool's name.
_PERMISSION_OF = {"write": "edit", "apply_patch": "edit"}


_MOVED = "the sessions of before are not there, for their database could not be read"
_NO_LOG = (
    "this file system has no shared memory for SQLite, so programs that use the sessions at once wait for each other."
    " A folder on a local disk is faster: set AGENTLS_DATA_DIR."
)
_NO_LOCKS = (
    "locks do not work on this file system, so two editor windows could damage the sessions' database. Use one window"
    " alone, or set AGENTLS_DATA_DIR to a folder on a local disk."
)


class App:
    """One process's engine. `tasks` outlives every session's run; `close` ends them in order."""

    def __init__(
        self, paths: Paths, env: Mapping[str, str], database: Database, tasks: TaskGroup, make_client: MakeClient
    ) -> None:
        self.paths = paths
        self.tasks = tasks
        self.bus = Bus()
        self.database = database
        self.journal = Journal(database, self.bus)
        self.owners = Owners(database, paths.data / "instances")
        self.owners.start()
        self.upkeep = Upkeep(self.journal)
        self.configuration = Configuration(paths, env)
        self.models = Models(self.configuration, env, make_client)
        self.stores = Stores(self.journal, self.owners)
        self.transcript = Transcript(self.journal, self.stores.messages)
        self.ledger = Ledger(self.journal, self.stores.questions, self.stores.sessions)
        self._policy = Policy(
            self.stores.sessions,
            self.stores.rules,
            self.configuration.configured,
            lambda directory: self.configuration.project(directory).root,
            paths.home,
        )
        self.permissions = Broker(
            self.journal,
            self.ledger,
            self.stores.questions,
            self.stores.rules,
            self.stores.sessions,
            self._policy.judge,
        )
        self.questions = Questions(self.journal, self.ledger, self.stores.questions)
        changes = ChangeStore(database)
        self.toolbox = Toolbox(
            paths, self.owners.instance_id, changes, self.stores, self.questions, self._policy.unreadable
        )
        self.choices = Choices(self.configuration, self.models, self.toolbox.registry)
        self.status = Status(self.configuration)
        if not self.owners.locks_hold:
            self.status.stored([Problem(str(paths.data), 0, 0, _NO_LOCKS)])
        self._build_engine(changes)
        self.bus.subscribe(self._forget_deleted)
        self._preparing: dict[str, list[anyio.Event]] = {}
        self._offers: dict[tuple[str, str], tuple[Configured, bool, str]] = {}
        self._closed = False
        self._warm = False

    def _build_engine(self, changes: ChangeStore) -> None:
        interrupter = Interrupter(self.stores, self.transcript, self.ledger)
        self.runner = Runner(self.tasks, self.stores, self.transcript, interrupter)
        histories, queue = Histories(self.stores.messages), Queue(self.stores)
        views = Views(self.stores, self.transcript, self.runner)
        frames = Frames(self.stores.sessions, self.configuration.place)
        steps = Steps(
            self.stores,
            self.models.of,
            frames,
            ToolCalls(self.toolbox.registry, self.permissions),
            changes,
            self._offered,
        )
        expander = Expander(self.toolbox.registry, self._policy.judge)
        loop = Loop(self.stores, steps, expander, self._agent)
        defaults = Defaults(self._agent_name, self.models.choose, frames.notes, Attachments(self.toolbox.buffers).text)
        user_shell = UserShell(self.toolbox.shell, self.toolbox.outputs, self.toolbox.buffers)
        self.turns = Turns(
            self.stores, self.transcript, self.runner, interrupter, loop, histories, queue, user_shell, defaults
        )
        self.sessions = Sessions(self.stores, views, self.runner, histories, queue, defaults, self.permissions.rejudge)
        self.ledger.claim = self.runner.claim
        self.ledger.on_answered = self.turns.answered
        self.permissions.continue_on_reject = self._continues_on_reject

    # -- what the engine asks of the settings

    def _agent(self, name: str, directory: str) -> Agent:
        return self.configuration.agents(directory).get(name)

    def _agent_name(self, name: str | None, directory: str) -> str:
        agents = self.configuration.agents(directory)
        return agents.default().name if name is None else agents.get(name).name

    def _offered(self, run: Run, agent: Agent) -> str:
        """The tool list of an agent; built once for as long as the settings stay as they are."""
        directory = run.scope.directory
        configured = self.configuration.configured(directory)
        diagnoses = self.toolbox.buffers.editor.diagnoses
        known = self._offers.get((directory, agent.name))
        if known is None or known[0] is not configured or known[1] is not diagnoses:
            names = [
                name
                for name in self.toolbox.registry.names
                if not self._policy.hides(directory, agent.name, _PERMISSION_OF.get(name, name))
                and (diagnoses or name != Diagnostics.name)
            ]
            known = (configured, diagnoses, self.toolbox.registry.offered(names).decode())
            self._offers[directory, agent.name] = known
        return known[2]

    def _continues_on_reject(self, session_id: str) -> bool:
        directory = self.stores.session(session_id).session.directory
        return self.configuration.loaded(directory).settings.experimental.continue_loop_on_deny

    def _forget_deleted(self, event: Event) -> None:
        if isinstance(event, Changed) and event.method == "session/deleted":
            self.toolbox.reads.forget(event.scope.session_id)

    # -- what the front doors ask

    def connect(
        self,
        *,
        can_ask: bool,
        trusted: bool | None = None,
        settings: dict[str, Any] | None = None,
        folders: tuple[Path, ...] = (),
    ) -> None:
        """What a client says of itself. `trusted` is its word about `folders`."""
        self.ledger.can_ask = can_ask
        self.configuration.connect(settings=settings, trusted=trusted, folders=folders)
        self.permissions.rejudge_waiting()

    async def ready_for(self, session_id: str) -> None:
        """Before a prompt: where nobody chose a model, find out which there are. Returns at once if that is known."""
        row = self.stores.sessions.get(session_id)
        if row is None or row.session.model is not None or self.models.default_now(row.session.directory) is not None:
            return
        ready = anyio.Event()
        self._preparing.setdefault(session_id, []).append(ready)
        try:
            await self.models.prepare(row.session.directory)
        finally:
            ready.set()
            self._preparing[session_id].remove(ready)
            if not self._preparing[session_id]:
                del self._preparing[session_id]

    async def prompts_ready(self, session_id: str) -> None:
        """Before an abort: the prompts that came before it are to be found by it."""
        for ready in tuple(self._preparing.get(session_id, ())):
            await ready.wait()

    def secrets(self) -> list[str]:
        return self.models.secrets()

    def config_view(self, directory: Path) -> Raw:
        return self.choices.settings(directory)

    async def trust(self, directory: Path, *, trusted: bool) -> Raw:
        loaded = await self.configuration.trust(str(directory), trusted=trusted)
        self.permissions.rejudge_waiting()
        return Raw(to_json({"trusted": loaded.trust == "trusted"}))

    async def find_files(self, query: str, directory: Path, limit: int) -> Raw:
        if not directory.is_dir():
            raise invalid_param("directory", f"`directory` {directory} is not a folder. Give the absolute path of one.")
        found = await find_files(self.toolbox.search, directory, query, limit)
        files = [{"path": str(path), "name": str(path.relative_to(directory))} for path in found]
        return Raw(to_json({"files": files}))

    def expect_prompt(self) -> None:
        """A session is open."""
        if not self._warm:
            self._warm = True
            self.tasks.start_soon(self.models.warm_up, name="warm up")

    # -- life

    async def start(self) -> None:
        """What need not be done before the first answer."""
        try:
            await self.journal.patiently(self.runner.sweep)
        except (sqlite3.Error, AgentError):
            log.exception("the sessions of dead processes were not swept; each is when it is used")
        self.tasks.start_soon(self.transcript.keep_saving, name="save growing parts")
        self.tasks.start_soon(self.upkeep.run, name="keep the database small")
        try:
            self.owners.sweep()
        except (sqlite3.Error, OSError):
            log.exception("what dead processes left was not swept; the next start tries again")
        await to_thread.run_sync(self.toolbox.outputs.sweep)

    async def close(self) -> None:
        """End all runs as interrupted, save, end the children. Safe to call twice."""
        if self._closed:
            return
        self._closed = True
        async with anyio.create_task_group() as stopping:
            for active in self.runner.all():
                stopping.start_soon(self.runner.stop, active, "exit")
        await self.toolbox.watchdog.aclose()
        await self.models.aclose()
        await self.upkeep.close()
        self.owners.stop()
        self.database.close()


@asynccontextmanager
async def open_app(
    paths: Paths, env: Mapping[str, str], make_client: MakeClient = make_sdk_client
) -> AsyncGenerator[App]:
    """The app on the database of `paths`, brought to the newest schema if need be."""
    database, problems = open_database(paths.data / "agentls.db", paths.data / "instances")
    async with anyio.create_task_group() as tasks:
        app = App(paths, env, database, tasks, make_client)
        app.status.stored(problems)
        try:
            tasks.start_soon(app.start, name="start")
            yield app
        finally:
            with anyio.CancelScope(shield=True):
                await app.close()
            # Not in `close`: whoever awaits that runs inside this group, and still has its answer to give.
            tasks.cancel_scope.cancel()


def open_database(path: Path, instances: Path) -> tuple[Database, list[Problem]]:
    """The database, a new one where the old one cannot be read; and what there is to say of it."""
    problems: list[Problem] = []
    try:
        database = _opened(path)
    except sqlite3.DatabaseError as error:
        if not is_broken(error):
            raise
        moved = move_aside(path, instances)
        if moved is not None:
            log.exception("the database was moved to %s", moved)
            problems.append(
                Problem(str(path), 0, 0, f"{_MOVED} ({error}); it is now {moved}, for you to keep or mend.")
            )
        database = _opened(path)
    if not database.has_log:
        problems.append(Problem(str(path), 0, 0, _NO_LOG, "warning"))
    return database, problems


def _opened(path: Path) -> Database:
    """sqlite-utils, which costs 0.2 s, is imported only if there is something to migrate."""
    database = Database(path)
    if database.version < VERSION:
        migrate: Callable[[Path], None] = importlib.import_module("agentls.storage.migrations").migrate
        migrate(path)
    database.open()
    return database
