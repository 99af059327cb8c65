"""The seam to the shell: what a command does, as far as a plain look tells. It never raises, and doubt means asking."""

import posixpath
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from agentls.config.protected import names_protected
from agentls.permission.patterns import is_literal
from agentls.permission.shell_risks import Risk, git_subcommand, is_destructive, risk
from agentls.permission.shell_tables import (
    FINAL_PREFIXES,
    FOLDER_CHANGERS,
    FREE_TARGETS,
    KEYWORDS,
    NEVER_STORED,
    PREFIX_WORDS,
    READERS,
    RUN_PREFIXES,
    RUNNERS,
    SYSTEM_FOLDERS,
    WRAPPERS,
)
from agentls.permission.shell_words import (
    TOO_MANY_PARTS,
    LooseReading,
    loose_reading,
    path_candidates,
    strict_parts,
)

_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*(?:\[[^]]*\])?\+?=")
_SEPARATORS = re.compile(r"[;|&\r\n()`]+")
_DEPTH = 8
_RUNNER_OPERANDS = 64
_READ_LIMIT = 64 * 1024
_MOST_OUTSIDE = 256
_REMEMBERED = 32


@dataclass(frozen=True, slots=True)
class Place:
    """Where a command runs, as plain paths: without it every absolute path counts as outside."""

    root: str
    cwd: str
    home: str | None = None


@dataclass(frozen=True, slots=True)
class Part:
    """A simple command. `text` is what rules are compared with; `fused` keeps words with spaces in one piece."""

    words: tuple[str, ...]
    text: str
    fused: str
    risk: Risk | None


@dataclass(frozen=True, slots=True)
class ShellPlan:
    """What a command does. Without `parts` it is not plain, for `reason`: no rule can allow it.

    `looks` are the texts in which a deny must be sought, `payloads` those that may be commands in the operands of
    another (only a deny that names something counts there), `outside` the paths that need `external_directory`,
    `operands` whatever may be a path (for the read rules, and for whoever can look at the disk), `protected` those
    that always ask. One that is not `whole` was too much to read to its end: it always asks.
    """

    parts: tuple[Part, ...] | None
    reason: str | None
    looks: tuple[str, ...]
    payloads: tuple[str, ...] = ()
    outside: tuple[str, ...] = ()
    operands: tuple[str, ...] = ()
    protected: tuple[str, ...] = ()
    whole: bool = True


@lru_cache(maxsize=_REMEMBERED)
def analyse(command: str, place: Place | None = None) -> ShellPlan:
    """The plan of any text at all. A long text takes a while, so what was read in a thread is not read again."""
    parts = _plain_parts(command)
    reading = loose_reading(command[:_READ_LIMIT])
    operands = tuple(dict.fromkeys((*_operands(reading), *_homegoing(reading))))
    moves = any(segment[0] in FOLDER_CHANGERS for segment in reading.segments)
    outside = tuple(dict.fromkeys(_outside(operands, place, moves=moves)))
    return ShellPlan(
        parts=None if isinstance(parts, str) else parts,
        reason=parts if isinstance(parts, str) else None,
        looks=tuple(dict.fromkeys((command.strip()[:_READ_LIMIT], *_looks(reading), *_unread(reading)))),
        payloads=tuple(dict.fromkeys(_payloads(reading, 0))),
        outside=outside[:_MOST_OUTSIDE],
        operands=operands,
        protected=tuple(dict.fromkeys(_protected(reading))),
        whole=parts != TOO_MANY_PARTS
        and not reading.rest
        and len(command) <= _READ_LIMIT
        and len(outside) <= _MOST_OUTSIDE,
    )


def always_patterns(command: str) -> tuple[str, ...]:
    """What an "always" stores: a known prefix or the exact text for each part; nothing if one part cannot be stored."""
    parts = _plain_parts(command)
    if isinstance(parts, str):
        return ()
    found: list[str] = []
    for part in parts:
        if part.words[0] == "cd":
            continue
        pattern = _always_pattern(part)
        if pattern is None:
            return ()
        found.append(pattern)
    return tuple(dict.fromkeys(found))


def _always_pattern(part: Part) -> str | None:
    name = part.words[0].rpartition("/")[2]
    if name in NEVER_STORED or (len(part.words) == 1 and part.risk is not None):
        return None
    exact = part.text if is_literal(part.text) and part.text == part.fused else None
    if part.risk is not None or name in WRAPPERS or is_destructive(name):
        return exact
    words = part.words
    two = " ".join(words[:2])
    count = PREFIX_WORDS.get(two) or PREFIX_WORDS.get(words[0])
    if count is None or two in RUN_PREFIXES | FINAL_PREFIXES or len(words) < count:
        return exact
    prefix = words[:count]
    if any(word.startswith("-") or not is_literal(word) or " " in word for word in prefix):
        return exact
    return " ".join(prefix) + " *"


