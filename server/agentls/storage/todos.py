"""Rows of to-do lists: one list a session, replaced as a whole."""

from agentls.storage.database import Database


class TodoStore:
    def __init__(self, database: Database) -> None:
        self._database = database

    def save(self, session_id: str, wire: str) -> int:
        """Returns the row's new `seq`. `wire` is a JSON array."""
        seq = self._database.draw_seq(session_id)
        self._database.execute(
            "INSERT INTO todos VALUES (?, ?, ?) ON CONFLICT(session_id) DO UPDATE "
            "SET seq = excluded.seq, wire = excluded.wire",
            (session_id, seq, wire),
        )
        return seq

    def get(self, session_id: str) -> tuple[str, int]:
        """The list as JSON and its `seq`; an empty list with 0 where none was written."""
        row = self._database.one("SELECT wire, seq FROM todos WHERE session_id = ?", (session_id,))
        return (str(row[0]), int(row[1] or 0)) if row else ("[]", 0)
