"""The client against a real server on loopback: bytes, frames, stalls, cancellation."""

import json
import ssl
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import replace
from typing import Any

import anyio
import pytest

from agentls.errors import AgentError
from agentls.model.client import ModelEvent, ModelRequest, StepEnd, TextDelta, ToolCall
from agentls.model.failures import FailureKind, ModelFailure
from agentls.model.openai_chat import OpenAIChat
from agentls.model.settings import ProviderSettings
from agentls.schema.model import ModelRef, Tokens
from fakes.openai_server import (
    DONE,
    Answer,
    C,
    Every,
    F,
    Gate,
    Hang,
    OpenAIServer,
    Reply,
    Reset,
    Status,
    T,
    answer,
    call,
    data,
    serve,
    text,
    usage,
)

REF = ModelRef(provider_id="local", model_id="test-model")
USER = b'{"role":"user","content":"hi"}'
REQUEST = ModelRequest(REF, (USER,))


@asynccontextmanager
async def client_of(server: OpenAIServer, **settings: Any) -> AsyncIterator[OpenAIChat]:
    client = OpenAIChat(ProviderSettings(**{"name": "local", "base_url": server.url, **settings}))
    try:
        yield client
    finally:
        await client.aclose()


async def collect(client: OpenAIChat, request: ModelRequest = REQUEST) -> list[ModelEvent]:
    return [event async for event in client.stream(request)]


async def play(*replies: Reply, request: ModelRequest = REQUEST, **settings: Any) -> list[ModelEvent]:
    async with serve(replies) as server, client_of(server, **settings) as client:
        return await collect(client, request)


async def failure_of(*replies: Reply, **settings: Any) -> ModelFailure:
    with pytest.raises(ModelFailure) as caught:
        await play(*replies, **settings)
    return caught.value


def said(events: Sequence[ModelEvent]) -> str:
    return "".join(event.text for event in events if isinstance(event, TextDelta))


def summary(events: Sequence[ModelEvent]) -> list[tuple[str, dict[str, Any] | None]]:
    return [(event.name, event.arguments) for event in events if isinstance(event, ToolCall)]


async def test_text_calls_and_usage_over_the_wire() -> None:
    events = await play(answer(text("Hello world", 4), call("read", {"filePath": "a"}), finish="tool_calls"))
    assert said(events) == "Hello world"
    assert summary(events) == [("read", {"filePath": "a"})]
    assert events[-1] == StepEnd("tool-calls", Tokens(input=100, output=20))


S01 = (
    T({"index": 0, "type": "function", "function": {"name": "read", "arguments": '{"filePath":'}}),
    T({"index": 0, "function": {"arguments": '"a.txt"}'}}),
)
PARALLEL = [
    T({"index": 0, "id": f"t{n}", "function": {"name": "read", "arguments": json.dumps({"filePath": n})}})
    for n in "abc"
]
RUNS: dict[str, tuple[list[bytes], list[tuple[str, dict[str, Any]]]]] = {
    "s01": ([*S01, F("tool_calls"), DONE], [("read", {"filePath": "a.txt"})]),
    "s02": (
        [
            T({"index": 0, "id": "t1", "function": {"name": "x", "arguments": ""}}),
            *(T({"index": 0, "function": {"arguments": piece}}) for piece in ('{"a', '":"', "bcd", "efg", '"}')),
            F("tool_calls"),
            DONE,
        ],
        [("x", {"a": "bcdefg"})],
    ),
    "s03": (
        [
            T({"index": 0, "id": "t1", "function": {"name": "bash", "arguments": "{"}}),
            T({"index": 0, "id": "", "function": {"name": "", "arguments": '"command":"ls"}'}}),
            F("tool_calls"),
            DONE,
        ],
        [("bash", {"command": "ls"})],
    ),
    "s04": (
        [
            T({"id": "t1", "function": {"name": "glob", "arguments": '{"pattern":"*.py"}'}}),
            T({"id": "t2", "function": {"name": "grep", "arguments": '{"pattern":"x"}'}}),
            F("tool_calls"),
            DONE,
        ],
        [("glob", {"pattern": "*.py"}), ("grep", {"pattern": "x"})],
    ),
    "s05": (
        [
            T({"index": 0, "function": {"name": "read"}}),
            T({"index": 0, "function": {"arguments": "{}"}}),
            T({"index": 0, "id": "real_1"}),
            F("tool_calls"),
            DONE,
        ],
        [("read", {})],
    ),
    "s08": (
        [
            *(T({"index": 0, "function": {"name": "read", "arguments": piece}}) for piece in ('{"a"', ":1", "}")),
            F("stop"),
            DONE,
        ],
        [("read", {"a": 1})],
    ),
    "s06": ([*PARALLEL, F("tool_calls"), DONE], [("read", {"filePath": n}) for n in "abc"]),
    "s10": ([*S01, F("stop"), DONE], [("read", {"filePath": "a.txt"})]),
    "s11": ([*S01, DONE], [("read", {"filePath": "a.txt"})]),
    "s14": (
        [T({"index": 0, "id": "t1", "function": {"name": "list", "arguments": ""}}), F("tool_calls"), DONE],
        [("list", {})],
    ),
}


