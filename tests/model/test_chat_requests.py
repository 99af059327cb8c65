"""The client against a real server: what it sends, keys, proxies, certificates."""

import ssl
from dataclasses import replace
from typing import Any

import pytest

from agentls.errors import AgentError
from agentls.model.client import ModelRequest
from agentls.model.failures import FailureKind, ModelFailure
from agentls.model.openai_chat import OpenAIChat
from agentls.model.settings import ProviderSettings
from fakes.openai_server import serve
from fakes.replies import Status, answer, text
from model.chats import REF, REQUEST, USER, client_of, collect, failure_of, play, said


async def test_c17_the_prefix_of_the_next_request_is_the_same_bytes() -> None:
    tools = b'[{"type":"function","function":{"name":"read","parameters":{}}}]'
    messages = [b'{"role":"system","content":"s"}', '{"role":"user","content":"ü  \\u0041"}'.encode()]
    async with serve([answer(text("a"))] * 2) as server, client_of(server) as client:
        await collect(client, ModelRequest(REF, messages, tools))
        more = [*messages, b'{"role":"assistant","content":"a"}', USER]
        await collect(client, ModelRequest(REF, more, tools, "none", 99, {"temperature": 0}))
    first, second = (request.body for request in server.requests)
    prefix = first[: first.index(messages[-1]) + len(messages[-1])]
    assert second.startswith(prefix)
    assert server.requests[1].headers["content-type"] == "application/json"


async def test_the_body_of_a_request() -> None:
    options = {"temperature": 0.2, "stream": False, "messages": [], "seed": None}
    request = ModelRequest(REF, (USER,), b"[]", "StructuredOutput", 100, options)
    async with serve([answer(text("a"))]) as server, client_of(server) as client:
        await collect(client, request)
    assert server.requests[0].json == {
        "model": "test-model",
        "tools": [],
        "messages": [{"role": "user", "content": "hi"}],
        "temperature": 0.2,
        "max_tokens": 100,
        "tool_choice": {"type": "function", "function": {"name": "StructuredOutput"}},
        "stream": True,
        "stream_options": {"include_usage": True},
    }


async def test_s30_an_unknown_limit_is_not_sent() -> None:
    async with serve([answer(text("a"))]) as server, client_of(server) as client:
        await collect(client)
    assert "max_tokens" not in server.requests[0].json


async def test_a_server_without_stream_options_is_asked_again_without_and_remembered() -> None:
    refusal = Status(400, {"error": {"message": "unknown field: stream_options"}})
    async with serve([refusal, answer(text("a")), answer(text("b"))]) as server, client_of(server) as client:
        assert said(await collect(client)) == "a"
        assert said(await collect(client)) == "b"
    assert ["stream_options" in request.json for request in server.requests] == [True, False, False]


async def test_a_model_that_wants_max_completion_tokens_gets_it() -> None:
    refusal = Status(400, {"error": {"message": "'max_tokens' is not supported. Use 'max_completion_tokens' instead."}})
    request = replace(REQUEST, max_output=9)
    async with serve([refusal, answer(text("a")), answer(text("b"))]) as server, client_of(server) as client:
        await collect(client, request)
        await collect(client, request)
    assert [request.json.get("max_completion_tokens") for request in server.requests] == [None, 9, 9]


async def test_a_refused_key_says_where_it_is_set_and_never_shows_it() -> None:
    secret = "sk-very-secret-0123456789"
    refusal = Status(401, {"error": {"message": f"Incorrect API key provided: {secret}."}})
    failure = await failure_of(refusal, api_key=secret, key_from="OPENAI_API_KEY")
    assert failure.kind is FailureKind.AUTH
    assert "OPENAI_API_KEY" in failure.message
    assert "http://127.0.0.1" in failure.message
    assert secret not in failure.message
    assert secret not in str(failure.to_message_error().wire())


