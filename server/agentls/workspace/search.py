"""Searches with ripgrep, within limits of number and time.

The repository's ignore rules hold (`.gitignore`, `.ignore`, also outside git); hidden files are searched, `.git` is
not; links are not followed.
"""

import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Generic, TypeVar

import anyio
from anyio.abc import ByteReceiveStream, Process

from agentls.config.protected import is_secret
from agentls.errors import ToolError
from agentls.workspace.globs import matcher

_COMMON = ("--no-config", "--color=never", "--hidden", "--no-require-git", "--glob=!.git", "--no-messages")
_LINES = ("--line-number", "--no-heading", "--with-filename", "--null", "--max-columns=500", "--max-columns-preview")
_MAX_ERROR = 2000
_MAX_ROW = 1024 * 1024
_ENDING = 5
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Hit:
    """One line of a file; `path` is absolute."""

    path: Path
    line: int
    text: str


@dataclass(slots=True)
class Found(Generic[T]):
    """Results in the order of their paths. `more`: the limit cut them; `timed_out`: the time did. `withheld` are files
    that may not be shown.
    """

    items: list[T] = field(default_factory=list[T])
    more: bool = False
    timed_out: bool = False
    withheld: set[Path] = field(default_factory=set[Path])


def find_ripgrep() -> str | None:
    """`rg` of the PATH, else the one that was installed beside this Python."""
    places = (Path(sys.executable).parent / "rg", Path(sysconfig.get_path("scripts")) / "rg")
    return shutil.which("rg") or next((str(place) for place in places if place.is_file()), None)


class Search:
    """ripgrep over folders. `withheld` says which files' names and contents are left out of results."""

    def __init__(self, program: str | None = None, withheld: Callable[[Path], bool] = is_secret) -> None:
        self._program = program or find_ripgrep()
        self._withheld = withheld

    async def grep(
        self,
        target: Path,
        pattern: str,
        *,
        include: str | None = None,
        limit: int = 100,
        timeout: float = 20,
        withheld: Callable[[Path], bool] = lambda _: False,
    ) -> Found[Hit]:
        """Lines that match a regular expression, below a folder or in one file, which is then never withheld.
        `withheld` says what else is left out of this search.
        """
        folder, start = (target, "./") if target.is_dir() else (target.parent, f"./{target.name}")
        fits = matcher(include) if include else None
        found = Found[Hit]()

        def take(row: bytes) -> bool:
            name, _, rest = row.partition(b"\0")
            number, _, text = rest.decode("utf-8", "replace").partition(":")
            path = _relative(name)
            if not number.isdigit() or (fits is not None and not fits(path)):
                return True
            if start == "./" and (self._withheld(folder / path) or withheld(folder / path)):
                found.withheld.add(folder / path)
                return True
            found.more = len(found.items) >= limit
            if not found.more:
                found.items.append(Hit(folder / path, int(number), text.rstrip("\r")))
            return not found.more

        arguments = [*_COMMON, *_LINES, "--sort=path", f"--regexp={pattern}", "--", start]
        found.timed_out = await self._run(arguments, folder, b"\n", take, timeout)
        return found

    async def glob(self, folder: Path, pattern: str, *, limit: int = 100, timeout: float = 20) -> Found[Path]:
        """Files whose path below the folder fits the pattern."""
        fits = matcher(pattern)
        return await self._files(folder, fits, limit=limit, timeout=timeout, arguments=("--sort=path",))

    async def files(self, folder: Path, *, limit: int, timeout: float = 5) -> Found[Path]:
        """All files below a folder, in no order."""
        return await self._files(folder, lambda _: True, limit=limit, timeout=timeout)

    async def _files(
        self,
        folder: Path,
        fits: Callable[[str], bool],
        *,
        limit: int,
        timeout: float,
        arguments: Sequence[str] = (),
    ) -> Found[Path]:
        found = Found[Path]()

        def take(row: bytes) -> bool:
            path = _relative(row)
            if not fits(path):
                return True
            if self._withheld(folder / path):
                found.withheld.add(folder / path)
                return True
            found.more = len(found.items) >= limit
            if not found.more:
                found.items.append(folder / path)
            return not found.more

        arguments = [*_COMMON, *arguments, "--files", "--null", "--", "./"]
        found.timed_out = await self._run(arguments, folder, b"\0", take, timeout)
        return found

    async def _run(
        self, arguments: Sequence[str], cwd: Path, separator: bytes, take: Callable[[bytes], bool], timeout: float
    ) -> bool:
        """Gives each row to `take` until that says no. Whether the time was up before the end."""
        errors, whole = bytearray(), False
        process = await self._start(arguments, cwd)
        try:
            with anyio.move_on_after(timeout) as limit:
                async with anyio.create_task_group() as group:
                    if process.stderr is not None:
                        group.start_soon(_collect, process.stderr, errors)
                    whole = process.stdout is None or await _each_row(process.stdout, separator, take)
                    if not whole:
                        group.cancel_scope.cancel()
                if whole and await process.wait() == 2 and errors:
                    raise ToolError(_complaint(errors))
        finally:
            await _stop(process)
        return limit.cancelled_caught

    async def _start(self, arguments: Sequence[str], cwd: Path) -> Process:
        if self._program is None:
            raise ToolError("ripgrep (rg) is not installed, so files cannot be searched. Install ripgrep, or use bash.")
        try:
            return await anyio.open_process(
                [self._program, *arguments],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                cwd=cwd,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            raise ToolError(f"The search in {cwd} was not started: {error}.") from error


async def _each_row(stream: ByteReceiveStream, separator: bytes, take: Callable[[bytes], bool]) -> bool:
    """False if `take` stopped it."""
    rest = b""
    async for chunk in stream:
        *rows, rest = (rest + chunk).split(separator)
        if not all(take(row) for row in rows):
            return False
        rest = rest[:_MAX_ROW]
    return not rest or take(rest)


async def _collect(stream: ByteReceiveStream, into: bytearray) -> None:
    async for chunk in stream:
        into.extend(chunk[: max(0, _MAX_ERROR - len(into))])


async def _stop(process: Process) -> None:
    with anyio.CancelScope(shield=True), anyio.move_on_after(_ENDING):
        if process.returncode is None:
            process.kill()
        await process.wait()
        await process.aclose()


def _relative(name: bytes) -> str:
    return name.removeprefix(b"./").decode("utf-8", "surrogateescape")


def _complaint(errors: bytearray) -> str:
    text = errors.decode("utf-8", "replace").strip()
    return f"The search failed. If the pattern is meant word for word, escape its special characters.\n{text}"
