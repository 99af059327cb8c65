"""Opens files below descriptors of their folders, following no link: what was resolved is what is opened."""

import os
import stat
from collections.abc import Generator
from contextlib import contextmanager, suppress
from io import FileIO
from pathlib import Path

from agentls.errors import ToolError

_FOLDER = os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC | getattr(os, "O_PATH", os.O_RDONLY)


@contextmanager
def folder_of(path: Path, *, create: bool = False) -> Generator[int]:
    """A descriptor of the folder that holds a real path, reached from `/` step by step without following a link.

    Raises FileNotFoundError where it is missing, unless it is to be created.
    """
    descriptor = os.open(path.anchor, _FOLDER)
    try:
        for name in path.parts[1:-1]:
            inner = _step(descriptor, name, path, create=create)
            os.close(descriptor)
            descriptor = inner
        yield descriptor
    finally:
        os.close(descriptor)


@contextmanager
def regular_file(folder: int, name: str, path: Path) -> Generator[tuple[FileIO, os.stat_result] | None]:
    """A regular file, open for reading; None where nothing stands."""
    try:
        # Non-blocking, so that a named pipe in its place does not hold this thread.
        descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK, dir_fd=folder)
    except FileNotFoundError:
        yield None
        return
    except OSError as error:
        raise _refusal(path, error) from error
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode):
        os.close(descriptor)
        raise ToolError(f"{path} is {kind_of(status.st_mode)}, not a file.")
    with FileIO(descriptor, "rb") as file:
        yield file, status


def read_regular(folder: int, name: str, path: Path) -> tuple[bytes, os.stat_result] | None:
    """The content of a regular file; None where nothing stands."""
    with regular_file(folder, name, path) as found:
        return None if found is None else (found[0].readall(), found[1])


def kind_of(mode: int) -> str:
    names = (
        (stat.S_ISDIR, "a folder"),
        (stat.S_ISFIFO, "a named pipe"),
        (stat.S_ISSOCK, "a socket"),
        (stat.S_ISCHR, "a device"),
        (stat.S_ISBLK, "a device"),
        (stat.S_ISLNK, "a symbolic link"),
    )
    return next((name for test, name in names if test(mode)), "a special file")


def _step(folder: int, name: str, path: Path, *, create: bool) -> int:
    try:
        return os.open(name, _FOLDER, dir_fd=folder)
    except FileNotFoundError:
        if not create:
            raise
    except OSError as error:
        raise _refusal(path, error) from error
    try:
        with suppress(FileExistsError):
            os.mkdir(name, dir_fd=folder)
        return os.open(name, _FOLDER, dir_fd=folder)
    except OSError as error:
        raise _refusal(path, error) from error


def _refusal(path: Path, error: OSError) -> ToolError:
    if isinstance(error, NotADirectoryError) or error.errno in {40, 62}:  # ELOOP: 40 on Linux, 62 on macOS
        return ToolError(
            f"{path} cannot be opened: a part of the path is no folder, or became a symbolic link meanwhile. "
            "Look at the folder again.",
            f"{path.name}: the path changed",
        )
    if isinstance(error, PermissionError):
        return ToolError(f"The operating system allows no access to {path}.")
    return ToolError(f"{path} cannot be opened: {error.strerror}.")
