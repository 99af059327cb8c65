"""Rows of file writes: what each tool call changed, contents kept once, by hash, compressed."""

from pathlib import Path

from agentls.schema.base import now
from agentls.schema.change import ChangeOrigin, Content, unpacked
from agentls.storage.database import Database


class ChangeStore:
    def __init__(self, database: Database) -> None:
        self._database = database

    def record(self, origin: ChangeOrigin, path: Path, before: Content | None, after: Content | None) -> int:
        """One write of one file; None means that there was, or is, no such file. Returns its number."""
        with self._database.transaction():
            row = self._database.execute(
                "INSERT INTO changes (session_id, turn_id, message_id, part_id, path, before, after, time)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    origin.session_id,
                    origin.turn_id,
                    origin.message_id,
                    origin.part_id,
                    str(path),
                    self._keep(before),
                    self._keep(after),
                    now(),
                ),
            )
        return row.lastrowid or 0

    def remove(self, number: int) -> None:
        """The change did not come about."""
        self._database.execute("DELETE FROM changes WHERE id = ?", (number,))

    def _keep(self, content: Content | None) -> str | None:
        if content is None:
            return None
        if self._database.one("SELECT 1 FROM contents WHERE hash = ?", (content.hash,)) is None:
            self._database.execute("INSERT INTO contents VALUES (?, ?)", (content.hash, content.packed))
        return content.hash

    def content(self, key: str) -> bytes | None:
        row = self._database.one("SELECT data FROM contents WHERE hash = ?", (key,))
        return unpacked(row[0]) if row and isinstance(row[0], bytes) else None

    def paths_of_message(self, message_id: str) -> list[str]:
        """The files that a step changed, in order of first change."""
        rows = self._database.all(
            "SELECT path FROM changes WHERE message_id = ? GROUP BY path ORDER BY min(id)", (message_id,)
        )
        return [str(row[0]) for row in rows]
