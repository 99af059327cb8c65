"""Finds and ends all processes that one command, or one server, started: also those that left its group."""

import os
import signal
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

import psutil

_POLL = 0.01
_KILL_ROUNDS = 50


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


def find(mark: Mark) -> list[psutil.Process]:
    """The living processes that carry the mark, are in the leader's session, or descend from one of those."""
    own = os.getpid()
    found: dict[int, psutil.Process] = {}
    children: dict[int, list[psutil.Process]] = {}
    for process in psutil.process_iter():
        if process.pid == own:
            continue
        with suppress(psutil.Error, ProcessLookupError):
            children.setdefault(process.ppid(), []).append(process)
            if _belongs(process, mark):
                found[process.pid] = process
    waiting = list(found)
    while waiting:
        for child in children.get(waiting.pop(), []):
            if child.pid not in found:
                found[child.pid] = child
                waiting.append(child.pid)
    return [process for process in found.values() if _alive(process)]


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
    living: Sequence[psutil.Process] = found
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


def _belongs(process: psutil.Process, mark: Mark) -> bool:
    if mark.leader is not None and os.getsid(process.pid) == mark.leader:
        return True
    return process.environ().get(mark.name) == mark.value


def _alive(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.Error:
        return False


def _name(process: psutil.Process) -> str:
    try:
        return " ".join(process.cmdline())[:80] or process.name()
    except psutil.Error:
        return "?"