@pytest.mark.parametrize("case", RUNS)
async def test_tool_calls_of_odd_servers_over_the_wire(case: str) -> None:
    frames, expected = RUNS[case]
    events = await play(Answer(frames))
    assert summary(events) == expected
    assert isinstance(events[-1], StepEnd)
    assert events[-1].finish == "tool-calls"


async def test_s12_a_body_that_closes_inside_arguments_is_broken() -> None:
    start = T({"index": 0, "id": "t", "function": {"name": "write", "arguments": '{"filePath":"a.py","content":"imp'}})
    failure = await failure_of(Answer([start]))
    assert failure.kind is FailureKind.STREAM
    assert failure.retryable


async def test_s13_a_reset_in_mid_stream_is_broken_after_its_text_came() -> None:
    seen: list[ModelEvent] = []
    async with serve([Answer([C({"content": "Hel"}), Reset()])]) as server, client_of(server) as client:
        stream = client.stream(REQUEST)
        seen.append(await anext(stream))
        with pytest.raises(ModelFailure) as caught:
            await anext(stream)
    assert said(seen) == "Hel"
    assert caught.value.retryable
    assert caught.value.kind is FailureKind.STREAM


@pytest.mark.parametrize("choices", [[], None])
async def test_s17_chunks_without_choices_over_the_wire(choices: list[Any] | None) -> None:
    last = data({"choices": choices, "usage": {"prompt_tokens": 10, "completion_tokens": 2, "total_tokens": 12}})
    first = data({"choices": choices, "prompt_filter_results": []})
    events = await play(Answer([first, C({"content": "hi"}), F("stop"), last, DONE]))
    assert said(events) == "hi"
    assert events[-1] == StepEnd("stop", Tokens(input=10, output=2))


async def test_s19_blank_data_and_comments_are_ignored() -> None:
    noise = [b"data:\n\n", b"data: \n\n", b"data: : PROCESSING\n\n", b": keep-alive\n\n", b"\n\n", b"id: 7\n\n"]
    frames = [piece for delta in (*text("hello", 5), F("stop"), DONE) for piece in (*noise, delta)]
    assert said(await play(Answer(frames))) == "hello"


async def test_s19_a_malformed_frame_is_named() -> None:
    failure = await failure_of(Answer([C({"content": "x"}), b'data: {"choices":[oops\n\n', DONE]))
    assert "[oops" in failure.message
    assert failure.retryable


@pytest.mark.parametrize("cut", [1, 2, 3, 5, 17])
async def test_frames_may_be_cut_anywhere_and_end_in_any_line_break(cut: int) -> None:
    body = b"".join([*text("h\u00e9llo 🙂", 3), F("stop"), usage(), DONE])
    for ending in (b"\n", b"\r\n", b"\r"):
        raw = body.replace(b"\n", ending)
        events = await play(Answer([raw[at : at + cut] for at in range(0, len(raw), cut)]))
        assert said(events) == "h\u00e9llo 🙂"


@pytest.mark.parametrize("frame", [b"\nevent: error\nid: 1\n\n", b"event: error\ndata:\n\n"])
async def test_s21_an_error_event_without_data_is_an_error(frame: bytes) -> None:
    failure = await failure_of(Answer([C({"content": "x"}), frame, DONE]))
    assert "without a word" in failure.message


