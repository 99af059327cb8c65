"""What was asked of the user, and who waits for the answer. Rows outlive the process, waiters do not."""

from dataclasses import dataclass
from typing import Any

import anyio
from pydantic_core import from_json, to_json

from agentls.schema.event import Kind, Scope
from agentls.schema.permission import Outcome, ResolvedBy
from agentls.storage.journal import Journal
from agentls.storage.questions import AskedRow, QuestionKind, QuestionStore


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
    def __init__(self, journal: Journal, rows: QuestionStore) -> None:
        self._journal = journal
        self._rows = rows
        self._waiters: dict[str, anyio.Event] = {}

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

    def resolve(
        self, row: AskedRow, directory: str, outcome: Outcome, by: ResolvedBy, rest: dict[str, Any] | None = None
    ) -> None:
        """End a question; whoever waits for it goes on. `rest`: reply, message or answers."""
        resolution = {"outcome": outcome, "by": by, **(rest or {})}
        scope = Scope(row.session_id, row.root_id, directory)
        kind: Kind = "permission" if row.kind == "permission" else "question"
        told = {f"{kind}Id": row.id, **{key: value for key, value in resolution.items() if key != "message"}}
        with self._journal.transaction():
            seq = self._rows.resolve(row.session_id, row.id, to_json(resolution).decode())
            self._journal.changed(scope, seq, kind, row.id, f"{kind}/resolved", to_json(told)[1:-1])
        waiter = self._waiters.pop(row.id, None)
        if waiter is not None:
            waiter.set()

    def cancel(self, session_id: str, root_id: str, directory: str, by: ResolvedBy, keep: frozenset[str]) -> None:
        """End what is open in a session as cancelled, but for the rows in `keep`."""
        for row in self._rows.open_of_root(root_id):
            if row.session_id == session_id and row.id not in keep:
                self.resolve(row, directory, "cancelled", by)

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


def resolution_of(row: AskedRow) -> dict[str, Any]:
    return from_json(row.resolution) if row.resolution is not None else {}


def private_of(row: AskedRow) -> dict[str, Any]:
    return from_json(row.private) if row.private is not None else {}


def _without_scope(wire: bytes) -> bytes:
    members = from_json(wire)
    return to_json({key: value for key, value in members.items() if key not in ("sessionId", "rootSessionId")})[1:-1]
