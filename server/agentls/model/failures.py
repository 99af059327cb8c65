"""What goes wrong at a provider or on the way to it, in words for a person, and whether another attempt may help."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Any, cast

from agentls.errors import AgentlsError
from agentls.model import wordings
from agentls.schema.message import ErrorName, MessageError

LONGEST_WAIT = 300.0


class FailureKind(StrEnum):
    AUTH = "auth"
    API = "api"
    RATE_LIMIT = "rate_limit"
    OVERFLOW = "overflow"
    CONTENT_FILTER = "content_filter"
    NETWORK = "network"
    STREAM = "stream"
    EMPTY = "empty"


_NAMES: Mapping[FailureKind, ErrorName] = {
    FailureKind.AUTH: "ProviderAuthError",
    FailureKind.OVERFLOW: "ContextOverflowError",
    FailureKind.CONTENT_FILTER: "ContentFilterError",
}


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a request goes, for messages. `key_from` names the variable or setting that holds the key."""

    provider: str
    model: str
    origin: str
    key_from: str | None = None
    loopback: bool = False
    secrets: tuple[str, ...] = field(default=(), repr=False)

    def __str__(self) -> str:
        return f"{self.provider}/{self.model} at {self.origin}"


class ModelFailure(AgentlsError):
    """The model gave no usable answer. `message` is one line for a person; `retry_after` is in seconds.

    `refused_here`: nothing listens at an address of this machine, which a longer wait seldom changes.
    """

    def __init__(
        self,
        kind: FailureKind,
        message: str,
        *,
        provider: str = "",
        status: int | None = None,
        retryable: bool = False,
        retry_after: float | None = None,
        refused_here: bool = False,
    ) -> None:
        super().__init__(message)
        self.refused_here = refused_here
        self.kind = kind
        self.message = message
        self.provider = provider
        self.status = status
        self.retryable = retryable
        self.retry_after = retry_after

    def to_message_error(self) -> MessageError:
        data: dict[str, Any] = {
            "message": self.message,
            "kind": self.kind.value,
            "providerId": self.provider or None,
            "statusCode": self.status,
            "retryable": self.retryable,
            "retryAfter": self.retry_after,
        }
        name = _NAMES.get(self.kind, "APIError")
        return MessageError(name=name, data={k: v for k, v in data.items() if v is not None})


def from_status(endpoint: Endpoint, status: int, headers: Mapping[str, str], body: str) -> ModelFailure:
    """An HTTP answer that is no success."""
    words = _words(body)
    wait = retry_after(headers)
    if wait is None and status in {429, 503, 529}:
        wait = wordings.wait_in(words)
    return _classified(endpoint, status, words, wait)


def from_error_object(endpoint: Endpoint, error: object) -> ModelFailure:
    """An error that came inside a successful answer."""
    words = _words(error)
    code = cast("Mapping[str, Any]", error).get("code") if isinstance(error, Mapping) else None
    status = int(code) if isinstance(code, int | str) and str(code).isdecimal() and 400 <= int(code) < 600 else None
    return _classified(endpoint, status, words, wordings.wait_in(words))


def unreachable(endpoint: Endpoint, cause: BaseException, *, connected: bool = True) -> ModelFailure:
    """No connection, or one that broke before the answer began."""
    root = cause
    while root.__cause__ is not None:
        root = root.__cause__
    said = wordings.shown(str(root) or type(root).__name__, endpoint.secrets)
    if "CERTIFICATE" in said.upper():
        advice = "If the server's certificate is your own, name its CA in the provider's caFile setting."
        return _failure(FailureKind.NETWORK, f"{endpoint}: the secure connection failed: {said}. {advice}", endpoint)
    advice = (
        f"Is the server running at {endpoint.origin}?"
        if endpoint.loopback
        else "Check the network, the proxy settings and the provider's baseURL."
    )
    message = f"{endpoint}: the server cannot be reached ({said}). {advice}"
    refused_here = endpoint.loopback and not connected
    return _failure(FailureKind.NETWORK, message, endpoint, retryable=True, refused_here=refused_here)


def broken(endpoint: Endpoint, what: str) -> ModelFailure:
    """An answer that began and did not end as it should; `what` may hold the server's words."""
    said = wordings.shown(what, endpoint.secrets)
    return _failure(FailureKind.STREAM, f"{endpoint}: the answer broke off: {said}.", endpoint, retryable=True)


def stalled(endpoint: Endpoint, seconds: float) -> ModelFailure:
    return _failure(
        FailureKind.STREAM,
        f"{endpoint}: no data for {_length(seconds)}, so the request was given up. "
        f"If the model needs longer, raise provider.{endpoint.provider}.options.timeout (milliseconds).",
        endpoint,
        retryable=True,
    )


def empty(endpoint: Endpoint) -> ModelFailure:
    return _failure(FailureKind.EMPTY, f"{endpoint}: the model's answer was empty.", endpoint, retryable=True)