@lru_cache(maxsize=_REMEMBERED)
def _plain_parts(command: str) -> tuple[Part, ...] | str:
    if len(command) > _READ_LIMIT:
        return "it is too long to look through"
    split = strict_parts(command)
    if isinstance(split, str):
        return split
    for words in split:
        if not words[0] or " " in words[0] or "\t" in words[0] or words[0] in KEYWORDS:
            return f"`{words[0]}` is not a plain command name"
        if _ASSIGNMENT.match(words[0]):
            return f"`{words[0].partition('=')[0]}=` sets a variable"
    return tuple(_part(words) for words in split)


def _part(words: tuple[str, ...]) -> Part:
    fused = " ".join(re.sub(r"\s", "\u00a0", word) for word in words)
    return Part(words, " ".join(words), fused, risk(words))


def _commands(reading: LooseReading) -> Iterator[list[str]]:
    for segment in reading.segments:
        start = 0
        while start < len(segment) and (segment[start] in KEYWORDS or _ASSIGNMENT.match(segment[start])):
            start += 1
        if start < len(segment):
            yield segment[start:]


def _payloads(reading: LooseReading, depth: int) -> Iterator[str]:
    """The commands that a runner's operands may be, in one word or in several."""
    for words in _commands(reading):
        if words[0].rpartition("/")[2] not in RUNNERS:
            continue
        for number in range(1, min(len(words), _RUNNER_OPERANDS)):
            word = words[number]
            if words[0] != "git":
                yield from _spellings(words[number:])
            if depth < _DEPTH and re.search(r"[\s;|&()`$=]", word):
                payload = word.partition("=")[2] if words[0] == "git" and "=" in word else word
                inner = loose_reading(payload.lstrip("!"))
                yield from _looks(inner)
                yield from _payloads(inner, depth + 1)


def _looks(reading: LooseReading) -> Iterator[str]:
    for words in _commands(reading):
        yield from _spellings(words)


def _unread(reading: LooseReading) -> Iterator[str]:
    """What a deny may name in the part of the text that was too much to read properly."""
    for piece in _SEPARATORS.split(reading.rest):
        if piece.strip():
            yield piece.strip()


def _spellings(words: Sequence[str]) -> Iterator[str]:
    yield " ".join(words)
    name = words[0].rpartition("/")[2]
    if name != words[0]:
        yield " ".join((name, *words[1:]))
    if name == "git":
        start = git_subcommand(words[1:]) + 1
        if start > 1:
            yield " ".join(("git", *words[start:]))


def _operands(reading: LooseReading) -> Iterator[str]:
    for segment in reading.segments:
        if "/" in segment[0] and (not segment[0].startswith(SYSTEM_FOLDERS) or ".." in segment[0]):
            yield segment[0]
        for word in segment[1:]:
            yield from path_candidates(word)
    yield from reading.targets


def _homegoing(reading: LooseReading) -> Iterator[str]:
    """A change of folder that names none leads home, or back to where the shell was."""
    for segment in reading.segments:
        if segment[0] in FOLDER_CHANGERS and all(not word or word.startswith("-") for word in segment[1:]):
            yield "~"


def _outside(operands: Iterable[str], place: Place | None, *, moves: bool) -> Iterator[str]:
    for operand in operands:
        path = operand.removeprefix("file:") if operand.startswith("file:") else operand
        if "://" in path or path in FREE_TARGETS or "\0" in path:
            continue
        climbs = ".." in path.split("/")
        if not (path.startswith(("/", "~", "$HOME", "${HOME}")) or climbs):
            continue
        resolved = _resolved(path, place)
        if (moves and climbs) or not _is_inside(resolved, place):
            yield resolved


def _resolved(path: str, place: Place | None) -> str:
    if place is None:
        return posixpath.normpath(path)
    if place.home is not None:
        path = re.sub(r"^(?:~|\$HOME|\$\{HOME\})(?=/|$)", lambda _: str(place.home), path)
    return path if path.startswith(("~", "$")) else posixpath.normpath(posixpath.join(place.cwd, path))


def _is_inside(resolved: str, place: Place | None) -> bool:
    if place is None:
        return not resolved.startswith(("/", "~", "$")) and resolved != ".." and not resolved.startswith("../")
    return resolved == place.root or resolved.startswith(place.root.rstrip("/") + "/")


def _protected(reading: LooseReading) -> Iterator[str]:
    """Protected names that something may write to: readers without odd options do not count, redirections do."""
    for segment in reading.segments:
        if segment[0] in READERS and risk(segment) is None:
            continue
        yield from (word for word in segment[1:] if names_protected(word))
    yield from (target for target in reading.targets if names_protected(target))
