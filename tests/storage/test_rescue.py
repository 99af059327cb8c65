"""Files that are no database any more, and file systems that are not fit for one."""

import fcntl
import os
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from agentls.app.app import open_database
from agentls.errors import AgentError
from agentls.schema.event import Scope
from agentls.storage.database import VERSION, Database, suspect
from agentls.storage.migrations import use_wal
from agentls.storage.owners import Owner, Owners
from engine.builders import World


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "data" / "agentls.db"


def instances(path: Path) -> Path:
    return path.parent / "instances"


def filled(path: Path) -> None:
    world = World(path.parent.parent)
    for _ in range(50):
        world.user(world.session(), "words " * 500)
    world.database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    world.close()


def no_database(path: Path) -> None:
    path.parent.mkdir()
    path.write_bytes(b"This is no database. " * 1000)


def garbled_header(path: Path) -> None:
    filled(path)
    with path.open("r+b") as file:
        file.write(b"x" * 100)


def garbled_schema(path: Path) -> None:
    filled(path)
    with path.open("r+b") as file:
        file.seek(100)
        file.write(b"\xff" * 3000)


def cut_short(path: Path) -> None:
    filled(path)
    os.truncate(path, 5 * 4096 + 17)


def garbled_rows(path: Path) -> None:
    """Met while it was worked with; a look at the first rows does not see it."""
    filled(path)
    size = path.stat().st_size
    with path.open("r+b") as file:
        file.seek(size // 2)
        file.write(b"\xfe" * (size // 2))
    database = Database(path)
    with pytest.raises(sqlite3.DatabaseError):
        database.all("SELECT * FROM messages, parts, sessions ORDER BY messages.id DESC")
    database.close()
    assert suspect(path).exists()


BROKEN = [no_database, garbled_header, garbled_schema, cut_short, garbled_rows]


@pytest.mark.parametrize("breaks", BROKEN)
def test_a_file_that_cannot_be_read_is_moved_aside_whole_and_a_new_one_begun(
    path: Path, breaks: Callable[[Path], None]
) -> None:
    breaks(path)
    before = path.read_bytes()
    database, [problem] = open_database(path, instances(path))
    assert database.version == VERSION
    assert database.all("SELECT id FROM sessions") == []
    [moved] = path.parent.glob("agentls.db.broken-*")
    assert moved.read_bytes() == before
    assert str(moved) in problem.message
    assert problem.severity == "error"
    assert not suspect(path).exists()
    again, problems = open_database(path, instances(path))
    assert (again.epoch, problems) == (database.epoch, [])


def test_while_another_process_works_with_it_nothing_is_moved(path: Path) -> None:
    no_database(path)
    other = Owners(Database(path.parent / "other.db"), instances(path))
    other.start()
    with pytest.raises(AgentError, match="another agentls still works with it"):
        open_database(path, instances(path))
    assert path.read_bytes().startswith(b"This is no database.")
    other.stop()
    assert open_database(path, instances(path))[1]


def test_a_mark_of_damage_that_is_not_there_goes_and_nothing_is_moved(path: Path) -> None:
    filled(path)
    suspect(path).touch()
    database, problems = open_database(path, instances(path))
    assert problems == []
    assert len(database.all("SELECT id FROM sessions")) == 50
    assert not suspect(path).exists()


def test_where_there_is_no_shared_memory_sqlite_says_so_and_another_journal_is_used(tmp_path: Path) -> None:
    assert use_wal(f"file:{tmp_path}/a.db?vfs=unix-dotfile") == "delete"
    assert use_wal(str(tmp_path / "b.db")) == "wal"


def test_without_a_log_all_works_and_it_is_said(tmp_path: Path, path: Path) -> None:
    path.parent.mkdir()
    shared = path.with_name("agentls.db-shm")
    shared.symlink_to(shared)  # SQLite cannot make its shared memory
    database, [problem] = open_database(path, instances(path))
    assert not database.has_log
    assert problem.severity == "warning"
    assert "AGENTLS_DATA_DIR" in problem.message
    database.close()
    world = World(tmp_path)
    scope: Scope = world.session()
    world.user(scope, "kept")
    assert world.database.one("PRAGMA journal_mode") == ("delete",)
    assert world.database.one("PRAGMA synchronous") == (2,)
    reader = Database(path)
    with world.database.transaction():
        world.database.execute("INSERT INTO meta VALUES ('a', 'b')")
    assert reader.one("SELECT value FROM meta WHERE key = 'a'") == ("b",)
    world.close()


@pytest.mark.parametrize("how", ["said to be held", "refused"])
def test_locks_that_keep_nobody_out_are_seen_and_pids_count_instead(
    path: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    """As on some network file systems, none of which a test can mount."""

    def flock(_file: object, _how: int) -> None:
        if how == "refused":
            raise OSError(37, "No locks available")

    path.parent.mkdir()
    monkeypatch.setattr(fcntl, "flock", flock)
    owners = Owners(Database(path), instances(path))
    owners.start()
    assert not owners.locks_hold
    assert owners.alive(Owner("ses_1", "ins_other", os.getpid()))
    assert not owners.alive(Owner("ses_1", "ins_other", 2**22 + 1))
    owners.stop()


def test_locks_that_work_are_seen_to(path: Path) -> None:
    path.parent.mkdir()
    owners = Owners(Database(path), instances(path))
    owners.start()
    assert owners.locks_hold
    owners.stop()
