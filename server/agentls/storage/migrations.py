"""The schema, as numbered steps. Imported only where a database is older than the newest of them."""

import sqlite3
import time
from contextlib import closing, suppress
from pathlib import Path

from sqlite_utils import Database as Tables
from sqlite_utils.migrations import Migrations
from ulid_transform import ulid_now

from agentls.storage.database import VERSION, is_busy
from agentls.storage.rescue import migrating

# `seq` of a row is the session's counter at its last change; `wire` is the row as clients get it.
_FIRST = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE sessions (
    id TEXT PRIMARY KEY, project_id TEXT NOT NULL, parent_id TEXT REFERENCES sessions(id) ON DELETE CASCADE,
    root_id TEXT NOT NULL, directory TEXT NOT NULL, title TEXT NOT NULL, updated INTEGER NOT NULL, archived INTEGER,
    counter INTEGER NOT NULL DEFAULT 0, places INTEGER NOT NULL DEFAULT 0, seq INTEGER NOT NULL, wire TEXT NOT NULL,
    frame TEXT
);
CREATE INDEX sessions_updated ON sessions(updated);
CREATE INDEX sessions_project ON sessions(project_id, updated);
CREATE INDEX sessions_parent ON sessions(parent_id);
CREATE TABLE turns (
    id TEXT PRIMARY KEY, session_id TEXT NOT NULL REFERENCES sessions(id) ON DELETE CASCADE, seq INTEGER NOT NULL,
    state TEXT NOT NULL, started INTEGER NOT NULL, wire TEXT NOT NULL
);
CREATE INDEX turns_seq ON turns(session_id, seq);
CREATE INDEX turns_session ON turns(session_id);
CREATE TABLE messages (
    id TEXT PRIMARY KEY, session_id TEXT NOT NULL REFERENCES sessions(id) ON DELETE CASCADE, seq INTEGER NOT NULL,
    pos INTEGER NOT NULL, role TEXT NOT NULL, request TEXT, wire TEXT NOT NULL
);
CREATE INDEX messages_seq ON messages(session_id, seq);
CREATE INDEX messages_pos ON messages(session_id, pos);
CREATE TABLE parts (
    id TEXT PRIMARY KEY, session_id TEXT NOT NULL REFERENCES sessions(id) ON DELETE CASCADE,
    message_id TEXT NOT NULL REFERENCES messages(id) ON DELETE CASCADE, seq INTEGER NOT NULL,
    pos INTEGER NOT NULL, open INTEGER NOT NULL, wire TEXT NOT NULL
);
CREATE INDEX parts_seq ON parts(session_id, seq);
CREATE INDEX parts_message ON parts(message_id, pos);
CREATE INDEX parts_open ON parts(session_id) WHERE open;
CREATE TABLE questions (
    id TEXT PRIMARY KEY, session_id TEXT NOT NULL REFERENCES sessions(id) ON DELETE CASCADE, root_id TEXT NOT NULL,
    kind TEXT NOT NULL, turn_id TEXT NOT NULL, part_id TEXT, seq INTEGER NOT NULL, open INTEGER NOT NULL,
    wire TEXT NOT NULL, resolution TEXT, private TEXT
);
CREATE INDEX questions_seq ON questions(session_id, seq);
CREATE INDEX questions_open ON questions(root_id) WHERE open;
CREATE INDEX questions_part ON questions(part_id);
CREATE TABLE rules (
    id INTEGER PRIMARY KEY, project_id TEXT NOT NULL, session_id TEXT REFERENCES sessions(id) ON DELETE CASCADE,
    permission TEXT NOT NULL, pattern TEXT NOT NULL, action TEXT NOT NULL, created INTEGER NOT NULL
);
CREATE INDEX rules_project ON rules(project_id);
CREATE INDEX rules_session ON rules(session_id);
CREATE TABLE todos (
    session_id TEXT PRIMARY KEY REFERENCES sessions(id) ON DELETE CASCADE, seq INTEGER NOT NULL, wire TEXT NOT NULL
);
CREATE TABLE queue (
    message_id TEXT PRIMARY KEY, session_id TEXT NOT NULL REFERENCES sessions(id) ON DELETE CASCADE,
    seq INTEGER NOT NULL, pos INTEGER NOT NULL, request TEXT NOT NULL, wire TEXT NOT NULL
);
CREATE INDEX queue_session ON queue(session_id, pos);
CREATE TABLE changes (
    id INTEGER PRIMARY KEY, session_id TEXT NOT NULL REFERENCES sessions(id) ON DELETE CASCADE, turn_id TEXT NOT NULL,
    message_id TEXT NOT NULL, part_id TEXT NOT NULL, path TEXT NOT NULL, before TEXT, after TEXT, time INTEGER NOT NULL
);
CREATE INDEX changes_session ON changes(session_id);
CREATE INDEX changes_message ON changes(message_id);
CREATE INDEX changes_before ON changes(before);
CREATE INDEX changes_after ON changes(after);
CREATE TABLE contents (hash TEXT PRIMARY KEY, data BLOB NOT NULL);
CREATE TABLE tombstones (
    session_id TEXT NOT NULL REFERENCES sessions(id) ON DELETE CASCADE, seq INTEGER NOT NULL,
    kind TEXT NOT NULL, id TEXT NOT NULL, PRIMARY KEY (session_id, seq)
) WITHOUT ROWID;
CREATE TABLE owners (
    session_id TEXT PRIMARY KEY REFERENCES sessions(id) ON DELETE CASCADE, instance_id TEXT NOT NULL,
    pid INTEGER NOT NULL
);
"""

_READ = "SELECT count(*) FROM sqlite_master"
_TRIES, _PAUSE = 500, 0.01
_REWRITTEN_MOST = 200 << 20

_steps = Migrations("agentls")


@_steps()
def m001_first(tables: Tables) -> None:
    for statement in _FIRST.split(";"):
        tables.conn.execute(statement)
    tables.conn.execute("INSERT INTO meta VALUES ('epoch', ?)", [ulid_now()])


@_steps()
def m002_unfinished_messages(tables: Tables) -> None:
    tables.conn.execute(
        "CREATE INDEX messages_unfinished ON messages(session_id, pos) WHERE "
        "role = 'assistant' AND iif(json_valid(wire), wire ->> '$.time.completed', 0) IS NULL"
    )


@_steps()
def m003_deleted_sessions(tables: Tables) -> None:
    tables.conn.execute("ALTER TABLE sessions ADD COLUMN deleted INTEGER NOT NULL DEFAULT 0")
    tables.conn.execute("CREATE INDEX sessions_deleted ON sessions(deleted) WHERE deleted")
    tables.conn.execute("CREATE INDEX turns_open ON turns(session_id) WHERE state != 'ended'")


def use_wal(path: str) -> str:
    """The file remembers it. SQLite does not wait here for those who read at this moment, so we do. Returns the mode
    that it is now: not every file system can do this one.
    """
    with closing(sqlite3.connect(path, isolation_level=None, uri=True)) as connection:
        connection.execute("PRAGMA auto_vacuum=INCREMENTAL")  # before the first page is written
        for _ in range(_TRIES):
            try:
                row = connection.execute("PRAGMA journal_mode=WAL").fetchone()
                connection.execute(_READ).fetchone()  # the answer is "wal" even where it cannot be
            except sqlite3.OperationalError as error:
                if not is_busy(error):
                    break
                time.sleep(_PAUSE)
            else:
                return str(row[0])
    # The failed try has marked the file; only a new connection, which needs no shared memory, can take that back.
    with closing(sqlite3.connect(path, isolation_level=None, uri=True)) as connection:
        connection.execute("PRAGMA locking_mode=EXCLUSIVE")
        connection.execute(_READ).fetchone()
        return str(connection.execute("PRAGMA journal_mode=DELETE").fetchone()[0])


def _let_shrink(connection: sqlite3.Connection) -> None:
    """A file of before that could be made smaller is written anew, if that does not take long."""
    pages, size, vacuum = (
        int(connection.execute(f"PRAGMA {name}").fetchone()[0]) for name in ("page_count", "page_size", "auto_vacuum")
    )
    if vacuum or pages * size > _REWRITTEN_MOST:
        return
    connection.execute("PRAGMA auto_vacuum=INCREMENTAL")
    with suppress(sqlite3.OperationalError):  # another process reads, or the disk has no room for a second one
        connection.execute("VACUUM")


def migrate(path: Path) -> None:
    """Bring the database at `path` to the newest schema. Of several processes one works, the others wait.

    One that a newer program wrote stays as it is.
    """
    with migrating(path):
        path.touch(mode=0o600)
        path.chmod(0o600)
        with closing(Tables(path)) as tables:
            row = tables.conn.execute("PRAGMA user_version").fetchone()
            if row is not None and int(row[0]) >= VERSION:
                return
            use_wal(str(path))
            _steps.apply(tables)
            _let_shrink(tables.conn)
            tables.conn.execute(f"PRAGMA user_version = {VERSION}")
