"""From the path that a tool was given to the real file behind it."""

import fcntl
import os
import re
import stat
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal
from urllib.parse import unquote, urlsplit

from agentls.config.protected import is_protected
from agentls.errors import ToolError

_STREAM = re.compile(r"/dev/(fd/|std(in|out|err)$|tty|pts/)|/proc/[^/]+/(task/[^/]+/)?fd(info)?/")
_DRIVE = re.compile(r"/?([A-Za-z]):(?:\\|/(?!/)|$)")  # but not the scheme of an address
_F_GETPATH = 50  # fcntl of macOS: the path as the file system spells it


@dataclass(frozen=True, slots=True)
class Resolved:
    """`path` is real and absolute: no link in it, as far as it exists. `root` is the project's real root.

    `untitled` is the URI of a document of the editor that is no file; `path` is then but a name.
    """

    path: Path
    root: Path
    inside: bool
    protected: bool
    untitled: str | None = None

    @property
    def uri(self) -> str:
        return self.untitled or self.path.as_uri()

    @property
    def shown(self) -> str:
        """The path as people read it and as permission rules see it: relative to the project's root, or absolute."""
        if self.untitled is not None:
            return self.untitled
        return self.path.relative_to(self.root).as_posix() if self.inside else self.path.as_posix()

    def kind(self) -> Literal["file", "folder", "special"] | None:
        """What stands there; None for nothing. Raises `ToolError` where that cannot be seen."""
        if self.untitled is not None:
            return "file"
        try:
            mode = self.path.stat().st_mode
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise ToolError(f"{self.shown} cannot be looked at: {error.strerror}. Give another path.") from error
        return "folder" if stat.S_ISDIR(mode) else "file" if stat.S_ISREG(mode) else "special"

    def beside(self, path: Path) -> "Resolved":
        """Another real path of the same project."""
        return replace(self, path=path, inside=path.is_relative_to(self.root))


def resolve(argument: str, directory: Path, root: Path) -> Resolved:
    """Follows links, `..`, `~` and `file:` URIs. `directory` is what a relative path starts from."""
    text = _plain(argument)
    _check_separators(text, argument, directory)
    lexical = os.path.normpath(directory / text)
    if _STREAM.match(lexical) or _STREAM.match(str(directory / text)):
        raise ToolError(f"{argument} is a stream of a process, not a file. Give the path of a file.")
    real = _spelled(os.path.realpath(directory / text))
    if _STREAM.match(real):
        raise ToolError(f"{argument} leads to a stream of a process, not to a file. Give the path of a file.")
    path, real_root = Path(real), Path(os.path.realpath(root))
    protected = is_protected(path) or is_protected(Path(lexical))
    return Resolved(path, real_root, path.is_relative_to(real_root), protected)


def file_path(uri: str) -> Path | None:
    """The path in a `file:` URI of this machine, as it is written; None for any other."""
    try:
        return Path(_of_uri(uri)) if uri.startswith("file:") else None
    except ToolError:
        return None


def real_path(uri: str) -> Path | None:
    """The real path of what a `file:` URI names; None where it names no file of this machine."""
    try:
        return resolve(uri, Path("/"), Path("/")).path if uri.startswith("file:") else None
    except ToolError:
        return None


def _plain(argument: str) -> str:
    if argument.startswith("file:"):
        return _of_uri(argument)
    text = argument
    if text == "~" or text.startswith("~/"):
        text = str(Path(text).expanduser())
    return _checked(text, argument)


def _of_uri(uri: str) -> str:
    try:
        parts = urlsplit(uri)
    except ValueError as error:
        raise ToolError(f"{uri} is no address. Write file:///… or a plain path.") from error
    if parts.netloc not in {"", "localhost"}:
        raise ToolError(f"{uri} names a file on another machine. Give the path of a file on this one.")
    path = unquote(parts.path, errors="surrogateescape")
    if not path.startswith("/"):
        raise ToolError(f"{uri} is no absolute file URI. Write file:///… or a plain path.")
    return _checked(path, uri)


def _checked(text: str, argument: str) -> str:
    if not text.strip():
        raise ToolError("The path is empty. Give the path of a file or folder.")
    if "\0" in text:
        raise ToolError(f"The path {argument!r} holds a NUL character. Give a plain path.")
    try:
        os.fsencode(text)
    except UnicodeEncodeError as error:
        raise ToolError(f"The path {argument!r} holds characters that no file name can have.") from error
    return text


def _check_separators(text: str, argument: str, directory: Path) -> None:
    """A path as Windows writes it would be one odd name here. It counts as one only where there is such a file."""
    drive = _DRIVE.match(text)
    if (drive is None and "\\" not in text) or os.path.lexists(directory / text):
        return
    slashed = text.replace("\\", "/")
    if drive is None:
        raise ToolError(f"The path {argument} has backslashes. Here slashes separate folders: {slashed}")
    mount = Path("/mnt", drive[1].lower())
    path = str(mount / slashed[drive.end() :].lstrip("/")) if mount.is_dir() else "a path of this machine, with slashes"
    raise ToolError(f"{argument} is a path of Windows, and here there are no drive letters. Give {path}.")


def _spelled(path: str) -> str:
    """On macOS the spelling that the file system itself uses, so that other cases of a name are the same path."""
    if sys.platform != "darwin":
        return path
    head, tail = Path(path), list[str]()
    while not head.exists() and head != head.parent:
        tail.insert(0, head.name)
        head = head.parent
    return str(_as_stored(head).joinpath(*tail))


def _as_stored(path: Path) -> Path:
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except OSError:
        return path
    try:
        found: bytes = fcntl.fcntl(descriptor, _F_GETPATH, bytes(1024))
    finally:
        os.close(descriptor)
    return Path(os.fsdecode(found.rstrip(b"\0")))