def not_a_model_server(endpoint: Endpoint, body: str) -> ModelFailure:
    """A success whose body is a page for people (S-series: HTML inside a 200)."""
    said = wordings.shown(body, endpoint.secrets)
    return _failure(
        FailureKind.API,
        f"{endpoint}: the server answered with {said} in place of a model's stream. "
        f"Check provider.{endpoint.provider}.options.baseURL (it usually ends in /v1), and any proxy or log-in page.",
        endpoint,
    )


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds that the server asks to wait: `retry-after-ms`, or `retry-after` as seconds or a date."""
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return max(milliseconds / 1000, 0.0)
    value = headers.get("retry-after")
    seconds = _number(value)
    if seconds is not None:
        return max(seconds, 0.0)
    if value is None:
        return None
    try:
        when = datetime.strptime(value, "%a, %d %b %Y %H:%M:%S GMT").replace(tzinfo=UTC)
    except ValueError:
        return None
    return max((when - datetime.now(UTC)).total_seconds(), 0.0)


def _classified(endpoint: Endpoint, status: int | None, words: str, wait: float | None) -> ModelFailure:
    said = wordings.shown(words, endpoint.secrets) or "no explanation"
    kind = _kind(status, words)
    what = f"{endpoint}: {_headline(kind, status)}: {said}."
    match kind:
        case FailureKind.AUTH:
            where = endpoint.key_from or f"provider.{endpoint.provider}.options.apiKey"
            return _failure(kind, f"{what} Check the key in {where}.", endpoint, status=status)
        case FailureKind.OVERFLOW | FailureKind.CONTENT_FILTER:
            return _failure(kind, what, endpoint, status=status)
        case _:
            pass
    if wait is not None and wait > LONGEST_WAIT:
        back = f"{_length(wait)}, after {_clock(wait)}"
        return _failure(kind, f"{what} Come back in {back}.", endpoint, status=status, retry_after=wait)
    if wait is None and (status == 402 or wordings.is_quota(words)):
        message = f"{what} Your allowance there is used up: wait for its renewal, or check plan and billing."
        return _failure(kind, message, endpoint, status=status)
    if status == 404:
        message = f"{what} Check the model's name and provider.{endpoint.provider}.options.baseURL."
        return _failure(kind, message, endpoint, status=status)
    return _failure(kind, what, endpoint, status=status, retryable=_may_help(kind, status, words), retry_after=wait)


def _kind(status: int | None, words: str) -> FailureKind:
    if status == 429:
        return FailureKind.RATE_LIMIT
    if wordings.is_overflow(words) or status == 413:
        return FailureKind.OVERFLOW
    if status in {401, 403} or (status in {400, None} and wordings.is_auth(words)):
        return FailureKind.CONTENT_FILTER if wordings.is_filtered(words) else FailureKind.AUTH
    if wordings.is_filtered(words) and status in {400, 422, 451, None}:
        return FailureKind.CONTENT_FILTER
    if wordings.is_throttle(words):
        return FailureKind.RATE_LIMIT
    return FailureKind.API


def _may_help(kind: FailureKind, status: int | None, words: str) -> bool:
    if kind is FailureKind.RATE_LIMIT or status in {408, 409, 425}:
        return True
    if status is not None and status >= 500:
        return status != 501
    # A model that is still loading answers 4xx with some servers; an error inside a 200 carries no status at all.
    return wordings.is_overload(words) or (status is None and not wordings.is_permanent(words))


def _headline(kind: FailureKind, status: int | None) -> str:
    suffix = f" ({status})" if status else ""
    match kind:
        case FailureKind.AUTH:
            return f"the server refused the key{suffix}"
        case FailureKind.RATE_LIMIT:
            return f"too many requests{suffix}"
        case FailureKind.OVERFLOW:
            return f"the conversation is too long for the model{suffix}"
        case FailureKind.CONTENT_FILTER:
            return f"the provider's content filter stopped the request{suffix}"
        case _:
            return f"the server answered with an error{suffix}"


def _failure(
    kind: FailureKind,
    message: str,
    endpoint: Endpoint,
    *,
    status: int | None = None,
    retryable: bool = False,
    retry_after: float | None = None,
    refused_here: bool = False,
) -> ModelFailure:
    return ModelFailure(
        kind,
        message,
        provider=endpoint.provider,
        status=status,
        retryable=retryable,
        retry_after=retry_after,
        refused_here=refused_here,
    )


def _words(body: object) -> str:
    """What a body says, codes and types included: some servers give nothing else."""
    if isinstance(body, str):
        try:
            parsed: object = json.loads(body)
        except (ValueError, RecursionError):
            return body
        return _words(cast("object", parsed)) if isinstance(parsed, dict | list) else body
    if isinstance(body, list):
        items = cast("list[object]", body)
        return " ".join(_words(item) for item in items[:3])
    if not isinstance(body, Mapping):
        return "" if body is None else str(body)
    members = cast("Mapping[str, object]", body)
    if isinstance(members.get("error"), Mapping | list):
        return _words(members["error"])
    said = [members.get(name) for name in ("message", "error", "detail", "code", "type", "status")]
    words = [_words(value) for value in said if value not in {None, ""}] if _plain(said) else [json.dumps(body)]
    nested = members.get("metadata")
    if isinstance(nested, Mapping):
        words.append(_words(cast("Mapping[str, object]", nested).get("raw")))
    return " ".join(dict.fromkeys(word for word in words if word))


def _plain(values: list[object]) -> bool:
    return all(value is None or isinstance(value, str | int | float) for value in values)


def _number(text: str | None) -> float | None:
    try:
        return float(text) if text is not None else None
    except ValueError:
        return None


def _length(seconds: float) -> str:
    for unit, size in (("day", 86400), ("hour", 3600), ("minute", 60)):
        if seconds >= 2 * size or (unit == "minute" and seconds >= size):
            count = round(seconds / size)
            return f"{count} {unit}{'s' if count != 1 else ''}"
    return f"{seconds:g} s"


def _clock(seconds: float) -> str:
    try:
        when = datetime.now().astimezone() + timedelta(seconds=seconds)
    except OverflowError:
        return "a very long time"
    return when.strftime("%Y-%m-%d %H:%M")
