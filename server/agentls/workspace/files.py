"""The one way in which files are written: guarded, atomic, recorded."""

import os
import secrets
import stat
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Final, Literal

import anyio
from anyio import to_thread

from agentls.errors import ToolError
from agentls.schema.change import ChangeOrigin, Content, content_hash
from agentls.workspace.binary import binary_type
from agentls.workspace.diff import unified
from agentls.workspace.opened import folder_of, read_regular
from agentls.workspace.textfile import decode

_DIFF_LIMIT = 6000
_FRESH_LINES = 60


class Unchecked(Enum):
    UNCHECKED = "unchecked"


UNCHECKED: Final = Unchecked.UNCHECKED
Expected = str | None | Literal[Unchecked.UNCHECKED]


@dataclass(frozen=True, slots=True)
class Recorded:
    """A change that was stored before it is made: what to call once it is, and where it could not be."""

    made: Callable[[], None]
    undo: Callable[[], Awaitable[None]]


Record = Callable[[ChangeOrigin, Path, Content | None, Content | None, Callable[[], None]], Awaitable[Recorded]]
"""Stores a change, unless the last one, `check_open`, raises. It returns without a pause once that is done."""


@dataclass(frozen=True, slots=True)
class FileContent:
    """A file as it stands on the disk; `data` and `hash` are None where there is none."""

    path: Path
    data: bytes | None
    hash: str | None

    @property
    def exists(self) -> bool:
        return self.data is not None


@dataclass(frozen=True, slots=True)
class Written:
    """What a write did; None stands for no file."""

    path: Path
    before: bytes | None
    after: bytes | None
    hash: str | None


class ChangedError(ToolError):
    """The file is not what the writer thinks. `fresh` is what stands there now, `whole` whether the message tells all
    that changed.
    """

    def __init__(self, message: str, brief: str, fresh: FileContent, *, whole: bool) -> None:
        super().__init__(message, brief)
        self.fresh = fresh
        self.whole = whole


@dataclass(slots=True)
class _Prepared:
    """A new content that waits in `temporary` for its rename; `status` is the old file's."""

    before: Content | None
    after: Content | None
    status: os.stat_result | None
    temporary: str | None


class _PathLock:
    def __init__(self) -> None:
        self.lock = anyio.Lock()
        self.users = 0


class Files:
    """All writes of files go through `write`. Paths are real ones, from `resolve`.

    `known` gives an older content by its hash, to say what changed.
    """

    def __init__(self, record: Record, known: Callable[[str], bytes | None] = lambda _: None) -> None:
        self._record = record
        self._known = known
        self._locks: dict[Path, _PathLock] = {}

    async def read(self, path: Path) -> FileContent:
        """The whole file, whatever its size."""
        return await to_thread.run_sync(read_now, path)

    async def write(
        self,
        path: Path,
        data: bytes | None,
        *,
        expected: Expected,
        origin: ChangeOrigin,
        check_open: Callable[[], None],
    ) -> Written:
        """Records the change, then replaces the file's content at one stroke (None removes the file).

        `expected` is the hash of the content that the change was made for, None for no file. Raises `ChangedError`
        where another stands there, and whatever `check_open` raises, with nothing changed.
        """
        async with self._locked(path):
            prepared = await to_thread.run_sync(_prepare, path, data)
            try:
                await self._check(path, prepared.before, expected)
                recorded = await self._record(origin, path, prepared.before, prepared.after, check_open)
                # Nothing else ran on the loop since it was stored: a stopped run cannot slip in between.
                try:
                    _put(path, prepared)
                except ToolError:
                    await recorded.undo()
                    raise
                recorded.made()
            finally:
                if prepared.temporary is not None:
                    _discard(path, prepared.temporary)
        before, after = prepared.before, prepared.after
        return Written(path, before.data if before else None, data, after.hash if after else None)

    @asynccontextmanager
    async def _locked(self, path: Path) -> AsyncGenerator[None]:
        entry = self._locks.setdefault(path, _PathLock())
        entry.users += 1
        try:
            async with entry.lock:
                yield
        finally:
            entry.users -= 1
            if entry.users == 0:
                self._locks.pop(path, None)

    async def _check(self, path: Path, before: Content | None, expected: Expected) -> None:
        if expected is UNCHECKED or expected == (before.hash if before else None):
            return
        old = self._known(expected) if expected is not None else None
        found = FileContent(path, before.data, before.hash) if before else FileContent(path, None, None)
        raise await to_thread.run_sync(lambda: changed(found, old, existed=expected is not None))


def read_now(path: Path) -> FileContent:
    try:
        with folder_of(path) as folder:
            found = read_regular(folder, path.name, path)
    except FileNotFoundError:
        found = None
    if found is None:
        return FileContent(path, None, None)
    return FileContent(path, found[0], content_hash(found[0]))


