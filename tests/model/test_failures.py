"""Which error is what, what a person reads, and what never shows."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from agentls.model import wordings
from agentls.model.failures import Endpoint, FailureKind, ModelFailure, from_error_object, from_status, retry_after

ENDPOINT = Endpoint("acme", "big-1", "https://api.acme.example", "ACME_API_KEY", secrets=("tok-12345",))

OVERFLOWS = [
    (400, "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens"),
    (400, "Input length 131393 exceeds the maximum allowed input length of 131040 tokens."),
    (400, "Input length (265330) exceeds model's maximum context length (262144)."),
    (400, '{"error":{"code":"context_length_exceeded","message":"too big"}}'),
    (400, '{"error":{"type":"exceed_context_size_error","n_prompt_tokens":9,"n_ctx":8}}'),
    (400, "prompt is too long: 210000 tokens > 200000 maximum"),
    (400, "input length and max_tokens exceed context limit"),
    (413, ""),
    (400, '{"error":{"message":"the request exceeds the available context size, try increasing it"}}'),
    (400, "Please reduce the length of the messages or completion."),
    (400, "The input token count (1048577) exceeds the maximum number of tokens allowed (1048576)."),
    (413, "请求过长"),
    (500, '{"error":{"code":500,"message":"context size exceeded","type":"server_error"}}'),
    (400, "Prompt contains 40000 tokens, too large for model with 32768 maximum context length"),
]


@pytest.mark.parametrize(("status", "body"), OVERFLOWS)
def test_s27_overflow_in_its_many_wordings(status: int, body: str) -> None:
    failure = from_status(ENDPOINT, status, {}, body)
    assert failure.kind is FailureKind.OVERFLOW
    assert not failure.retryable
    assert failure.to_message_error().name == "ContextOverflowError"


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (429, "ThrottlingException: Too many tokens, please wait"),
        (400, "ThrottlingException: Too many tokens, please wait"),
        (429, "Rate limit reached: tokens per minute (TPM): Limit 30000, Requested 40000. Reduce the input tokens"),
        (429, "Request too large for model: context length"),
    ],
)
def test_s27_a_throttle_is_no_overflow(status: int, body: str) -> None:
    failure = from_status(ENDPOINT, status, {}, body)
    assert failure.kind is FailureKind.RATE_LIMIT
    assert failure.retryable


@pytest.mark.parametrize(
    ("status", "body", "kind", "again"),
    [
        (401, "nope", FailureKind.AUTH, False),
        (403, "forbidden", FailureKind.AUTH, False),
        (400, "API key not valid. reason: API_KEY_INVALID", FailureKind.AUTH, False),
        (400, "The response was filtered: content_filter", FailureKind.CONTENT_FILTER, False),
        (403, "blocked by moderation", FailureKind.CONTENT_FILTER, False),
        (400, "bad schema", FailureKind.API, False),
        (404, "no such model", FailureKind.API, False),
        (402, "pay", FailureKind.API, False),
        (408, "", FailureKind.API, True),
        (500, "", FailureKind.API, True),
        (501, "", FailureKind.API, False),
        (502, "<html><title>Bad gateway</title></html>", FailureKind.API, True),
        (529, "overloaded", FailureKind.API, True),
        (400, "Loading model", FailureKind.API, True),
        (429, '{"error":{"code":"insufficient_quota","message":"check your plan"}}', FailureKind.RATE_LIMIT, False),
        (429, "You exceeded the 5-hour usage quota", FailureKind.RATE_LIMIT, False),
    ],
)
def test_kinds_and_whether_another_attempt_may_help(status: int, body: str, kind: FailureKind, again: bool) -> None:
    failure = from_status(ENDPOINT, status, {}, body)
    assert (failure.kind, failure.retryable) == (kind, again)
    assert "acme/big-1 at https://api.acme.example" in failure.message
    assert str(status) in failure.message
    assert "\n" not in failure.message


@pytest.mark.parametrize(
    ("error", "kind", "again"),
    [
        ({"message": "Overloaded", "type": "overloaded_error"}, FailureKind.API, True),
        ({"message": "nope", "code": 400}, FailureKind.API, False),
        ({"message": "wait", "code": 429}, FailureKind.RATE_LIMIT, True),
        ("boom", FailureKind.API, True),
        ({"message": "tools are not supported by this model"}, FailureKind.API, False),
        ({"type": "invalid_request_error", "message": "bad"}, FailureKind.API, False),
        ({"message": "Provider error", "code": 502, "metadata": {"raw": "upstream said no"}}, FailureKind.API, True),
        ({}, FailureKind.API, True),
        ({"message": {"nested": [1, None]}, "code": None}, FailureKind.API, True),
    ],
)
def test_errors_inside_a_success(error: Any, kind: FailureKind, again: bool) -> None:
    failure = from_error_object(ENDPOINT, error)
    assert (failure.kind, failure.retryable) == (kind, again)


def test_the_words_of_a_provider_behind_a_provider_are_shown() -> None:
    error = {"message": "Provider returned error", "code": 502, "metadata": {"raw": '{"error":"upstream said no"}'}}
    assert "upstream said no" in from_error_object(ENDPOINT, error).message


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "-1"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0.0),
        ({}, None),
    ],
)
def test_s28_how_long_a_server_asks_to_wait(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers) == seconds


def test_s28_a_date_to_come() -> None:
    when = (datetime.now(UTC) + timedelta(seconds=60)).strftime("%a, %d %b %Y %H:%M:%S GMT")
    assert retry_after({"retry-after": when}) == pytest.approx(60, abs=2)


@pytest.mark.parametrize(
    ("words", "seconds"),
    [
        ("Please try again in 6ms.", 0.006),
        ("Please try again in 1m2.5s. Visit", 62.5),
        ("Please retry in 22.9s", 22.9),
        ("Try again in 5 hours", 18_000.0),
        ("retry after 30 seconds", 30.0),
        ("try again in 2 minutes", 120.0),
        ("try again later", None),
        ("no hint", None),
    ],
)
def test_s28_a_wait_that_stands_in_the_words(words: str, seconds: float | None) -> None:
    assert wordings.wait_in(words) == (None if seconds is None else pytest.approx(seconds))


@pytest.mark.parametrize("value", ["86400", "Wed, 21 Oct 2099 07:28:00 GMT"])
def test_s28_a_wait_over_five_minutes_ends_it_and_says_when_to_come_back(value: str) -> None:
    failure = from_status(ENDPOINT, 429, {"retry-after": value}, "quota")
    assert not failure.retryable
    assert "Come back in" in failure.message
    assert failure.to_message_error().data["retryAfter"] > 300


def test_s28_an_absurd_wait_is_no_crash() -> None:
    assert not from_status(ENDPOINT, 429, {"retry-after": "9" * 30}, "").retryable


@pytest.mark.parametrize(
    "body",
    [
        "Incorrect API key provided: sk-proj-abcdef***wxyz",
        "bad header: Authorization: Bearer abc.def-ghi",
        "key tok-12345 is unknown",
        "AIzaSyA1234567890abcdef is wrong",
    ],
)
def test_keys_never_show(body: str) -> None:
    message = from_status(ENDPOINT, 401, {}, body).message
    for secret in ("abcdef***", "abc.def", "tok-12345", "AIzaSy"):
        assert secret not in message
    assert "ACME_API_KEY" in message


def test_long_bodies_are_clipped() -> None:
    assert len(from_status(ENDPOINT, 500, {}, "x" * 100_000).message) < 500


def test_members_of_the_message_error() -> None:
    failure = ModelFailure(FailureKind.RATE_LIMIT, "slow", provider="acme", status=429, retryable=True, retry_after=2)
    assert failure.to_message_error().members() == {
        "name": "APIError",
        "data": {
            "message": "slow",
            "kind": "rate_limit",
            "providerId": "acme",
            "statusCode": 429,
            "retryable": True,
            "retryAfter": 2,
        },
    }
