"""Finds and ends all processes that one command, or one server, started: also those that left its group."""

import os
import signal
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from agentls.later import Later

if TYPE_CHECKING:
    import psutil
else:
    psutil = Later("psutil")

_POLL = 0.01
_KILL_ROUNDS = 50
_PROC = Path("/proc")
_PROC_IS_THERE = (_PROC / "self" / "stat").is_file()


@dataclass(frozen=True, slots=True)
class Mark:
    """An environment variable that every descendant inherits; `leader` is the session and group they began in."""

    name: str
    value: str
    leader: int | None = None


@dataclass(frozen=True, slots=True)
class Ended:
    """A process that was ended."""

    pid: int
    name: str


@dataclass(frozen=True, slots=True)
class _Row:
    pid: int
    parent: int
    session: int
    marked: bool


def find(mark: Mark) -> "list[psutil.Process]":
    """The living processes that carry the mark, are in the leader's session, or descend from one of those."""
    found: set[int] = set()
    children: dict[int, list[int]] = {}
    for row in _from_proc(mark) if _PROC_IS_THERE else _from_system(mark):
        children.setdefault(row.parent, []).append(row.pid)
        if row.marked or (mark.leader is not None and row.session == mark.leader):
            found.add(row.pid)
    waiting = list(found)
    while waiting:
        below = [pid for pid in children.get(waiting.pop(), []) if pid not in found]
        found.update(below)
        waiting += below
    return [process for pid in sorted(found - {os.getpid()}) if (process := _living(pid)) is not None]


def end(mark: Mark, *, grace: float = 1.0, urgent: bool = False) -> tuple[Ended, ...]:
    """TERM to all, KILL to what lives after the grace. Blocks: call it in a thread.

    Returns what was living; when it is urgent, the leader's group is told to end before it is looked at.
    """
    if urgent and mark.leader is not None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(mark.leader, signal.SIGTERM)
    found = find(mark)
    if not found:
        return ()
    ended = tuple(Ended(process.pid, _name(process)) for process in found)
    for process in found:
        with suppress(psutil.Error):
            process.terminate()
    deadline = time.monotonic() + grace
    living = found
    while living and time.monotonic() < deadline:
        time.sleep(_POLL)
        living = [process for process in living if _alive(process)]
    _kill(mark)
    return ended


def _kill(mark: Mark) -> None:
    """Again and again, for what was forked between the look and the signal."""
    for _ in range(_KILL_ROUNDS):
        found = find(mark)
        if not found:
            return
        for process in found:
            with suppress(psutil.Error):
                process.kill()
        time.sleep(_POLL)


def _from_proc(mark: Mark) -> Iterator[_Row]:
    """Linux: straight from `/proc`, which is many times faster, since a running command waits for it."""
    wanted = f"{mark.name}={mark.value}".encode()
    for entry in _PROC.iterdir():
        if not entry.name.isdigit():
            continue
        try:
            # proc(5): "pid (name) state ppid pgrp session …", and the name may hold anything.
            parent, _, session = (entry / "stat").read_bytes().rpartition(b")")[2].split()[1:4]
            marked = _carries(entry / "environ", wanted)
        except (OSError, ValueError):
            continue
        yield _Row(int(entry.name), int(parent), int(session), marked)


def _carries(environment: Path, wanted: bytes) -> bool:
    try:
        return wanted in environment.read_bytes().split(b"\0")
    except PermissionError:  # another user's: not one of ours, but it may have been started by one
        return False


def _from_system(mark: Mark) -> Iterator[_Row]:
    for process in psutil.process_iter():
        try:
            parent, session = process.ppid(), os.getsid(process.pid)
        except (psutil.Error, OSError):
            continue
        marked = False
        with suppress(psutil.Error):
            marked = process.environ().get(mark.name) == mark.value
        yield _Row(process.pid, parent, session, marked)


def _living(pid: int) -> "psutil.Process | None":
    try:
        process = psutil.Process(pid)
    except psutil.Error:
        return None
    return process if _alive(process) else None


def _alive(process: "psutil.Process") -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.Error:
        return False


def _name(process: "psutil.Process") -> str:
    try:
        return " ".join(process.cmdline())[:80] or process.name()
    except psutil.Error:
        return "?"
