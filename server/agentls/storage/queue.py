"""Rows of prompts that wait for their turn."""

from dataclasses import dataclass

from agentls.storage.database import Database, Row


@dataclass(frozen=True, slots=True)
class QueuedRow:
    """`request` is the whole prompt as JSON, `wire` what a client sees of it."""

    message_id: str
    session_id: str
    seq: int
    pos: int
    request: str
    wire: str


_COLUMNS = "message_id, session_id, seq, pos, request, wire"


def _queued(row: Row) -> QueuedRow:
    return QueuedRow(str(row[0]), str(row[1]), int(row[2] or 0), int(row[3] or 0), str(row[4]), str(row[5]))


class QueueStore:
    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, session_id: str, message_id: str, request: str, wire: str) -> int:
        """Returns the row's `seq`."""
        seq, pos = self._database.draw_seq(session_id), self._database.draw_pos(session_id)
        self._database.execute(
            f"INSERT INTO queue ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?)",
            (message_id, session_id, seq, pos, request, wire),
        )
        return seq

    def remove(self, session_id: str, message_id: str) -> int:
        """Returns the tombstone's `seq`."""
        self._database.execute("DELETE FROM queue WHERE message_id = ?", (message_id,))
        return self._database.bury(session_id, "queue", message_id)

    def get(self, message_id: str) -> QueuedRow | None:
        row = self._database.one(f"SELECT {_COLUMNS} FROM queue WHERE message_id = ?", (message_id,))
        return _queued(row) if row else None

    def of(self, session_id: str) -> list[QueuedRow]:
        """In the order in which they will run."""
        rows = self._database.all(f"SELECT {_COLUMNS} FROM queue WHERE session_id = ? ORDER BY pos", (session_id,))
        return [_queued(row) for row in rows]
