"""Cuts what a tool returns to a size that a model can read, and keeps the whole in a file."""

import secrets
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

MAX_LINES = 2000
MAX_BYTES = 50 * 1024
_KEEP_DAYS = 7
_TAIL_SHARE = 4


@dataclass(frozen=True, slots=True)
class Cut:
    """`text` is for the model; `file` holds the whole where something was left out."""

    text: str
    file: Path | None


class Outputs:
    """Whole outputs, kept for seven days in a folder of their own."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def cut(self, text: str, *, tail: bool = False) -> Cut:
        """The text itself if it is short; else its beginning (with `tail`, its end too) and where the whole is.

        Blocks on the disk when it is long: call it in a thread.
        """
        size = len(text.encode("utf-8", "replace"))
        lines = text.count("\n") + 1
        if lines <= MAX_LINES and size <= MAX_BYTES:
            return Cut(text, None)
        file = self._keep(text)
        ending = MAX_BYTES // _TAIL_SHARE if tail else 0
        head = _head(text, MAX_LINES - (MAX_LINES // _TAIL_SHARE if tail else 0), MAX_BYTES - ending)
        end = _tail(text[len(head) :], MAX_LINES // _TAIL_SHARE, ending) if tail else ""
        left_out = lines - head.count("\n") - end.count("\n")
        hint = (
            f"… {left_out} of {lines} lines ({size} bytes in all) are left out here. The whole text is in {file}: "
            "read parts of it with the read tool (offset, limit), or search it with grep."
        )
        return Cut("\n".join(piece for piece in (head.rstrip("\n"), hint, end) if piece), file)

    def sweep(self) -> None:
        """Removes what is older than seven days."""
        limit = time.time() - _KEEP_DAYS * 86400
        if not self._folder.is_dir():
            return
        for file in self._folder.glob("output-*.txt"):
            with suppress(OSError):
                if file.stat().st_mtime < limit:
                    file.unlink()

    def _keep(self, text: str) -> Path:
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self.sweep()
        file = self._folder / f"output-{secrets.token_hex(8)}.txt"
        file.touch(mode=0o600)
        file.write_text(text, encoding="utf-8", errors="replace")
        return file


def _head(text: str, lines: int, size: int) -> str:
    """Whole lines from the beginning; of one line that is too long, its beginning."""
    part = text.encode("utf-8", "replace")[:size].decode("utf-8", "ignore")
    rows = part.split("\n")
    if len(rows) > lines:
        return "\n".join(rows[:lines]) + "\n"
    whole = "\n".join(rows[:-1])
    return whole + "\n" if whole and len(part) < len(text) else part


def _tail(text: str, lines: int, size: int) -> str:
    data = text.encode("utf-8", "replace")
    part = data[max(0, len(data) - size) :].decode("utf-8", "ignore")
    rows = part.split("\n")
    if len(part) < len(text) and len(rows) > 1:
        rows = rows[1:]
    return "\n".join(rows[-lines:])
