"""Notices that the editor is gone even if its end of the pipe stays open in some other process."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import anyio

_SECONDS = 1.0
_GENERATIONS = 32
_PS_SECONDS = 1


class Editor:
    """The process that started us, directly or through others."""

    def __init__(self, process_id: int) -> None:
        self._process_id = process_id
        self._born = _born(process_id)

    def lives(self) -> bool:
        born = _born(self._process_id)
        return born is not None and born == self._born


def find_editor(process_id: int | None) -> Editor | None:
    """The editor if it is an ancestor of ours: in a container its `processId` is somebody else's number.

    To be asked before `initialize` is answered: an editor that dies then is an ancestor no more.
    """
    ancestor: int | None = os.getppid()
    for _ in range(_GENERATIONS):
        if process_id is None or ancestor is None or ancestor <= 0:
            return None
        if ancestor == process_id:
            return Editor(process_id)
        ancestor = _parent_of(ancestor)
    return None


async def wait_until_gone(editor: Editor | None, nobody_reads: Callable[[], bool]) -> str:
    """Returns when the editor has ended or nobody reads our output; says which."""
    while True:
        await anyio.sleep(_SECONDS)
        if editor is not None and not editor.lives():
            return "the editor has ended"
        if nobody_reads():
            return "nobody reads the output"


def _stat(process_id: int) -> list[str] | None:
    """The members after the name of `/proc/PID/stat` (proc(5)): state, parent, …; on Linux only."""
    try:
        return Path(f"/proc/{process_id}/stat").read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return None


def _born(process_id: int) -> str | None:
    """When the process began, where that can be seen (a number is used again); None if it has ended."""
    members = _stat(process_id)
    if members is not None:
        return None if members[0] in {"Z", "X"} else members[19]
    try:
        os.kill(process_id, 0)
    except PermissionError:
        return ""
    except OSError:
        return None
    return ""


def _parent_of(process_id: int) -> int | None:
    members = _stat(process_id)
    if members is not None:
        return int(members[1])
    try:
        shown = subprocess.run(
            ["ps", "-o", "ppid=", "-p", str(process_id)],
            check=False,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_PS_SECONDS,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    text = shown.stdout.strip()
    return int(text) if text.isdigit() else None
