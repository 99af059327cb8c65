"""Which instruction files hold for a folder, and what they say."""

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from agentls.config.files import Problem
from agentls.config.paths import Paths, expand_home
from agentls.config.sources import folders

_NAMES = ("AGENTS.md", "CLAUDE.md")
_MOST_BYTES = 64 * 1024
_MOST_IN_ALL = 256 * 1024
_MOST_MATCHES = 50


@dataclass(frozen=True, slots=True)
class Instructions:
    """`files` are paths with their texts: the user's own first, then from the root down, then those of the settings."""

    files: tuple[tuple[str, str], ...]
    problems: tuple[Problem, ...]


def instructions(
    directory: Path, root: Path, paths: Paths, patterns: tuple[str, ...] = (), *, trusted: bool = False
) -> Instructions:
    """Reads them. In an untrusted project a link that leads out of it is not followed.

    A pattern with `**` walks folders: call this from a thread.
    """
    found: dict[str, str] = {}
    problems: list[Problem] = []
    room = _MOST_IN_ALL
    for path, own in _candidates(directory, root, paths, patterns, problems):
        if str(path) in found:
            continue
        if not own and not trusted and not _is_below(path, root):
            problems.append(Problem(str(path), 0, 0, "leads out of the project; it is not read", "warning"))
            continue
        text = _text(path, min(room, _MOST_BYTES), problems)
        if text is not None:
            found[str(path)] = text
            room = max(0, room - len(text.encode()))
    return Instructions(tuple(found.items()), tuple(problems))


def _candidates(
    directory: Path, root: Path, paths: Paths, patterns: tuple[str, ...], problems: list[Problem]
) -> Iterator[tuple[Path, bool]]:
    """Each with whether it is the user's own wish, so that it may lie anywhere."""
    yield from ((path, True) for path in _first_of(paths.config))
    for folder in folders(root, directory):
        yield from ((path, False) for path in _first_of(folder))
    for pattern in patterns:
        if "://" in pattern:
            problems.append(
                Problem("settings", 0, 0, f"instructions from a URL are not read: {pattern[:200]}", "warning")
            )
            continue
        yield from ((path, True) for path in _matches(expand_home(pattern, paths.home), root))


def _first_of(folder: Path) -> Iterator[Path]:
    yield from islice((folder / name for name in _NAMES if os.path.lexists(folder / name)), 1)


def _matches(pattern: str, root: Path) -> list[Path]:
    try:
        start, rest = (Path("/"), pattern.lstrip("/")) if pattern.startswith("/") else (root, pattern)
        return sorted(islice(start.glob(rest), _MOST_MATCHES))
    except (OSError, ValueError, NotImplementedError):
        return []


def _text(path: Path, room: int, problems: list[Problem]) -> str | None:
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            return None
        with path.open("rb") as file:
            data = file.read(room + 1)
    except OSError as error:
        problems.append(Problem(str(path), 0, 0, f"cannot be read: {error.strerror or 'unknown error'}", "warning"))
        return None
    if len(data) > room:
        problems.append(Problem(str(path), 0, 0, f"is cut after {room} bytes: instructions have a limit", "warning"))
    return data[:room].decode("utf-8-sig", errors="replace").strip() or None


def _is_below(path: Path, root: Path) -> bool:
    return Path(os.path.realpath(path)).is_relative_to(os.path.realpath(root))
