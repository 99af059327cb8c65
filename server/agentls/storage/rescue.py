"""A database that cannot be read is moved aside, so that a new one can begin. Nothing of it is thrown away."""

import fcntl
import sqlite3
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

from agentls.errors import AgentError, ErrorKind
from agentls.storage.database import Database, is_broken, suspect
from agentls.storage.owners import living


@contextmanager
def migrating(path: Path) -> Generator[None]:
    """One process at a time: who makes the schema new, or moves the file aside."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    lock = path.parent / "migrate.lock"
    lock.touch(mode=0o600)
    with lock.open("a") as held:
        with suppress(OSError):  # a file system without locks: it is told once the database is open
            fcntl.flock(held, fcntl.LOCK_EX)
        yield


def move_aside(path: Path, instances: Path) -> Path | None:
    """Returns where the file is now; None where another process has moved it by now.

    Raises `AgentError` while a living process uses it.
    """
    with migrating(path):
        reason = _broken(path)
        if reason is None:
            return None
        if living(instances):
            raise AgentError(
                ErrorKind.INTERNAL,
                f"The sessions' database {path} is damaged ({reason}), and another agentls still works with it. Close "
                "the other editors and agentls programs, then start again: it is moved aside and a new one begun.",
            )
        target = path.with_name(f"{path.name}.broken-{time.strftime('%Y%m%d-%H%M%S')}")
        for ending in ("-wal", "-shm", ""):
            with suppress(FileNotFoundError):
                path.with_name(path.name + ending).rename(target.with_name(target.name + ending))
        suspect(path).unlink(missing_ok=True)
        return target


def _broken(path: Path) -> str | None:
    try:
        database = Database(path)
        try:
            if database.version:  # one without a schema is only about to get it
                database.open()
        finally:
            database.close()
    except sqlite3.DatabaseError as error:
        if not is_broken(error):
            raise
        return str(error)
    return None
