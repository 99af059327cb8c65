"""What sessions that were deleted leave behind: rows, file contents, pages. Taken away in slices, each a moment's work.

Each slice is a transaction of its own connection, so that it can be done away from the loop.
"""

import sqlite3
from collections.abc import Generator
from contextlib import closing, contextmanager
from pathlib import Path

from agentls.storage.database import PRAGMAS

ROWS, PAGES = 100, 256
_WAIT_SECONDS = 5.0


@contextmanager
def apart(path: Path) -> Generator[sqlite3.Connection]:
    """A connection for one piece of work. What others hold it waits for."""
    with closing(sqlite3.connect(path, timeout=_WAIT_SECONDS, isolation_level=None)) as connection:
        for pragma in PRAGMAS:
            connection.execute(f"PRAGMA {pragma}")
        yield connection


def purge(path: Path) -> bool:
    """One slice of a deleted session. Returns whether there may be more."""
    with apart(path) as connection:
        row = connection.execute("SELECT id FROM sessions WHERE deleted ORDER BY rowid DESC LIMIT 1").fetchone()
        if row is None:
            return False
        connection.execute("BEGIN IMMEDIATE")
        with connection:
            _purge(connection, str(row[0]))
        return True


def _purge(connection: sqlite3.Connection, session_id: str) -> None:
    if _contents(connection, session_id):
        return
    for table in ("parts", "messages", "turns"):
        gone = connection.execute(
            f"DELETE FROM {table} WHERE rowid IN (SELECT rowid FROM {table} WHERE session_id = ? LIMIT {ROWS})",
            (session_id,),
        )
        if gone.rowcount:
            return
    connection.execute("DELETE FROM sessions WHERE id = ?", (session_id,))


def _contents(connection: sqlite3.Connection, session_id: str) -> bool:
    """File contents go with the last change that used them."""
    rows = connection.execute(
        f"DELETE FROM changes WHERE id IN (SELECT id FROM changes WHERE session_id = ? LIMIT {ROWS}) "
        "RETURNING before, after",
        (session_id,),
    ).fetchall()
    for key in {key for pair in rows for key in pair if key is not None}:
        connection.execute(
            "DELETE FROM contents WHERE hash = ?1 AND NOT EXISTS (SELECT 1 FROM changes WHERE before = ?1)"
            " AND NOT EXISTS (SELECT 1 FROM changes WHERE after = ?1)",
            (key,),
        )
    return bool(rows)


def shrink(path: Path) -> bool:
    """Gives a slice of free pages back to the disk. Returns whether there are more."""
    with apart(path) as connection:
        before = _free(connection)
        connection.executescript(f"PRAGMA incremental_vacuum({PAGES})")  # `execute` would end it after one page
        return 0 < _free(connection) < before


def _free(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA freelist_count").fetchone()[0])


def checkpoint(path: Path, *, truncate: bool) -> None:
    """Brings what the log holds into the database. `truncate` also waits for readers, and empties the log's file.

    The next to write begins the log anew and waits for the disk, which the loop must not: so that is done here as well.
    """
    with apart(path) as connection:
        connection.execute(f"PRAGMA wal_checkpoint({'TRUNCATE' if truncate else 'PASSIVE'})").fetchall()
        connection.execute("UPDATE meta SET value = value WHERE key = 'epoch'")
