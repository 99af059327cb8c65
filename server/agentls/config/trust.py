"""Which folders the user trusts to run things. Kept outside every project."""

import fcntl
import os
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from pydantic import Field, ValidationError

from agentls.schema.base import Value, now

_MOST_DIGESTS = 31
TrustState = Literal["trusted", "untrusted", "changed"]


class Grant(Value):
    """What was trusted, newest last: folders below the root may have settings of their own.

    `device` and `inode` tell which folder it was: another one under the name is not it.
    """

    digests: tuple[str, ...]
    device: int
    inode: int
    granted_at: int


class Grants(Value):
    folders: dict[str, Grant] = Field(default={})


class TrustStore:
    """The answers of the user, in a file for the user alone. A file that cannot be read trusts nothing."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def granted(self, root: Path) -> tuple[str, ...]:
        """What was trusted of exactly this folder; a parent's trust says nothing."""
        grant = self._read().folders.get(_key(root))
        return grant.digests if grant is not None and _identity(root) == (grant.device, grant.inode) else ()

    def grant(self, root: Path, digest: str) -> None:
        device, inode = _identity(root)
        with self._locked():
            folders = self._read().folders
            earlier = [known for known in self.granted(root) if known != digest]
            digests = (*earlier[-_MOST_DIGESTS:], digest)
            grant = Grant(digests=digests, device=device, inode=inode, granted_at=now())
            self._write(Grants(folders={**folders, _key(root): grant}))

    def revoke(self, root: Path) -> None:
        with self._locked():
            folders = self._read().folders
            self._write(Grants(folders={path: grant for path, grant in folders.items() if path != _key(root)}))

    def _read(self) -> Grants:
        try:
            return Grants.model_validate_json(self._path.read_bytes())
        except (OSError, ValidationError):
            return Grants()

    def _write(self, grants: Grants) -> None:
        descriptor, name = tempfile.mkstemp(dir=self._path.parent, prefix=".trust-")  # mkstemp makes it 0600
        temporary = Path(name)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(grants.wire())
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(self._path)
        except OSError:
            temporary.unlink(missing_ok=True)
            raise

    @contextmanager
    def _locked(self) -> Generator[None]:
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(self._path.with_suffix(".lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)


class Trust:
    """What one connection may rely on: the editor's word while it lasts, else the store."""

    def __init__(self, store: TrustStore) -> None:
        self._store = store
        self._seen: dict[str, str] = {}
        self._revoked: set[str] = set()

    def decide(self, root: Path, digest: str, directory: Path, *, word: bool | None = None) -> TrustState:
        """Whether what `digest` stands for, as read for `directory`, may run. `word` is the editor's, if it gave one.

        A no of the editor's holds against the store. Its yes is about the settings as this connection first saw them.
        """
        if word is False:
            return "untrusted"
        granted = self._store.granted(root)
        if digest in granted:
            return "trusted"
        if _key(root) in self._revoked:
            return "untrusted"
        if word is True and self._seen.setdefault(_key(directory), digest) == digest:
            return "trusted"
        return "changed" if granted or word is True else "untrusted"

    def grant(self, root: Path, digest: str) -> None:
        """The user trusts the folder as it is now."""
        self._store.grant(root, digest)
        self._revoked.discard(_key(root))

    def revoke(self, root: Path) -> None:
        """The user takes it back, also against the editor's word, for as long as the connection lives."""
        self._store.revoke(root)
        self._revoked.add(_key(root))


def _key(root: Path) -> str:
    return os.path.realpath(root)


def _identity(root: Path) -> tuple[int, int]:
    try:
        status = root.stat()
    except OSError:
        return (-1, -1)
    return status.st_dev, status.st_ino
