"""Commands of the program; the only place that prints."""

import io
import logging
import os
import sys

from agentls.cli.ending import Ending
from agentls.errors import AgentError, ErrorKind


def main() -> None:
    """`agentls` serves an editor over stdio; with a command it does that."""
    logging.lastResort, logging.raiseExceptions = None, False  # the log is a file, or nothing
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal that lacks a sign shows another one
    with Ending() as ending:
        ending.code = _run([argument for argument in sys.argv[1:] if argument != "--stdio"])
        sys.stdout.flush()
    sys.exit(ending.code)


def _run(arguments: list[str]) -> int:
    """Serving goes the short way: an editor waits for it."""
    if os.name != "posix":
        raise AgentError(ErrorKind.NOT_SUPPORTED, "agentls runs on Linux and macOS; on Windows, start it within WSL.")
    if arguments not in ([], ["serve"]):
        from agentls.cli.commands import run

        return run(arguments)
    if not arguments and sys.stdin.isatty():
        from agentls.cli.commands import hint

        return hint()
    from agentls.cli.serve import serve

    return serve()
