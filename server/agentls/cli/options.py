"""What the commands have in common: options, and the way from their arguments to their work."""

from collections.abc import Awaitable, Callable
from pathlib import Path

import click

Job = Callable[[], int]
"""What a command does once its arguments are read; returns the exit code."""

FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)
AS_JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON, for a program to read.")


def folder(given: Path | None) -> Path:
    return (given or Path.cwd()).resolve()


def start(job: Callable[[], Awaitable[int]]) -> int:
    import anyio

    return anyio.run(job)
