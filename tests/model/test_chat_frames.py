"""The client against a real server: frames, errors inside a success, stalls, cancelling."""

from contextlib import aclosing
from typing import Any

import anyio
import pytest

from agentls.model.client import TextDelta
from agentls.model.failures import FailureKind
from fakes.openai_server import serve
from fakes.replies import DONE, Answer, C, Every, F, Gate, Hang, Status, answer, text, usage
from model.chats import REQUEST, client_of, collect, failure_of, play, said


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
