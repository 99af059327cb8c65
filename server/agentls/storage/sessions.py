"""Rows of sessions."""

import re
from dataclasses import dataclass

from agentls.errors import invalid_param
from agentls.schema.session import Session
from agentls.storage.database import Database, Row, Value


@dataclass(frozen=True, slots=True)
class SessionRow:
    session: Session
    root_id: str
    seq: int
    counter: int


@dataclass(frozen=True, slots=True)
class SessionQuery:
    project_id: str | None
    text: str | None
    archived: bool
    cursor: str | None
    limit: int


_CURSOR = re.compile(r"([0-9]{1,18})\.(.+)", re.DOTALL)
_COLUMNS = "wire, root_id, seq, counter"


def _row(row: Row) -> SessionRow:
    return SessionRow(Session.model_validate_json(str(row[0])), str(row[1]), int(row[2] or 0), int(row[3] or 0))


def _place(cursor: str) -> tuple[int, str]:
    """Where a page begins: behind this time and id."""
    mark = _CURSOR.fullmatch(cursor)
    if mark is None:
        raise invalid_param("cursor", "`cursor` is a page mark from `nextCursor`; leave it out for the newest.")
    return int(mark[1]), mark[2]


class SessionStore:
    def __init__(self, database: Database) -> None:
        self._database = database

    def insert(self, session: Session, root_id: str) -> int:
        """Returns the row's `seq`."""
        self._database.execute(
            "INSERT INTO sessions"
            " (id, project_id, parent_id, root_id, directory, title, updated, archived, counter, seq, wire)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, 1, 1, ?)",
            (
                session.id,
                session.project_id,
                session.parent_id,
                root_id,
                session.directory,
                session.title,
                session.time.updated,
                session.time.archived,
                session.wire().decode(),
            ),
        )
        return 1

    def save(self, session: Session) -> int:
        """Returns the row's new `seq`."""
        seq = self._database.draw_seq(session.id)
        self._database.execute(
            "UPDATE sessions SET title = ?, updated = ?, archived = ?, seq = ?, wire = ? WHERE id = ?",
            (
                session.title,
                session.time.updated,
                session.time.archived,
                seq,
                session.wire().decode(),
                session.id,
            ),
        )
        return seq

    def get(self, session_id: str) -> SessionRow | None:
        row = self._database.one(f"SELECT {_COLUMNS} FROM sessions WHERE id = ? AND NOT deleted", (session_id,))
        return _row(row) if row else None

    def delete(self, session_id: str) -> list[str]:
        """Returns the ids that went: the session and its children. Nobody finds them any more; the many rows that they
        may have go bit by bit, by `purge`.
        """
        gone = self.tree(session_id)
        marks = ",".join("?" * len(gone))
        self._database.execute(f"UPDATE sessions SET deleted = 1 WHERE id IN ({marks})", gone)
        for table in ("questions", "rules", "todos", "queue", "owners"):  # these are looked for without their session
            self._database.execute(f"DELETE FROM {table} WHERE session_id IN ({marks})", gone)
        return gone

    def tree(self, session_id: str) -> list[str]:
        """The session and all below it."""
        rows = self._database.all(
            "WITH RECURSIVE tree(id) AS (SELECT id FROM sessions WHERE id = ? AND NOT deleted UNION ALL "
            "SELECT sessions.id FROM sessions JOIN tree ON sessions.parent_id = tree.id WHERE NOT deleted)"
            " SELECT id FROM tree",
            (session_id,),
        )
        return [str(row[0]) for row in rows]

    def page(self, query: SessionQuery) -> tuple[list[str], str | None]:
        """Root sessions, the newest first, as wire JSON; and the cursor of the next page."""
        where = ["NOT deleted", "parent_id IS NULL", "archived IS NOT NULL" if query.archived else "archived IS NULL"]
        values: list[Value] = []
        if query.project_id is not None:
            where.append("project_id = ?")
            values.append(query.project_id)
        if query.text:
            where.append("title LIKE ? ESCAPE '\\'")
            escaped = query.text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
            values.append(f"%{escaped}%")
        if query.cursor is not None:
            where.append("(updated, id) < (?, ?)")
            values += _place(query.cursor)
        rows = self._database.all(
            f"SELECT wire, updated, id FROM sessions WHERE {' AND '.join(where)} "
            "ORDER BY updated DESC, id DESC LIMIT ?",
            (*values, query.limit + 1),
        )
        page = rows[: query.limit]
        cursor = f"{page[-1][1]}.{page[-1][2]}" if len(rows) > query.limit else None
        return [str(row[0]) for row in page], cursor

    def frame(self, session_id: str) -> str | None:
        """System text and tool list as sent last, as JSON; kept for a restart."""
        row = self._database.one("SELECT frame FROM sessions WHERE id = ?", (session_id,))
        return str(row[0]) if row and row[0] is not None else None

    def save_frame(self, session_id: str, frame: str) -> None:
        self._database.execute("UPDATE sessions SET frame = ? WHERE id = ?", (frame, session_id))
