"""Looks at the disk: which of a command's operands lead out of the project, links followed."""

import os
from collections.abc import Iterable
from pathlib import Path

from agentls.config.paths import expand_home
from agentls.permission.shell import Place
from agentls.permission.shell_tables import FREE_TARGETS


def outside(operands: Iterable[str], place: Place) -> tuple[str, ...]:
    """The real paths of those operands that lie outside the place's root.

    It makes one system call an operand and more for links: call it from a thread for long commands.
    """
    real_root = os.path.realpath(place.root)
    found: dict[str, None] = {}
    for operand in operands:
        real = _real(operand, place)
        if real is not None and real != real_root and not real.startswith(real_root.rstrip("/") + "/"):
            found[real] = None
    return tuple(found)


def _real(operand: str, place: Place) -> str | None:
    if not operand or operand in FREE_TARGETS or "\0" in operand or len(operand) > 4096:
        return None
    try:
        path = operand if place.home is None else expand_home(operand, Path(place.home))
        return os.path.realpath(Path(place.cwd) / path)
    except (OSError, ValueError):
        return None
