"""How the program ends: its exit codes, and one line for whatever went wrong. Tracebacks go to the log alone."""

import errno
import logging
import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from enum import IntEnum
from types import TracebackType
from typing import cast

from agentls.errors import AgentError

log = logging.getLogger(__name__)


class Exit(IntEnum):
    """What the caller's shell is told."""

    DONE = 0
    ERROR = 1
    USAGE = 2
    REJECTED = 3
    CUT = 4
    FILTERED = 5
    BUG = 70
    ABORTED = 130
    PIPE = 141


class Ending:
    """Around all of the program: what is raised inside becomes `code` and a line on stderr."""

    def __init__(self) -> None:
        self.code: int = Exit.DONE

    def __enter__(self) -> "Ending":
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, error: BaseException | None, _trace: TracebackType | None
    ) -> bool:
        if error is None or isinstance(error, SystemExit):
            return False
        self.code = _ended(error, _cause(error))
        return True


def complain(text: str) -> None:
    """One line on stderr; nobody may be there to read it."""
    with suppress(OSError):
        print(f"agentls: {' '.join(text.split())}", file=sys.stderr, flush=True)


def _ended(error: BaseException, cause: BaseException) -> Exit:
    match cause:
        case KeyboardInterrupt():
            complain("aborted")
            return Exit.ABORTED
        case BrokenPipeError() | OSError(errno=errno.EIO, filename=None):  # the reader, or the terminal, is gone
            _let_go_of_stdout()
            return Exit.PIPE
        case AgentError():
            complain(cause.message)
            return Exit.ERROR
        case OSError():
            _logged(error)
            complain(f"{cause.filename}: {cause.strerror}" if cause.filename else str(cause))
            return Exit.ERROR
        case _:
            return _bug(error, cause)


def _bug(error: BaseException, cause: BaseException) -> Exit:
    import sqlite3

    where = _logged(error)
    if isinstance(cause, sqlite3.Error):
        complain(f"the database cannot be used: {cause}. The log has more: {where}")
        return Exit.ERROR
    complain(f"a fault in agentls ended it ({type(cause).__name__}). The log has more: {where}")
    return Exit.BUG


def _cause(error: BaseException) -> BaseException:
    """Of several that came together, the one that tells most."""
    leaves = list(_leaves(error))
    known = [leaf for leaf in leaves if isinstance(leaf, KeyboardInterrupt | BrokenPipeError | AgentError)]
    return (known or leaves)[0]


def _leaves(error: BaseException) -> Iterator[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        for inner in cast("BaseExceptionGroup[BaseException]", error).exceptions:
            yield from _leaves(inner)
        return
    yield error


def _let_go_of_stdout() -> None:
    """The interpreter flushes it at its end, which would fail once more."""
    with suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def _logged(error: BaseException) -> str:
    """Where the log is that has the traceback now. An app that ran has begun it; else that is done here."""
    from agentls.cli.logs import start_log
    from agentls.config.paths import Paths

    folder = Paths.from_environment(os.environ).log
    try:
        where = str(start_log(folder, list))
    except OSError:
        return f"none, as {folder} cannot be written"
    log.critical("the program was ended by this", exc_info=error)
    return where
