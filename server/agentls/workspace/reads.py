"""What each session knows of the files it has read or written."""

from collections import OrderedDict
from pathlib import Path

_KEEP_BYTES = 8 * 1024 * 1024
_KEEP_ONE = 512 * 1024


class Reads:
    """By session and path, the content hash of what it last saw; some contents too, to say later what changed."""

    def __init__(self) -> None:
        self._seen: dict[str, dict[Path, str]] = {}
        self._contents: OrderedDict[str, bytes] = OrderedDict()
        self._held = 0

    def seen(self, session_id: str, path: Path) -> str | None:
        return self._seen.get(session_id, {}).get(path)

    def note(self, session_id: str, path: Path, digest: str, data: bytes | None = None) -> None:
        self._seen.setdefault(session_id, {})[path] = digest
        if data is not None and len(data) <= _KEEP_ONE:
            self._keep(digest, data)

    def lose(self, session_id: str, path: Path) -> None:
        """What stands there is not known any more."""
        self._seen.get(session_id, {}).pop(path, None)

    def content(self, digest: str) -> bytes | None:
        """The bytes with that hash, if they are still held."""
        return self._contents.get(digest)

    def forget(self, session_id: str) -> None:
        self._seen.pop(session_id, None)

    def _keep(self, digest: str, data: bytes) -> None:
        if digest in self._contents:
            self._contents.move_to_end(digest)
            return
        self._contents[digest] = data
        self._held += len(data)
        while self._held > _KEEP_BYTES:
            _, dropped = self._contents.popitem(last=False)
            self._held -= len(dropped)
