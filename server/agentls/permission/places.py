"""Looks at the disk: which of a command's operands lead out of the project, links followed."""

import os
from collections.abc import Collection, Iterable
from pathlib import Path

from agentls.config.paths import expand_home
from agentls.permission.shell import Place
from agentls.permission.shell_tables import FREE_TARGETS


def outside(operands: Iterable[str], place: Place, known: Collection[str] = ()) -> tuple[str, ...]:
    """The real paths of those operands that lie outside the place's root, but for those `known` by name already.

    It makes one system call an operand and more for links: call it from a thread for long commands.
    """
    real_root = os.path.realpath(place.root)
    found: dict[str, None] = {}
    for operand in operands:
        named, real = _paths(operand, place)
        if named is None or real is None or named in known:
            continue
        if real != real_root and not real.startswith(real_root.rstrip("/") + "/"):
            found[real] = None
    return tuple(found)


def _paths(operand: str, place: Place) -> tuple[str, str] | tuple[None, None]:
    """As it is named, and where it really is."""
    if not operand or operand in FREE_TARGETS or "\0" in operand or len(operand) > 4096:
        return None, None
    try:
        path = operand if place.home is None else expand_home(operand, Path(place.home))
        absolute = Path(place.cwd) / path
        return os.path.normpath(absolute), os.path.realpath(absolute)
    except (OSError, ValueError):
        return None, None
