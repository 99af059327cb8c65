"""The log: a file, never a stream that somebody might not read; secrets are blacked out on their way in."""

import logging
import os
from collections.abc import Callable, Iterable
from pathlib import Path

from agentls.schema.text import blackened

MOST_BYTES = 5 * 1024 * 1024


class Redacting(logging.Formatter):
    """`secrets` names what is known to be secret now; what only looks like a key goes too."""

    def __init__(self, secrets: Callable[[], Iterable[str]]) -> None:
        super().__init__("%(asctime)s %(process)d %(levelname)s %(name)s: %(message)s")
        self._secrets = secrets

    def format(self, record: logging.LogRecord) -> str:
        return blackened(super().format(record), self._secrets())


def start_log(folder: Path, secrets: Callable[[], Iterable[str]]) -> Path:
    """Begin to log into a file below `folder`; the old one is put aside once it is large. Returns the file's path.

    `AGENTLS_LOG` sets the level (debug, info, warning, error).
    """
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    path = folder / "agentls.log"
    if path.exists() and path.stat().st_size > MOST_BYTES:
        path.replace(path.with_suffix(".log.1"))
    path.touch(mode=0o600, exist_ok=True)
    handler = logging.FileHandler(path, encoding="utf-8", errors="backslashreplace")
    handler.setFormatter(Redacting(secrets))
    level = os.environ.get("AGENTLS_LOG", "warning").upper()
    logging.basicConfig(level=level if level in logging.getLevelNamesMapping() else "WARNING", handlers=[handler])
    logging.raiseExceptions = False
    return path
