"""How servers word their errors: tables that tell an overflow from a throttle, and what of a body may be shown."""

import re
from collections.abc import Iterable

from agentls.schema.text import blackened

_CLIP = 300

# From vLLM, llama.cpp, OpenAI, Anthropic behind proxies, Groq, Mistral, Gemini, xAI, LM Studio, Ollama.
_OVERFLOW = re.compile(
    r"context[_ ]length[_ ]exceeded|exceed_context_size|model_context_window_exceeded|context_window_exceeded"
    r"|maximum context length|context (?:length|size|window|limit) (?:is |was )?(?:exceeded|only)"
    r"|exceed(?:s|ed|ing)? (?:the |this |your |its )?(?:model'?s? |available |allowed |maximum |input )*"
    r"(?:context|input length|input token|number of tokens allowed|prompt length)"
    r"|maximum (?:allowed )?(?:input|prompt) (?:length|tokens)|maximum prompt length|prompt is too long|prompt too long"
    r"|input is too long|input token count|too large for (?:the )?(?:model|context)|request_too_large"
    r"|reduce the length of (?:the |your )?(?:messages|prompt|input)|larger than the context|greater than the context"
    r"|context window exceeds|exceeds? limit of \d+ tokens",
    re.IGNORECASE,
)
_THROTTLE = re.compile(
    r"throttl|rate[ _-]?limit|too many requests|too many tokens, please wait|tokens per (?:minute|day|hour)"
    r"|requests per|\b[TR]P[MD]\b|slow down|please wait",
    re.IGNORECASE,
)
_OVERLOAD = re.compile(
    r"overload|over capacity|at capacity|server[_ ]is[_ ]busy|service[_ ]unavailable|temporarily unavailable"
    r"|try again later|no available (?:server|slot)|loading model|model is loading|resource[_ ]exhausted"
    r"|upstream (?:error|connect)|bad gateway|gateway time-?out|internal[_ ]server[_ ]error|server_error",
    re.IGNORECASE,
)
_QUOTA = re.compile(
    r"insufficient[_ ](?:quota|balance|credit|funds)|(?:usage|hour|daily|weekly|monthly|billing)[ -](?:usage )?"
    r"(?:quota|limit|cap)|billing[_ ](?:hard_limit|not_active)|out of credits?|credit balance|payment required",
    re.IGNORECASE,
)
_FILTER = re.compile(
    r"content[_ ]?filter|content[_ ](?:management )?policy|responsible ?ai ?policy|moderation|safety system",
    re.IGNORECASE,
)
_AUTH = re.compile(
    r"(?:invalid|incorrect|missing|no|expired) (?:api[ _-]?key|auth)|api[_ ]key[_ ]invalid", re.IGNORECASE
)
_PERMANENT = re.compile(
    r"invalid[_ ](?:request|parameter|argument|value)|unsupported|not supported|not found|bad request|not implemented"
    r"|does ?n[o']t (?:exist|support)",
    re.IGNORECASE,
)
_WAIT = re.compile(
    r"(?:try again|retry|available|reset\w*) (?:after |in |at )(?P<length>(?:[\d.]+ ?(?:ms|s|m|h|d|[a-z]+)[ ,]*)+)",
    re.IGNORECASE,
)
_LENGTH = re.compile(r"([\d.]+) ?([a-z]+)", re.IGNORECASE)
_UNITS = {"ms": 0.001, "mi": 60.0, "m": 60.0, "s": 1.0, "h": 3600.0, "d": 86400.0}
_TITLE = re.compile(r"<title[^>]*>(.*?)</title>", re.IGNORECASE | re.DOTALL)


def is_overflow(text: str) -> bool:
    """Whether the prompt was too long for the model. A throttle that counts tokens is none (S27)."""
    return _OVERFLOW.search(text) is not None and _THROTTLE.search(text) is None


def is_throttle(text: str) -> bool:
    return _THROTTLE.search(text) is not None


def is_overload(text: str) -> bool:
    return _OVERLOAD.search(text) is not None


def is_quota(text: str) -> bool:
    """Whether an allowance is used up, which no short wait mends."""
    return _QUOTA.search(text) is not None


def is_permanent(text: str) -> bool:
    """Whether the request itself is refused: the same one will be again."""
    return _PERMANENT.search(text) is not None


def is_filtered(text: str) -> bool:
    return _FILTER.search(text) is not None


def is_auth(text: str) -> bool:
    return _AUTH.search(text) is not None


def wait_in(text: str) -> float | None:
    """Seconds of a wait that stands in the wording alone: "try again in 1m2.5s"."""
    found = _WAIT.search(text)
    if found is None:
        return None
    total = 0.0
    for number, unit in _LENGTH.findall(found["length"]):
        factor = _UNITS.get(unit.lower()[:2], _UNITS.get(unit.lower()[:1]))
        if factor is None or number.count(".") > 1 or number == ".":
            break
        total += float(number) * factor
    return total or None


def _looks_like_html(text: str) -> bool:
    return text.lstrip()[:1] == "<"


def shown(text: str, secrets: Iterable[str] = ()) -> str:
    """One short line of what a server said, without keys: safe for a person, a log and the database."""
    if _looks_like_html(text):
        title = _TITLE.search(text)
        text = f"an HTML page, {title[1].strip()!r}" if title else "an HTML page"
    line = " ".join(blackened(text, secrets).split())
    return line if len(line) <= _CLIP else line[: _CLIP - 1] + "…"