@pytest.mark.parametrize(
    "frame",
    [
        b'event: error\ndata: {"error":{"message":"boom"}}\n\n',
        b"event: error\ndata: boom\n\n",
        b'error: {"message":"boom","code":500}\n\n',
        b'data: {"error":{"message":"boom"}}\n\n',
    ],
)
async def test_error_events_say_what_the_server_said(frame: bytes) -> None:
    assert "boom" in (await failure_of(Answer([frame]))).message


@pytest.mark.parametrize("frames", [[b": hb\n\n"] * 3, [DONE], []])
async def test_s23_a_stream_of_nothing_is_an_empty_answer(frames: list[bytes]) -> None:
    failure = await failure_of(Answer(frames))
    assert failure.kind is FailureKind.EMPTY
    assert failure.retryable


async def test_html_inside_a_success_is_named_with_its_title_and_what_to_check() -> None:
    page = b"  <!DOCTYPE html><html><head><title>Sign in</title></head><body>secret</body></html>"
    for content_type in ("text/html", "text/event-stream"):
        failure = await failure_of(Answer([page], content_type))
        assert "Sign in" in failure.message
        assert "baseURL" in failure.message
        assert not failure.retryable


async def test_json_in_place_of_a_stream_is_read_as_the_whole_answer() -> None:
    body = {"choices": [{"message": {"role": "assistant", "content": "whole"}, "finish_reason": "stop"}]}
    assert said(await play(Status(200, body))) == "whole"


async def test_json_error_in_place_of_a_stream() -> None:
    assert "no such thing" in (await failure_of(Status(200, {"error": {"message": "no such thing"}}))).message


async def test_plain_words_in_place_of_a_stream_are_shown() -> None:
    assert "Internal failure" in (await failure_of(Answer([b"Internal failure\n"], "text/plain"))).message


@pytest.mark.parametrize("tail", [Hang(), Every(0.02, b": hb\n\n"), Every(0.02, b"data:\n\n")])
async def test_s24_a_stall_is_noticed_through_heartbeats(tail: Any) -> None:
    with anyio.fail_after(10):
        failure = await failure_of(Answer([C({"content": "x"}), tail]), timeout=0.3)
    assert failure.kind is FailureKind.STREAM
    assert failure.retryable
    assert "no data for 0.3 s" in failure.message


async def test_s24_data_keeps_the_timer_from_running_out() -> None:
    frames = [C({"content": "x"})] * 6
    paced = [piece for number, frame in enumerate(frames) for piece in (Gate(str(number)), frame)]
    async with serve([Answer([*paced, F("stop"), DONE])]) as server, client_of(server, timeout=0.5) as client:

        async def release() -> None:
            for number in range(len(frames)):
                await anyio.sleep(0.15)
                server.open(str(number))

        async with anyio.create_task_group() as group:
            group.start_soon(release)
            assert said(await collect(client)) == "x" * len(frames)


async def test_cancelling_closes_the_connection_at_once() -> None:
    async with serve([Answer([C({"content": "x"}), Hang()])]) as server, client_of(server) as client:
        async with anyio.create_task_group() as group:

            async def read() -> None:
                async for _ in client.stream(REQUEST):
                    group.cancel_scope.cancel()

            group.start_soon(read)
        with anyio.fail_after(2):
            await server.client_closed.wait()


async def test_closing_the_generator_closes_the_connection_at_once() -> None:
    async with serve([Answer([C({"content": "x"}), Hang()])]) as server, client_of(server) as client:
        async with aclosing(client.stream(REQUEST)) as stream:
            await anext(stream)
        with anyio.fail_after(2):
            await server.client_closed.wait()


async def test_deltas_arrive_as_the_server_sends_them() -> None:
    reply = Answer([C({"content": "a"}), Gate("go"), C({"content": "b"}), F("stop"), DONE])
    async with serve([reply]) as server, client_of(server) as client, aclosing(client.stream(REQUEST)) as stream:
        assert await anext(stream) == TextDelta("a")
        server.open("go")
        assert await anext(stream) == TextDelta("b")


async def test_a_finished_stream_leaves_its_connection_for_the_next() -> None:
    async with serve([answer(text("a"))] * 3) as server, client_of(server) as client:
        for _ in range(3):
            await collect(client)
        assert server.connections == 1


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
