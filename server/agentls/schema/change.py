"""Who changed a file, and how contents are named."""

import hashlib
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ChangeOrigin:
    """The call in whose name a file is written."""

    session_id: str
    turn_id: str
    message_id: str
    part_id: str


def content_hasher() -> hashlib.blake2b:
    """Names a content that comes in pieces: `update` with each, then `hexdigest`."""
    return hashlib.blake2b(digest_size=16)


def content_hash(content: bytes) -> str:
    """The name of a file's content: 32 hex digits."""
    return hashlib.blake2b(content, digest_size=16).hexdigest()
