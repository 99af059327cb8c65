"""What was asked of the user, and who waits for the answer. Rows outlive the process, waiters do not."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import anyio
from pydantic_core import from_json, to_json

from agentls.config.prompts import prompt
from agentls.errors import AgentError, ErrorKind, ToolError
from agentls.schema.event import Kind, Scope
from agentls.schema.permission import Outcome, ResolvedBy
from agentls.storage.journal import Journal
from agentls.storage.questions import AskedRow, QuestionKind, QuestionStore
from agentls.storage.sessions import SessionStore


@dataclass(frozen=True, slots=True)
class Asker:
    """In whose name something is asked."""

    scope: Scope
    project_id: str
    agent: str
    turn_id: str
    message_id: str
    part_id: str


class Ledger:
    """`can_ask` tells whether anybody is there to answer; `claim` makes sure that this process may write the session,
    `on_answered` is told of an answer that nobody waited for. The last two are set once there is an engine.
    """

    def __init__(self, journal: Journal, rows: QuestionStore, sessions: SessionStore) -> None:
        self._journal = journal
        self._rows = rows
        self._sessions = sessions
        self._waiters: dict[str, anyio.Event] = {}
        self.can_ask = False
        self.claim: Callable[[str], None] = lambda _: None
        self.on_answered: Callable[[str], None] = lambda _: None

    def require_somebody(self) -> None:
        if not self.can_ask:
            raise ToolError(prompt("results/nobody"), "nobody could answer the question")

    def open(self, asker: Asker, kind: QuestionKind, row_id: str, wire: bytes, private: dict[str, Any]) -> AskedRow:
        """Store the question and tell everybody. `wire` is what a client shows."""
        scope = asker.scope
        row = AskedRow(
            id=row_id,
            session_id=scope.session_id,
            root_id=scope.root_id,
            kind=kind,
            turn_id=asker.turn_id,
            part_id=asker.part_id,
            open=True,
            seq=0,
            wire=wire.decode(),
            resolution=None,
            private=to_json(private).decode(),
        )
        with self._journal.transaction():
            seq = self._rows.insert(row)
            self._journal.changed(scope, seq, kind, row_id, f"{kind}/asked", _without_scope(wire))
        return row

    def claimed(self, row_id: str, kind: QuestionKind) -> AskedRow:
        """What was asked, as it is once this process may answer it. Raises `AgentError` where there is none."""
        row = self._row(row_id, kind)
        if not row.open:
            return row
        self.claim(row.session_id)
        return self._row(row_id, kind)  # the sweep of a dead process may have closed it

    def resolve(
        self, row: AskedRow, outcome: Outcome, by: ResolvedBy, rest: dict[str, Any] | None = None
    ) -> dict[str, Any]:
        """End a question; whoever waits for it goes on. `rest`: reply, message or answers. Returns the resolution."""
        resolution = {"outcome": outcome, "by": by, **(rest or {})}
        scope = self.scope_of(row)
        kind: Kind = "permission" if row.kind == "permission" else "question"
        told = {f"{kind}Id": row.id, **{key: value for key, value in resolution.items() if key != "message"}}
        with self._journal.transaction():
            seq = self._rows.resolve(row.session_id, row.id, to_json(resolution).decode())
            self._journal.changed(scope, seq, kind, row.id, f"{kind}/resolved", to_json(told)[1:-1])
        self._journal.then(partial(self._wake, row.id))
        return resolution

    def _wake(self, row_id: str) -> None:
        waiter = self._waiters.pop(row_id, None)
        if waiter is not None:
            waiter.set()

    def answer(
        self, row: AskedRow, outcome: Outcome, by: ResolvedBy, rest: dict[str, Any] | None = None
    ) -> dict[str, Any]:
        """Ends a question by an answer, which an earlier process may have asked for. Returns the resolution."""
        waited = self.waited_for(row.id)
        resolution = self.resolve(row, outcome, by, rest)
        if not waited:
            self.on_answered(row.session_id)
        return resolution

    def cancel(self, session_id: str, root_id: str, by: ResolvedBy, keep: frozenset[str] = frozenset()) -> None:
        """End what is open in a session as cancelled, but for the rows in `keep`."""
        for row in self._rows.open_of_root(root_id):
            if row.session_id == session_id and row.id not in keep:
                self.resolve(row, "cancelled", by)

    def listing(self, kind: QuestionKind, session_id: str | None) -> list[str]:
        """What is open, as wire JSON: of one session and its children, or of all."""
        rows = self._rows.open_all(kind)
        below = self._sessions.tree(session_id) if session_id is not None else None
        return [row.wire for row in rows if below is None or row.session_id in below]

    def scope_of(self, row: AskedRow) -> Scope:
        session = self._sessions.get(row.session_id)
        return Scope(row.session_id, row.root_id, session.session.directory if session else "")

    def waited_for(self, row_id: str) -> bool:
        return row_id in self._waiters

    async def wait(self, row_id: str) -> dict[str, Any]:
        """Until the question has ended; returns its resolution."""
        row = self._rows.get(row_id)
        while row is not None and row.open:  # open again where the transaction of an answer was rolled back
            waiter = self._waiters.setdefault(row_id, anyio.Event())
            try:
                await waiter.wait()
            finally:
                if self._waiters.get(row_id) is waiter and not waiter.statistics().tasks_waiting:
                    del self._waiters[row_id]
            row = self._rows.get(row_id)
        return resolution_of(row) if row is not None else {"outcome": "cancelled", "by": "abort"}

    def _row(self, row_id: str, kind: QuestionKind) -> AskedRow:
        row = self._rows.get(row_id)
        if row is not None and row.kind == kind:
            return row
        if kind == "permission":
            raise AgentError(ErrorKind.PERMISSION_NOT_FOUND, f"There is no permission question {row_id}.")
        raise AgentError(ErrorKind.QUESTION_NOT_FOUND, f"There is no question {row_id}.")


def resolution_of(row: AskedRow) -> dict[str, Any]:
    return from_json(row.resolution) if row.resolution is not None else {}


def private_of(row: AskedRow) -> dict[str, Any]:
    return from_json(row.private) if row.private is not None else {}


def _without_scope(wire: bytes) -> bytes:
    members = from_json(wire)
    return to_json({key: value for key, value in members.items() if key not in ("sessionId", "rootSessionId")})[1:-1]
