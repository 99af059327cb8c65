"""The database stays as small as what it holds, and nobody waits for that."""

import os
import random
import sqlite3
import subprocess
import sys
from contextlib import closing
from functools import partial
from pathlib import Path

import anyio
import pytest

from agentls.schema.event import Scope
from agentls.schema.part import TextPart
from agentls.storage import upkeep
from agentls.storage.database import VERSION
from agentls.storage.owners import Owners
from agentls.storage.upkeep import LOG_HUGE, LOG_LARGE, Upkeep
from engine.builders import World, open_database
from storage.clock import clocked

LAG = 0.05
TABLES = ("sessions", "messages", "parts", "turns", "questions", "rules", "todos", "queue", "changes", "tombstones")


def text(size: int) -> str:
    return random.Random(size).randbytes(size // 2).hex()


def fill(world: World, size: int) -> Scope:
    scope = world.session()
    user = world.user(scope)
    message = world.assistant(scope, user)
    world.turn(scope, user, state="ended")
    writer = world.writer(scope)
    with world.journal.transaction():
        for _ in range(size // 10_000):
            writer.part(TextPart(**writer.ids(message.id), text=text(10_000)))
    return scope


async def until(condition: object, seconds: float = 30) -> None:
    with anyio.fail_after(seconds):
        while not condition():  # type: ignore[operator]
            await anyio.sleep(0.02)


def log_size(world: World) -> int:
    return os.stat(f"{world.database.path}-wal").st_size


def delete(world: World, scope: Scope) -> None:
    world.stores.sessions.delete(scope.session_id)


async def test_d07_deleted_sessions_give_their_space_back_and_the_loop_does_not_wait(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(upkeep, "SECONDS", 0.05)
    kept = fill(world, 100_000)
    scopes = [fill(world, 1_000_000) for _ in range(30)]
    Upkeep(world.journal)
    world.database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    full = world.database.path.stat().st_size
    assert full > 30_000_000
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(Upkeep(world.journal).run)
        async with clocked() as clock:
            for scope in scopes:
                await world.journal.patiently(partial(delete, world, scope))
            await until(lambda: world.database.path.stat().st_size < full / 20)
        tasks.cancel_scope.cancel()
    assert clock.worst < LAG
    assert {
        table: world.database.one(f"SELECT count(*) FROM {table} WHERE {_of(table)} != ?", (kept.session_id,))
        for table in TABLES
    } == dict.fromkeys(TABLES, (0,))
    assert world.database.one("PRAGMA freelist_count") == (0,)
    assert world.database.all("PRAGMA integrity_check") == [("ok",)]
    assert len(world.stores.messages.page(kept.session_id, None, 10)[0]) == 2


def _of(table: str) -> str:
    return "id" if table == "sessions" else "session_id"


async def test_the_log_is_bounded_while_much_is_written(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(upkeep, "SECONDS", 0.02)
    sizes: list[int] = []
    scope = world.session()
    message = world.assistant(scope, world.user(scope))
    writer = world.writer(scope)
    part = writer.part(TextPart(**writer.ids(message.id), text=""))
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(Upkeep(world.journal).run)
        async with clocked() as clock:
            for size in range(400):
                await world.journal.patiently(partial(writer.part, part.but(text=text(200_000 + size))))
                await anyio.sleep(0.002)
                sizes.append(log_size(world))
        with anyio.fail_after(30):
            while log_size(world) >= LOG_HUGE:
                await anyio.sleep(0.01)
        tasks.cancel_scope.cancel()
    assert max(sizes) > LOG_LARGE, "too little was written to tell"
    assert max(sizes) < 2 * LOG_HUGE
    assert clock.worst < 5 * LAG  # much is written, beside the machine's other work


async def test_a_long_log_is_short_after_the_end(world: World) -> None:
    fill(world, 3_000_000)
    await Upkeep(world.journal).close()
    world.user(world.session())
    assert log_size(world) <= upkeep.LOG_LEFT
    assert world.database.path.stat().st_size > 3_000_000


def test_a_database_of_before_learns_to_shrink_and_keeps_its_rows(tmp_path: Path) -> None:
    path = tmp_path / "data" / "agentls.db"
    database = open_database(path)
    database.execute("DROP INDEX turns_open")
    database.execute("DROP INDEX sessions_deleted")
    database.execute("ALTER TABLE sessions DROP COLUMN deleted")
    database.execute("DELETE FROM _sqlite_migrations WHERE name = 'm003_deleted_sessions'")
    database.execute("INSERT INTO meta VALUES ('mine', 'kept')")
    database.execute("PRAGMA user_version = 2")
    database.close()
    with closing(sqlite3.connect(path)) as plain:
        plain.execute("PRAGMA auto_vacuum=NONE")
        plain.execute("VACUUM")
        assert plain.execute("PRAGMA auto_vacuum").fetchone() == (0,)
    again = open_database(path)
    assert again.version == VERSION
    assert again.one("PRAGMA auto_vacuum") == (2,)
    assert again.one("PRAGMA journal_mode") == ("wal",)
    assert again.one("SELECT value FROM meta WHERE key = 'mine'") == ("kept",)


def test_the_open_turn_of_a_long_session_is_found_without_a_look_at_the_others(world: World) -> None:
    [plan] = world.database.all(
        "EXPLAIN QUERY PLAN SELECT wire FROM turns WHERE session_id = 's' AND state != 'ended' "
        "ORDER BY rowid DESC LIMIT 1"
    )
    assert "turns_open" in str(plan[-1])


_INSTANCE = """
import sys
from pathlib import Path
from agentls.storage.database import Database
from agentls.storage.owners import Owners
owners = Owners(Database(Path(sys.argv[1])), Path(sys.argv[2]))
owners.start()
print(owners.instance_id, flush=True)
sys.stdin.readline()
"""


def test_lock_files_of_processes_that_are_gone_are_swept_and_those_of_the_living_stay(world: World) -> None:
    folder = world.database.path.parent / "instances"
    mine = Owners(world.database, folder)
    mine.start()
    command = [sys.executable, "-c", _INSTANCE, str(world.database.path), str(folder)]
    processes = [subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    names = [process.stdout.readline().strip() for process in processes if process.stdout]
    scope = world.session()
    world.database.execute("INSERT INTO owners VALUES (?, ?, 1)", (scope.session_id, names[1]))
    for process in processes[:2]:
        process.kill()
        process.wait()
    assert {path.name for path in folder.iterdir()} == {mine.instance_id, *names}
    mine.sweep()
    assert {path.name for path in folder.iterdir()} == {mine.instance_id, *names[1:]}
    for process in processes:
        process.kill()
        process.communicate()
    mine.stop()
