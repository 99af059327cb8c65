"""Looks at the disk: which of a command's operands lead out of the project, links followed."""

import os
from collections.abc import Iterable
from pathlib import Path

from agentls.permission.shell_tables import FREE_TARGETS


def outside(operands: Iterable[str], cwd: Path, root: Path) -> tuple[str, ...]:
    """The real paths of those operands that lie outside `root`.

    It makes one system call an operand and more for links: call it from a thread for long commands.
    """
    real_root = os.path.realpath(root)
    found: dict[str, None] = {}
    for operand in operands:
        real = _real(cwd, operand)
        if real is not None and real != real_root and not real.startswith(real_root.rstrip("/") + "/"):
            found[real] = None
    return tuple(found)


def _real(cwd: Path, operand: str) -> str | None:
    if not operand or operand in FREE_TARGETS or "\0" in operand or len(operand) > 4096:
        return None
    try:
        return os.path.realpath(cwd / Path(operand).expanduser())
    except (OSError, ValueError, RuntimeError):
        return None
