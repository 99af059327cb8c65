"""Who runs a session: a row for the session, an OS lock for the process.

The lock falls when its process dies, however it dies, so an owner whose lock can be taken is dead.
"""

import fcntl
import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from agentls.errors import AgentError, ErrorKind
from agentls.schema.ids import Prefix, new
from agentls.storage.database import Database


@dataclass(frozen=True, slots=True)
class Owner:
    session_id: str
    instance_id: str
    pid: int


class Owners:
    """The sessions that this process runs, beside those of other processes on the same database."""

    def __init__(self, database: Database, folder: Path) -> None:
        self._database = database
        self._folder = folder
        self.instance_id = new(Prefix.INSTANCE)
        self._lock: IO[str] | None = None
        self.locks_hold = True

    def start(self) -> None:
        """Hold this process's lock until `stop` or death."""
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        path = self._folder / self.instance_id
        while self._lock is None or not _same_file(self._lock, path):  # a sweep may have been faster
            path.touch(mode=0o600)
            self._lock = path.open("w", encoding="ascii")
            with suppress(OSError):  # a file system without locks, which shows below
                fcntl.flock(self._lock, fcntl.LOCK_EX)
        self.locks_hold = _keeps_out(path)

    def stop(self) -> None:
        if self._lock is None:
            return
        (self._folder / self.instance_id).unlink(missing_ok=True)
        self._lock.close()
        self._lock = None

    def of(self, session_id: str) -> Owner | None:
        row = self._database.one("SELECT session_id, instance_id, pid FROM owners WHERE session_id = ?", (session_id,))
        return Owner(str(row[0]), str(row[1]), int(row[2] or 0)) if row else None

    def take(self, session_id: str) -> None:
        """Within the transaction that starts a run. A dead owner's session must have been swept before.

        Raises `AgentError` `session_locked {pid}` while another living process runs the session.
        """
        self.require_free(session_id)
        self._database.execute(
            "INSERT INTO owners VALUES (?, ?, ?) ON CONFLICT(session_id) DO UPDATE "
            "SET instance_id = excluded.instance_id, pid = excluded.pid",
            (session_id, self.instance_id, os.getpid()),
        )

    def release(self, session_id: str) -> None:
        """Within the transaction that ends a run."""
        self._database.execute(
            "DELETE FROM owners WHERE session_id = ? AND instance_id = ?", (session_id, self.instance_id)
        )

    def forget(self, owner: Owner) -> None:
        """Remove a dead owner's row, within the transaction that sweeps its session."""
        self._database.execute(
            "DELETE FROM owners WHERE session_id = ? AND instance_id = ?", (owner.session_id, owner.instance_id)
        )
        if self._database.one("SELECT 1 FROM owners WHERE instance_id = ?", (owner.instance_id,)) is None:
            (self._folder / owner.instance_id).unlink(missing_ok=True)

    def foreign(self, session_id: str) -> Owner | None:
        """The other living process that runs the session, if one does."""
        owner = self.of(session_id)
        if owner is None or owner.instance_id == self.instance_id or not self.alive(owner):
            return None
        return owner

    def require_free(self, session_id: str) -> None:
        owner = self.foreign(session_id)
        if owner is not None:
            raise AgentError(
                ErrorKind.SESSION_LOCKED,
                f"Another editor window (process {owner.pid}) runs session {session_id}. Use it there, or close it.",
                {"pid": owner.pid},
                retryable=True,
            )

    def dead(self) -> list[Owner]:
        """Owners whose process is gone."""
        rows = self._database.all(
            "SELECT session_id, instance_id, pid FROM owners WHERE instance_id != ?", (self.instance_id,)
        )
        owners = [Owner(str(row[0]), str(row[1]), int(row[2] or 0)) for row in rows]
        return [owner for owner in owners if not self.alive(owner)]

    def sweep(self) -> None:
        """The lock files of processes that are gone, and of which no row tells any more."""
        kept = {str(row[0]) for row in self._database.all("SELECT instance_id FROM owners")} | {self.instance_id}
        for path in self._folder.iterdir():
            if path.name in kept:
                continue
            with suppress(OSError), path.open("r") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                path.unlink()

    def alive(self, owner: Owner) -> bool:
        if owner.instance_id == self.instance_id:
            return True
        return _is_held(self._folder / owner.instance_id) if self.locks_hold else _runs(owner.pid)


def _keeps_out(path: Path) -> bool:
    """Whether the lock that stands on this file does what locks are for."""
    try:
        with path.open("r") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def living(folder: Path) -> bool:
    """Whether any process holds its lock here."""
    return any(_is_held(path) for path in folder.glob("*"))


def _is_held(path: Path) -> bool:
    try:
        with path.open("r") as lock:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except FileNotFoundError:
        return False
    except OSError:  # it is held; or it cannot be opened, and then nobody may take what it stands for
        return True
    return False


def _same_file(file: IO[str], path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    except FileNotFoundError:
        return False
