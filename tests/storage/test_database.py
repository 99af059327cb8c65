"""Opening, migrating, transactions."""

import os
import sqlite3
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from agentls.errors import AgentError
from agentls.storage.database import VERSION, Database
from agentls.storage.messages import UNFINISHED
from agentls.storage.migrations import migrate
from engine.builders import World, open_database

OPENER = """
import sys
from pathlib import Path
from agentls.storage.database import VERSION, Database
sys.stdin.readline()
database = Database(Path(sys.argv[1]))
if database.version < VERSION:
    from agentls.storage.migrations import migrate
    migrate(Path(sys.argv[1]))
database.open()
with database.transaction():
    database.execute("INSERT INTO meta VALUES (?, 'here')", (sys.argv[2],))
print(database.epoch)
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "data" / "agentls.db"


def test_an_empty_database_is_migrated_and_gets_an_epoch(path: Path) -> None:
    database = open_database(path)
    assert database.version == VERSION
    assert len(database.epoch) == 26


def test_migrating_twice_changes_nothing(path: Path) -> None:
    epoch = open_database(path).epoch
    migrate(path)
    migrate(path)
    again = open_database(path)
    assert (again.version, again.epoch) == (VERSION, epoch)


@pytest.mark.parametrize("attempt", range(5))
def test_of_six_processes_at_once_one_migrates_and_all_open(path: Path, attempt: int) -> None:
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", OPENER, str(path), f"process-{number}"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for number in range(6)
    ]
    for process in processes:
        assert process.stdin
        process.stdin.write("\n")
        process.stdin.flush()
    ends = [process.communicate(timeout=60) for process in processes]
    assert [process.returncode for process in processes] == [0] * 6, [err for _, err in ends]
    assert len({out for out, _ in ends}) == 1
    rows = open_database(path).all("SELECT key FROM meta WHERE value = 'here'")
    assert len(rows) == 6


def test_files_are_0600_and_folders_0700_under_a_loose_umask(path: Path) -> None:
    before = os.umask(0o000)
    try:
        world = World(path.parent.parent)
        world.owners.start()
        world.session()
    finally:
        os.umask(before)
    files = [file for file in path.parent.rglob("*") if file.is_file()]
    assert {file.name for file in files} >= {"agentls.db", "agentls.db-wal", "migrate.lock", world.owners.instance_id}
    assert {file.name: stat.S_IMODE(file.stat().st_mode) for file in files} == {file.name: 0o600 for file in files}
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert stat.S_IMODE((path.parent / "instances").stat().st_mode) == 0o700
    world.close()


def test_a_newer_database_is_refused_by_name_and_left_as_it_is(path: Path) -> None:
    database = open_database(path)
    database.execute(f"PRAGMA user_version = {VERSION + 1}")
    database.close()
    with pytest.raises(AgentError, match="newer agentls") as raised:
        open_database(path)
    assert str(path) in raised.value.message
    migrate(path)  # another process may have been on its way here
    assert Database(path).version == VERSION + 1


def test_a_migration_that_fails_half_way_leaves_nothing_behind(path: Path) -> None:
    path.parent.mkdir(parents=True)
    with sqlite3.connect(path) as plain:
        plain.execute("CREATE TABLE todos (mine TEXT)")  # in the way of a later statement
    with pytest.raises(sqlite3.OperationalError):
        migrate(path)
    assert sqlite3.connect(path).execute("SELECT 1 FROM sqlite_master WHERE name = 'sessions'").fetchone() is None
    assert Database(path).version == 0


def test_wal_normal_and_foreign_keys_are_on(path: Path) -> None:
    database = open_database(path)
    pragmas = {name: database.one(f"PRAGMA {name}") for name in ("journal_mode", "synchronous", "foreign_keys")}
    assert pragmas == {"journal_mode": ("wal",), "synchronous": (1,), "foreign_keys": (1,)}


# -- transactions


def keys(database: Database) -> list[str]:
    return [str(row[0]) for row in database.all("SELECT key FROM meta WHERE key != 'epoch' ORDER BY key")]


def put(database: Database, key: str) -> None:
    database.execute("INSERT INTO meta VALUES (?, '')", (key,))


def test_an_exception_rolls_all_back_also_what_joined(path: Path) -> None:
    database = open_database(path)

    def half() -> None:
        with database.transaction():
            put(database, "a")
            with database.transaction():
                put(database, "b")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        half()
    assert keys(database) == []
    with database.transaction():
        put(database, "c")
    assert keys(database) == ["c"]


def test_a_nested_transaction_commits_with_the_outer_one_only(path: Path) -> None:
    database, other = open_database(path), open_database(path)
    with database.transaction():
        with database.transaction():
            put(database, "a")
        assert keys(other) == []
    assert keys(other) == ["a"]


def test_a_commit_that_fails_leaves_no_transaction_open(path: Path) -> None:
    database = open_database(path)

    def orphan() -> None:
        with database.transaction():
            database.execute("PRAGMA defer_foreign_keys = ON")
            database.execute("INSERT INTO todos VALUES ('ses_none', 1, '[]')")

    with pytest.raises(sqlite3.IntegrityError):
        orphan()
    with database.transaction():
        put(database, "after")
    assert keys(open_database(path)) == ["after"]


def test_where_sqlite_rolled_back_itself_its_own_error_is_the_one_raised(path: Path) -> None:
    database = open_database(path)

    def twice() -> None:
        with database.transaction():
            put(database, "a")
            database.execute("INSERT OR ROLLBACK INTO meta VALUES ('a', '')")

    with pytest.raises(sqlite3.IntegrityError):
        twice()
    with database.transaction():
        put(database, "b")
    assert keys(database) == ["b"]


def test_a_snapshot_sees_one_moment(path: Path) -> None:
    database, other = open_database(path), open_database(path)
    with database.snapshot():
        assert keys(database) == []
        with other.transaction():
            put(other, "a")
        assert keys(database) == []
    assert keys(database) == ["a"]


def test_counters_of_a_session_that_is_gone_are_refused(path: Path) -> None:
    database = open_database(path)
    for draw in (database.draw_seq, database.draw_pos):
        with pytest.raises(AgentError, match="There is no session ses_none"):
            draw("ses_none")


def test_all_unfinished_answers_are_found_and_no_other_row_is_looked_at(tmp_path: Path) -> None:
    world = World(tmp_path)
    scope = world.session()
    user = world.user(scope)
    ids = [world.assistant(scope, user).id for _ in range(20)]
    world.assistant(world.session(), user)
    assert [message.id for message in world.stores.messages.unfinished(scope.session_id)] == ids
    [plan] = world.database.all(f"EXPLAIN QUERY PLAN SELECT wire FROM messages WHERE session_id = 's' AND {UNFINISHED}")
    assert "messages_unfinished" in str(plan[-1])
    world.close()


def test_an_older_database_gets_what_it_lacks(path: Path) -> None:
    database = open_database(path)
    database.execute("DROP INDEX messages_unfinished")
    database.execute("DELETE FROM _sqlite_migrations WHERE name = 'm002_unfinished_messages'")
    database.execute("PRAGMA user_version = 1")
    database.close()
    again = open_database(path)
    assert again.version == VERSION
    assert again.one("SELECT 1 FROM sqlite_master WHERE name = 'messages_unfinished'") is not None
