"""Rows of turns. Their order is that of their creation (`rowid`): clocks step back."""

from agentls.schema.session import Turn
from agentls.storage.database import Database


class TurnStore:
    def __init__(self, database: Database) -> None:
        self._database = database

    def save(self, turn: Turn) -> int:
        """Returns the row's new `seq`."""
        seq = self._database.draw_seq(turn.session_id)
        self._database.execute(
            "INSERT INTO turns VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT(id) DO UPDATE "
            "SET seq = excluded.seq, state = excluded.state, wire = excluded.wire",
            (turn.id, turn.session_id, seq, turn.state, turn.time.started, turn.wire().decode()),
        )
        return seq

    def get(self, turn_id: str) -> Turn | None:
        row = self._database.one("SELECT wire FROM turns WHERE id = ?", (turn_id,))
        return Turn.model_validate_json(str(row[0])) if row else None

    def open(self, session_id: str) -> Turn | None:
        """The turn that has not ended, if there is one."""
        row = self._database.one(
            "SELECT wire FROM turns WHERE session_id = ? AND state != 'ended' ORDER BY rowid DESC LIMIT 1",
            (session_id,),
        )
        return Turn.model_validate_json(str(row[0])) if row else None

    def latest(self, session_id: str) -> Turn | None:
        row = self._database.one(
            "SELECT wire FROM turns WHERE session_id = ? ORDER BY rowid DESC LIMIT 1", (session_id,)
        )
        return Turn.model_validate_json(str(row[0])) if row else None

    def of_message(self, session_id: str, message_id: str) -> Turn | None:
        """The turn that began with this message, the newest if it was run again."""
        row = self._database.one(
            "SELECT wire FROM turns WHERE session_id = ? AND wire ->> 'messageId' = ? ORDER BY rowid DESC LIMIT 1",
            (session_id, message_id),
        )
        return Turn.model_validate_json(str(row[0])) if row else None
