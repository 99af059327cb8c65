"""`{env:NAME}` and `{file:path}` in the strings of settings. What they stand for is never reported."""

import re
import stat
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, cast

from agentls.config.paths import expand_home

_REFERENCE = re.compile(r"\{(env|file):([^}]*)\}")
_MOST_BYTES = 64 * 1024


class Substitution:
    """Fills the references of one file. `report` is told of those that stand for nothing; they become empty."""

    def __init__(self, env: Mapping[str, str], home: Path, base: Path, report: Callable[[str], None]) -> None:
        self._env = env
        self._home = home
        self._base = base
        self._report = report

    def fill(self, value: Any) -> Any:
        if isinstance(value, str):
            return _REFERENCE.sub(self._referred, value) if "{" in value else value
        if isinstance(value, dict):
            return {key: self.fill(item) for key, item in cast("dict[str, Any]", value).items()}
        if isinstance(value, list):
            return [self.fill(item) for item in cast("list[Any]", value)]
        return value

    def _referred(self, found: re.Match[str]) -> str:
        kind, name = found.group(1), found.group(2).strip()
        if kind == "file":
            return self._file(name)
        if name not in self._env:
            self._report(f"the environment variable {name[:80]} is not set; it counts as empty")
        return self._env.get(name, "")

    def _file(self, name: str) -> str:
        try:
            path = self._base / expand_home(name, self._home)
            status = path.stat()
            if stat.S_ISREG(status.st_mode) and status.st_size <= _MOST_BYTES:
                return path.read_text(encoding="utf-8").rstrip("\r\n")
            self._report(f"{name[:200]} is no file of at most 64 KiB; it counts as empty")
        except (OSError, ValueError):
            self._report(f"{name[:200]} cannot be read as text; it counts as empty")
        return ""