@pytest.mark.parametrize("settings", [{"api_key": "sk-…"}, {"api_key": "a\nb"}, {"headers": {"X-A": "\u00fc"}}])
async def test_what_no_header_can_hold_is_refused_before_it_is_sent(settings: dict[str, Any]) -> None:
    failure = await failure_of(**settings)
    assert failure.kind is FailureKind.AUTH
    assert "cannot be sent" in failure.message


def test_an_address_that_the_client_refuses_names_its_setting() -> None:
    with pytest.raises(AgentError, match=r"provider\.local\.options\.baseURL"):
        OpenAIChat(ProviderSettings("local", "http://a\x00b/v1"))


async def test_the_key_is_sent_and_nothing_where_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-another-provider")
    monkeypatch.setenv("OPENAI_ORG_ID", "org-private")
    async with serve([answer(text("a"))] * 3) as server:
        for settings in ({"api_key": "k1\n"}, {}, {"headers": {"Authorization": "Basic x", "X-Team": "t"}}):
            async with client_of(server, **settings) as client:
                await collect(client)
    headers = [request.headers for request in server.requests]
    assert [h.get("authorization") for h in headers] == ["Bearer k1", None, "Basic x"]
    assert headers[2]["x-team"] == "t"
    assert all("openai-organization" not in h for h in headers)


async def test_no_server_asks_whether_it_is_running() -> None:
    async with serve([]) as server:
        pass
    async with client_of(server) as client:
        with pytest.raises(ModelFailure, match=r"Is the server running at http://127\.0\.0\.1:\d+\?") as caught:
            await collect(client)
    assert caught.value.kind is FailureKind.NETWORK
    assert caught.value.retryable


async def test_s28_a_throttle_carries_its_wait() -> None:
    failure = await failure_of(Status(429, {"error": {"message": "slow down"}}, {"retry-after-ms": "1500"}))
    assert (failure.kind, failure.retryable, failure.retry_after) == (FailureKind.RATE_LIMIT, True, 1.5)


async def test_the_sdk_makes_no_attempts_of_its_own() -> None:
    async with serve([Status(500, "oops"), answer(text("a"))]) as server, client_of(server) as client:
        with pytest.raises(ModelFailure):
            await collect(client)
        assert len(server.requests) == 1


async def test_proxies_of_the_environment_are_used(monkeypatch: pytest.MonkeyPatch) -> None:
    async with serve([answer(text("through"))]) as proxy:
        monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{proxy.port}")
        monkeypatch.delenv("NO_PROXY", raising=False)
        monkeypatch.delenv("no_proxy", raising=False)
        async with client_of(proxy, base_url="http://models.example/v1") as client:
            assert said(await collect(client)) == "through"
    assert proxy.requests[0].target == "http://models.example/v1/chat/completions"


async def test_a_proxy_is_not_used_on_the_way_to_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    assert said(await play(answer(text("direct")))) == "direct"


async def test_http_trusts_no_certificate_at_all(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[ssl.SSLContext] = []
    real = ssl.SSLContext.load_default_certs
    monkeypatch.setattr(ssl.SSLContext, "load_default_certs", lambda self, *a: (made.append(self), real(self, *a)))
    await play(answer(text("a")))
    assert made == []


async def test_a_missing_ca_file_is_an_error_that_names_the_setting() -> None:
    with pytest.raises(AgentError, match=r"provider\.local\.options\.caFile"):
        await play(answer(text("a")), ca_file="/no/such/file.pem")


async def test_the_strict_server_refuses_what_it_should() -> None:
    orphan = b'{"role":"assistant","content":"","tool_calls":[{"id":"a","function":{"name":"x","arguments":"{}"}}]}'
    async with serve([answer(text("a"))], strict=True) as server, client_of(server) as client:
        with pytest.raises(ModelFailure, match="without result"):
            await collect(client, ModelRequest(REF, (USER, orphan, USER)))