def changed(fresh: FileContent, old: bytes | None, *, existed: bool) -> ChangedError:
    """The refusal, with what changed as far as it can be told."""
    name = fresh.path.name
    if fresh.data is None:
        return ChangedError(
            f"{fresh.path} is gone: it was removed since you read it.", f"{name} is gone", fresh, whole=True
        )
    if fresh.data == old:
        words = f"{fresh.path} was touched meanwhile, but holds what it held. Try again."
        return ChangedError(words, f"{name} was touched meanwhile", fresh, whole=True)
    start = f"{fresh.path} changed since you read it" if existed else f"{fresh.path} exists by now"
    brief = f"{name} changed meanwhile"
    if binary_type(fresh.data) is not None:
        return ChangedError(f"{start}. It is binary now.", brief, fresh, whole=False)
    view = decode(fresh.data).view
    if old is not None:
        patch = unified(decode(old).view, view, name)
        if not patch:
            return ChangedError(f"{start}: only its encoding or line endings.", brief, fresh, whole=True)
        if len(patch) <= _DIFF_LIMIT:
            return ChangedError(
                f"{start}. What changed:\n{patch}\nTry again with this in mind.", brief, fresh, whole=True
            )
    lines = view.split("\n")
    shown = "\n".join(f"{i}: {line}" for i, line in enumerate(lines[:_FRESH_LINES], 1))[:_DIFF_LIMIT]
    whole = len(lines) <= _FRESH_LINES and len(shown) < _DIFF_LIMIT
    advice = "Try again with this in mind." if whole else "Read the file again before you change it."
    return ChangedError(f"{start}. It now begins:\n{shown}\n{advice}", brief, fresh, whole=whole)


def _prepare(path: Path, data: bytes | None) -> _Prepared:
    try:
        with folder_of(path, create=data is not None) as folder:
            found = read_regular(folder, path.name, path)
            old, status = found if found is not None else (None, None)
            temporary = _fill(folder, path.name, data, status) if data is not None else None
    except FileNotFoundError as error:
        if data is None:
            return _Prepared(None, None, None, None)
        raise ToolError(f"{path} cannot be written: its folder was removed meanwhile.") from error
    except OSError as error:
        raise ToolError(f"{path} cannot be written: {error.strerror}.") from error
    before = Content.of(old) if old is not None else None
    return _Prepared(before, Content.of(data) if data is not None else None, status, temporary)


def _fill(folder: int, name: str, data: bytes, old: os.stat_result | None) -> str:
    temporary = f".{name[:100]}.{secrets.token_hex(6)}.tmp"
    mode = 0o666 if old is None else 0o600  # a new file follows the umask; a copy is not open wider than its original
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(temporary, flags, mode, dir_fd=folder)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            if old is not None:
                _keep_owner(file.fileno(), old)
                os.fchmod(file.fileno(), stat.S_IMODE(old.st_mode))
    except BaseException:
        os.unlink(temporary, dir_fd=folder)
        raise
    return temporary


def _keep_owner(descriptor: int, old: os.stat_result) -> None:
    new = os.fstat(descriptor)
    if (new.st_uid, new.st_gid) == (old.st_uid, old.st_gid):
        return
    with suppress(PermissionError):
        os.fchown(descriptor, old.st_uid, old.st_gid)


def _put(path: Path, prepared: _Prepared) -> None:
    """The rename; before it, a last look whether the old file is still the one that was read."""
    with _as_tool_error(path), folder_of(path) as folder:
        _same_file(folder, path, prepared)
        if prepared.temporary is not None:
            os.rename(prepared.temporary, path.name, src_dir_fd=folder, dst_dir_fd=folder)
            prepared.temporary = None
        elif prepared.status is not None:
            os.unlink(path.name, dir_fd=folder)


def _same_file(folder: int, path: Path, prepared: _Prepared) -> None:
    try:
        now = os.stat(path.name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        now = None
    old = prepared.status
    if (now is None) != (old is None) or (now is not None and old is not None and _mark(now) != _mark(old)):
        raise changed(read_now(path), prepared.before.data if prepared.before else None, existed=old is not None)


def _mark(status: os.stat_result) -> tuple[int, int, int, int]:
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns


def _discard(path: Path, temporary: str) -> None:
    with suppress(OSError, ToolError), folder_of(path) as folder:
        os.unlink(temporary, dir_fd=folder)


@contextmanager
def _as_tool_error(path: Path) -> Generator[None]:
    try:
        yield
    except OSError as error:
        raise ToolError(f"{path} cannot be written: {error.strerror}.") from error
