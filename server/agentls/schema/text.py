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
