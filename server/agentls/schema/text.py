"""Text as all can hold it: what JSON of others and names of files bring may have no UTF-8 form, or hold secrets."""

import re
from collections.abc import Iterable

_BLACK = "***"
_SHORTEST_SECRET = 4
_KEYS = re.compile(
    r"(?P<lead>\b(?i:bearer)\s+|\b(?i:api[-_]?key)[\"']?\s*[:=]\s*[\"']?(?=[^\s\"',;]{6}))[^\s\"',;]+"
    r"|\b(?:sk|pk|rk|gsk|xai|AIza|hf|nvapi|csk|fw|tgp)[-_][\w*.-]{6,}"
    r"|\bAIza[\w*-]{8,}"
)

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def clean(text: str) -> str:
    """Text that can be encoded: halves of surrogate pairs are joined, lone ones replaced by U+FFFD."""
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def blackened(text: str, secrets: Iterable[str] = ()) -> str:
    """Without the `secrets`, and without whatever else looks like a key."""
    for secret in secrets:
        if len(secret) >= _SHORTEST_SECRET:
            text = text.replace(secret, _BLACK)
    return _KEYS.sub(lambda match: f"{match['lead'] or ''}{_BLACK}", text)


def visible(text: str) -> str:
    """Control characters, and those that turn the direction of writing, in a form that can be seen."""
    return _CONTROL.sub(lambda match: f"\\x{ord(match[0]):02x}", text.replace("\r\n", "\n"))


def one_line(text: str) -> str:
    """What a model wrote cannot look like another line below it."""
    return " ".join(text.split())
