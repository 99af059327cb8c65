"""Identifiers: a prefix and a ULID, never reused, never an order."""

import re
import secrets
from enum import StrEnum

from ulid_transform import ulid_now


class Prefix(StrEnum):
    SESSION = "ses_"
    MESSAGE = "msg_"
    PART = "prt_"
    PERMISSION = "per_"
    QUESTION = "que_"
    TURN = "trn_"
    INSTANCE = "ins_"
    CALL = "call_"


_ULID = r"[0-7][0-9A-HJKMNP-TV-Z]{25}"
_MESSAGE_ID = re.compile(rf"{Prefix.MESSAGE}{_ULID}")


def new(prefix: Prefix) -> str:
    return f"{prefix}{ulid_now()}"


def new_log_id() -> str:
    """Names an entry of the log, for whoever reports a fault."""
    return secrets.token_hex(4)


def is_message_id(text: str) -> bool:
    """Whether a client's own `messageId` has the right form: `msg_` and 26 Crockford characters."""
    return _MESSAGE_ID.fullmatch(text) is not None
