"""Options and operands by which a harmless-looking program runs, writes or reaches further than its name says."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from agentls.permission.shell_tables import (
    DESTRUCTIVE,
    EDITORS,
    EVALUATORS,
    GIT_GLOBALS_WITH_VALUE,
    GIT_HARMLESS_GLOBALS,
    GIT_LETTERS,
    GIT_OPTIONS,
    GIT_RISKY,
    INTERPRETERS,
    PAYLOAD_OPTIONS,
    RISKY_OPTIONS,
    SHELLS,
    STATE_BUILTINS,
    WRAPPERS,
)

_SED_SCRIPT = re.compile(r"\d*(?:,(?:\d+|\$))?p|s/[^/;{}]*/[^/;{}]*/[gpIi0-9]*")
_SED_OPTIONS = frozenset({"-n", "-E", "-r", "-nE", "-En", "--quiet", "--silent"})


@dataclass(frozen=True, slots=True)
class Risk:
    """`word` is what a rule's own text must name to cover it; without one only the exact command is covered."""

    reason: str
    word: str | None = None

    def covered_by(self, pattern: str) -> bool:
        return self.word is not None and self.word in pattern.split()


def risk(words: Sequence[str]) -> Risk | None:
    """Why a rule with wildcards does not cover this command."""
    name, arguments = words[0].rpartition("/")[2], words[1:]
    if name in SHELLS | WRAPPERS | EVALUATORS | EDITORS:
        return Risk(f"`{name}` can run any command")
    if name in INTERPRETERS or re.sub(r"[\d.]+$", "", name) in INTERPRETERS:
        return _interpreter_risk(name, arguments)
    match name:
        case "git":
            return _git_risk(arguments)
        case "sed":
            return _sed_risk(arguments)
        case _:
            return _operand_risk(name, arguments) or _option_risk(name, arguments) or _builtin_risk(name)


def is_destructive(name: str) -> bool:
    return name in DESTRUCTIVE


def git_subcommand(arguments: Sequence[str]) -> int:
    """Where the subcommand stands, behind git's own options."""
    position = 0
    while position < len(arguments) and arguments[position].startswith("-"):
        position += 2 if arguments[position] in GIT_GLOBALS_WITH_VALUE else 1
    return position


def _interpreter_risk(name: str, arguments: Sequence[str]) -> Risk | None:
    for word in arguments:
        if word == "-" or word.startswith(("--ev", "--ex", "--pr")):
            return Risk(f"`{name} {word}` runs code of the command line")
        if word.startswith("-") and not word.startswith("--") and set(word[1:]) & PAYLOAD_OPTIONS:
            return Risk(f"`{name} {word}` runs code of the command line")
        if not word.startswith("-"):
            return None
    return Risk(f"`{name}` runs what it reads")


def _git_risk(arguments: Sequence[str]) -> Risk | None:
    start = git_subcommand(arguments)
    for word in arguments[:start]:
        if word.startswith("-") and word not in GIT_HARMLESS_GLOBALS and word != "-C":
            return Risk(f"`git {word}` can run programs", word)
    if start >= len(arguments):
        return None
    subcommand = arguments[start]
    if subcommand in GIT_RISKY:
        return Risk(f"`git {subcommand}` can run programs", subcommand)
    rest = arguments[start + 1 :]
    if any(word.startswith("ext::") for word in rest):
        return Risk("git's `ext::` runs a program")
    return _risky_option("git", rest, GIT_OPTIONS, GIT_LETTERS.get(subcommand, ""))


def _operand_risk(name: str, arguments: Sequence[str]) -> Risk | None:
    operands = [word for word in arguments if not word.startswith("-")]
    match name:
        case "uniq" if len(operands) > 1:
            return Risk("`uniq` writes to its second operand")
        case "make" if any("=" in word for word in operands):
            return Risk("`make` runs what its variables say")
        case "tar" if arguments and not arguments[0].startswith("-") and re.search("[IF]", arguments[0]):
            return Risk("`tar` runs the program of this option", arguments[0])
        case _:
            return None


def _builtin_risk(name: str) -> Risk | None:
    return Risk(f"`{name}` reaches further than its own run", name) if name in STATE_BUILTINS else None


def _sed_risk(arguments: Sequence[str]) -> Risk | None:
    scripts = [word for word in arguments if word not in _SED_OPTIONS]
    if scripts and not scripts[0].startswith("-") and _SED_SCRIPT.fullmatch(scripts[0]):
        odd = next((word for word in scripts[1:] if word.startswith("-")), None)
        return None if odd is None else Risk(f"`sed {odd}` can write", odd)
    return Risk("this sed script may write or run")


def _option_risk(name: str, arguments: Sequence[str]) -> Risk | None:
    known = RISKY_OPTIONS.get(name)
    return None if known is None else _risky_option(name, arguments, *known)


def _risky_option(name: str, arguments: Sequence[str], options: Sequence[str], letters: str) -> Risk | None:
    """Long options may be abbreviated, short ones glued together, so any likeness counts."""
    for word in arguments:
        option = word.partition("=")[0]
        if _is_long(option, options) or _has_letter(word, letters):
            return Risk(f"`{name} {option}` can run, write or reach out", option)
    return None


def _is_long(option: str, options: Sequence[str]) -> bool:
    if option in options or f"-{option}" in options or option[1:] in options:
        return True
    return option.startswith("--") and len(option) > 2 and any(known.startswith(option) for known in options)


def _has_letter(word: str, letters: str) -> bool:
    return word.startswith("-") and not word.startswith("--") and any(letter in word[1:] for letter in letters)
