"""Sessions from their creation to their end; what is asked of their turns is in `turns`."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Literal

from agentls.engine.accepted import Defaults
from agentls.engine.histories import Histories
from agentls.engine.queue import Queue
from agentls.engine.runner import Runner
from agentls.engine.stores import Stores, scope_of
from agentls.engine.views import Views, bounded
from agentls.errors import invalid_param
from agentls.schema.base import Raw, now
from agentls.schema.event import Scope
from agentls.schema.ids import Prefix, new
from agentls.schema.model import ModelRef
from agentls.schema.session import DEFAULT_TITLE, Mode, Position, Session, SessionTime
from agentls.storage.sessions import SessionQuery, SessionRow
from agentls.workspace.project import project_of

Rejudge = Callable[[str], None]
"""Root session id: judge its open questions anew."""


class Sessions:
    def __init__(
        self,
        stores: Stores,
        views: Views,
        runner: Runner,
        histories: Histories,
        queue: Queue,
        defaults: Defaults,
        rejudge: Rejudge,
    ) -> None:
        self._stores = stores
        self._views = views
        self._runner = runner
        self._histories = histories
        self._queue = queue
        self._defaults = defaults
        self._rejudge = rejudge

    def create(
        self,
        *,
        directory: Path,
        title: str | None = None,
        agent: str | None = None,
        model: ModelRef | None = None,
        mode: Mode | None = None,
    ) -> Session:
        if not directory.is_absolute() or not directory.is_dir():
            raise invalid_param("directory", f"`directory` {directory} is not a folder. Give the absolute path of one.")
        session_id, time = new(Prefix.SESSION), now()
        session = Session(
            id=session_id,
            project_id=project_of(directory).id,
            directory=str(directory),
            title=title or DEFAULT_TITLE,
            agent=self._defaults.agent(agent, str(directory)),
            mode=mode or "ask",
            time=SessionTime(created=time, updated=time),
        )
        if model is not None:
            session = session.but(model=self._defaults.model(session, session.agent, model), model_chosen=True)
        with self._stores.journal.transaction():
            seq = self._stores.sessions.insert(session, session_id)
            self._tell(Scope(session_id, session_id, session.directory), seq, session, "created")
        return session

    def update(
        self,
        session_id: str,
        *,
        title: str | None = None,
        archived: bool | None = None,
        agent: str | None = None,
        model: ModelRef | None = None,
        mode: Mode | None = None,
    ) -> Session:
        row = self._stores.session(session_id)
        self._runner.claim(session_id)
        session = row.session
        if title is not None:
            session = session.but(title=title.strip() or session.title)
        if archived is not None:
            session = session.but(time=session.time.but(archived=now() if archived else None))
        if agent is not None:
            session = session.but(agent=self._defaults.agent(agent, session.directory))
        if model is not None:
            session = session.but(model=self._defaults.model(session, session.agent, model), model_chosen=True)
        if mode is not None:
            session = session.but(mode=mode)
        session = self._stores.save_session(scope_of(row), session)
        if agent is not None or mode is not None:
            self._rejudge(row.root_id)
        return session

    async def delete(self, session_id: str) -> None:
        """Its turn is stopped first. Deleting what is not there is no error."""
        row = self._stores.sessions.get(session_id)
        if row is None:
            return
        patiently = self._stores.journal.patiently
        await patiently(partial(self._runner.claim, session_id))
        for gone in self._stores.sessions.tree(session_id):
            active = self._runner.active(gone)
            if active is not None:
                await self._runner.stop(active, "abort")
            self._histories.forget(gone)
        await patiently(partial(self._delete, row))

    def _delete(self, row: SessionRow) -> None:
        self._queue.clear(scope_of(row))
        self._stores.sessions.delete(row.session.id)
        self._tell(scope_of(row), row.counter + 1, row.session, "deleted")

    def list_page(
        self,
        *,
        directory: Path | None = None,
        query: str | None = None,
        archived: bool | None = None,
        cursor: str | None = None,
        limit: int | None = None,
    ) -> Raw:
        """The newest first; those of the directory's project, or all."""
        project_id = project_of(directory).id if directory is not None else None
        return self._views.sessions(SessionQuery(project_id, query, bool(archived), cursor, bounded(limit)))

    def get(self, session_id: str) -> Raw:
        self._runner.settle_dead(session_id)
        return self._views.session(session_id)

    def messages(self, session_id: str, before: str | None = None, limit: int | None = None) -> Raw:
        self._runner.settle_dead(session_id)
        return self._views.messages(session_id, before, limit)

    def position(self, session_id: str) -> Position:
        return self._views.position(session_id)

    def attach(self, session_id: str, since: Position | None = None) -> Raw:
        self._runner.settle_dead(session_id)
        return self._views.attach(session_id, since)

    def part(self, session_id: str, part_id: str) -> Raw:
        return self._views.part(session_id, part_id)

    def queue_list(self, session_id: str) -> Raw:
        return self._views.queue(session_id)

    def queue_remove(self, session_id: str, message_id: str) -> Raw:
        row = self._stores.session(session_id)
        self._runner.claim(session_id)
        self._queue.remove(scope_of(row), message_id)
        return self._views.queue(session_id)

    def _tell(self, scope: Scope, seq: int, session: Session, verb: Literal["created", "deleted"]) -> None:
        params = b'"session":' + session.wire()
        self._stores.journal.changed(scope, seq, "session", session.id, f"session/{verb}", params)
