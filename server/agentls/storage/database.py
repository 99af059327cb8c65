"""One SQLite database: its connection, its transactions, the counters of a session.

Plain `sqlite3` on the hot path: a commit of two rows costs 0.03 ms, an upsert through sqlite-utils 0.5 ms.
"""

import sqlite3
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from agentls.errors import AgentError, ErrorKind
from agentls.schema.event import Kind

VERSION = 3
_BUSY_MS = 5  # on the loop; the commit of another process takes less
_STUBBORN_SECONDS, _STUBBORN_PAUSE = 5.0, 0.005

# Upkeep empties the log, away from the loop; it is cut back once it was emptied. SQLite does so itself only where that
# comes to nothing.
PRAGMAS = (
    "synchronous=NORMAL",
    "foreign_keys=ON",
    "temp_store=MEMORY",
    f"journal_size_limit={1 << 20}",
    "wal_autocheckpoint=8192",
)

Row = tuple[str | int | float | bytes | None, ...]
Value = str | int | float | bytes | None


class BusyError(sqlite3.OperationalError):
    """Another process writes at this moment. Nothing was done yet."""


class BrokenError(sqlite3.DatabaseError):
    """The file is damaged, or no database at all."""


class Database:
    """Owns the connection. All of it runs on the event loop's thread, each call well under a millisecond.

    While another process holds the database, what is not begun `at_once` waits for it, and the loop with it: the way
    that leaves the loop free is `Journal.patiently`.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        path.touch(mode=0o600, exist_ok=True)
        self.connection = sqlite3.connect(path, timeout=_BUSY_MS / 1000, isolation_level=None, cached_statements=256)
        self._depth = 0
        self._reading = False
        self._begin_write = "BEGIN IMMEDIATE"
        self.has_log = True
        try:
            for pragma in PRAGMAS:
                self.execute(f"PRAGMA {pragma}")
        except sqlite3.DatabaseError:
            self.connection.close()
            raise
        self.epoch = ""

    @property
    def version(self) -> int:
        return int(self.execute("PRAGMA user_version").fetchone()[0])

    def open(self) -> None:
        """Call once the schema is current. Raises `AgentError` for a database of a newer program, `BrokenError` for one
        that is seen to be damaged.
        """
        if self.version > VERSION:
            raise AgentError(
                ErrorKind.INTERNAL,
                f"{self.path} was written by a newer agentls. Update agentls, or move the file away.",
            )
        try:
            self._look()
        except sqlite3.DatabaseError:
            self.close()
            raise
        self._use_journal()
        row = self.one("SELECT value FROM meta WHERE key = 'epoch'")
        self.epoch = str(row[0]) if row else ""

    def _look(self) -> None:
        """All of it is read only where damage was met before: that takes a second for each 100 MB."""
        for row in self.all("SELECT name FROM sqlite_master WHERE type = 'table'"):
            self.one(f'SELECT 1 FROM "{row[0]}" LIMIT 1')
        mark = suspect(self.path)
        if mark.exists():
            [found] = self.one("PRAGMA quick_check(1)") or ("nothing was found",)
            if found != "ok":
                raise BrokenError(found)
            mark.unlink()

    def _use_journal(self) -> None:
        """A file without a write-ahead log: readers keep writers out, and these must be sure of the disk."""
        self.has_log = self.one("PRAGMA journal_mode") == ("wal",)
        if not self.has_log:
            self._begin_write = "BEGIN EXCLUSIVE"  # so that nobody can be in the way later
            self.execute("PRAGMA synchronous=FULL")

    def close(self) -> None:
        self.connection.close()

    def execute(self, sql: str, values: Sequence[Value] = ()) -> sqlite3.Cursor:
        try:
            return self.connection.execute(sql, values)
        except sqlite3.OperationalError as error:
            if self._depth or not is_busy(error):
                raise
            return self._stubbornly(sql, values)
        except sqlite3.DatabaseError as error:
            if is_broken(error):  # told at the next start, when it can be moved aside
                suspect(self.path).touch(mode=0o600)
            raise

    def one(self, sql: str, values: Sequence[Value] = ()) -> Row | None:
        return self.execute(sql, values).fetchone()

    def all(self, sql: str, values: Sequence[Value] = ()) -> list[Row]:
        return self.execute(sql, values).fetchall()

    @contextmanager
    def transaction(self, *, at_once: bool = False) -> Generator[None]:
        """All or nothing. One inside another joins it.

        `at_once`: raises `BusyError`, with nothing begun, where another process writes at this moment.
        """
        if self._depth:
            if self._reading:
                raise RuntimeError("nothing is written within a snapshot")
            self._depth += 1
            try:
                yield
            finally:
                self._depth -= 1
            return
        self._begin(at_once=at_once)
        self._depth = 1
        try:
            yield
            self.connection.execute("COMMIT")
        except BaseException:
            if self.connection.in_transaction:  # a full disk and the like end it before us
                self.connection.execute("ROLLBACK")
            raise
        finally:
            self._depth = 0

    @contextmanager
    def snapshot(self) -> Generator[None]:
        """Several reads of one moment."""
        if self._depth:
            yield
            return
        self.connection.execute("BEGIN")
        self._depth, self._reading = 1, True
        try:
            yield
        finally:
            self._depth, self._reading = 0, False
            self.connection.execute("COMMIT")

    def _begin(self, *, at_once: bool) -> None:
        try:
            self.connection.execute(self._begin_write)
        except sqlite3.OperationalError as error:
            if not is_busy(error):
                raise
            if at_once:
                raise BusyError(str(error)) from error
            self._stubbornly(self._begin_write, ())

    def _stubbornly(self, sql: str, values: Sequence[Value]) -> sqlite3.Cursor:
        until = time.monotonic() + _STUBBORN_SECONDS
        while True:
            try:
                return self.connection.execute(sql, values)
            except sqlite3.OperationalError as error:
                if not is_busy(error) or time.monotonic() > until:
                    raise
            time.sleep(_STUBBORN_PAUSE)

    def draw_seq(self, session_id: str) -> int:
        """The session's next change number. Numbers only rise."""
        return self._draw("counter", session_id)

    def draw_pos(self, session_id: str) -> int:
        """The session's next place in the order of messages and parts."""
        return self._draw("places", session_id)

    def bury(self, session_id: str, kind: Kind, row_id: str) -> int:
        """Remembers a removal, for clients that come back. Returns the tombstone's `seq`."""
        seq = self.draw_seq(session_id)
        self.execute("INSERT INTO tombstones VALUES (?, ?, ?, ?)", (session_id, seq, kind, row_id))
        return seq

    def _draw(self, column: Literal["counter", "places"], session_id: str) -> int:
        row = self.one(
            f"UPDATE sessions SET {column} = {column} + 1 WHERE id = ? AND NOT deleted RETURNING {column}",
            (session_id,),
        )
        if row is None:
            raise AgentError(ErrorKind.SESSION_NOT_FOUND, f"There is no session {session_id}.")
        return int(row[0] or 0)


def suspect(path: Path) -> Path:
    """The mark that damage was met."""
    return path.with_name(f"{path.name}.suspect")


def is_broken(error: sqlite3.Error) -> bool:
    if isinstance(error, BrokenError):
        return True
    return getattr(error, "sqlite_errorcode", 0) & 0xFF in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


def is_busy(error: sqlite3.Error) -> bool:
    return getattr(error, "sqlite_errorcode", 0) & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
