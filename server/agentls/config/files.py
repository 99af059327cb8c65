"""Settings files as last read: a file is read again when it changed, and its last good content outlives a mistake."""

import stat
from dataclasses import dataclass
from pathlib import Path

from agentls.config.clean import Flaw, Raw, Severity, clean
from agentls.config.jsonc import JsoncError, KeyPath, duplicates, line_and_column, offsets, parse
from agentls.config.sources import Source

_MOST_BYTES = 1024 * 1024
_Stamp = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong in which file. Line and column are one-based; zero where there is no place to name."""

    path: str
    line: int
    column: int
    message: str
    severity: Severity = "error"

    def __str__(self) -> str:
        place = f":{self.line}:{self.column}" if self.line else ""
        return f"{self.path}{place}: {self.message}"


@dataclass(frozen=True, slots=True)
class Content:
    raw: Raw
    problems: tuple[Problem, ...] = ()


class SettingsFiles:
    """Keeps what was read, by the time, size and number of the file."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._read: dict[Path, tuple[_Stamp, Content]] = {}
        self._good: dict[Path, Raw] = {}

    def content(self, source: Source) -> Content:
        try:
            status = source.path.stat()
            stamp = (status.st_mtime_ns, status.st_size, status.st_ino)
            known = self._read.get(source.path)
            if known is not None and known[0] == stamp:
                return known[1]
            if not stat.S_ISREG(status.st_mode):  # opening a pipe would wait for its writer
                return self._broken(source.path, 0, 0, "is no file")
            content = self._fresh(source, status.st_size)
        except OSError as error:
            return self._broken(source.path, 0, 0, f"cannot be read: {error.strerror or 'unknown error'}")
        self._read[source.path] = (stamp, content)
        return content

    def _fresh(self, source: Source, size: int) -> Content:
        if size > _MOST_BYTES:
            return self._broken(source.path, 0, 0, "is larger than 1 MiB; it is not used")
        data = source.path.read_bytes()
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            line, column = line_and_column(data[: error.start].decode("latin-1"), error.start)
            return self._broken(source.path, line, column, "is not UTF-8 text")
        try:
            given = parse(text)
        except JsoncError as error:
            return self._broken(source.path, *line_and_column(text, error.offset), error.message)
        raw, flaws = clean(given, self._home, foreign=source.foreign)
        self._good[source.path] = raw
        twice = tuple(
            Flaw(path, f"`{path[-1]}` stands here twice; the last one counts", "warning") for path in duplicates(text)
        )
        return Content(raw, _placed(source.path, text, (*flaws, *twice)))

    def _broken(self, path: Path, line: int, column: int, message: str) -> Content:
        good = self._good.get(path)
        then = "its last good content holds" if good is not None else "nothing of it is used"
        return Content(good or {}, (Problem(str(path), line, column, f"{message}; {then}"),))


def _placed(path: Path, text: str, flaws: tuple[Flaw, ...]) -> tuple[Problem, ...]:
    if not flaws:
        return ()
    known = offsets(text)
    return tuple(
        Problem(str(path), *line_and_column(text, _offset(known, flaw.path)), flaw.message, flaw.severity)
        for flaw in flaws
    )


def _offset(known: dict[KeyPath, int], path: KeyPath) -> int:
    for end in range(len(path), 0, -1):
        if path[:end] in known:
            return known[path[:end]]
    return 0
