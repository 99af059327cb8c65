"""The decoder: how servers differ, case by case."""

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentls.model.client import (
    ModelEvent,
    ReasoningDelta,
    StepEnd,
    TextDelta,
    ToolCall,
    ToolInputDelta,
    ToolInputStart,
)
from agentls.model.failures import Endpoint, FailureKind, ModelFailure
from agentls.model.sse import ChunkReader
from agentls.model.stream import Decoder
from agentls.model.toolstream import parse_arguments
from agentls.schema.model import CacheTokens, Tokens

ENDPOINT = Endpoint("local", "test-model", "http://127.0.0.1:1", loopback=True)


def c(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


def t(*entries: dict[str, Any]) -> dict[str, Any]:
    return c({"tool_calls": list(entries)})


def f(reason: str) -> dict[str, Any]:
    return c({}, reason)


def entry(
    arguments: Any = None, *, name: str | None = None, index: int | None = 0, call_id: Any = None
) -> dict[str, Any]:
    function = {} if arguments is None else {"arguments": arguments}
    made: dict[str, Any] = {"function": function}
    if name is not None:
        function["name"] = name
    if index is not None:
        made["index"] = index
    if call_id is not None:
        made["id"] = call_id
    return made


def decode(*chunks: object, done: bool = True) -> list[ModelEvent]:
    decoder = Decoder(ENDPOINT)
    events = [event for chunk in chunks for event in decoder.feed(chunk)]
    return events + decoder.finish(done=done)


def calls(events: list[ModelEvent]) -> list[ToolCall]:
    return [event for event in events if isinstance(event, ToolCall)]


def summary(events: list[ModelEvent]) -> list[tuple[str, dict[str, Any] | None]]:
    return [(call.name, call.arguments) for call in calls(events)]


def end(events: list[ModelEvent]) -> StepEnd:
    assert isinstance(events[-1], StepEnd)
    return events[-1]


def fails(*chunks: object, done: bool = True) -> ModelFailure:
    with pytest.raises(ModelFailure) as caught:
        decode(*chunks, done=done)
    return caught.value


def said(events: list[ModelEvent]) -> str:
    return "".join(event.text for event in events if isinstance(event, TextDelta))


S01 = (t(entry('{"filePath":', name="read")), t(entry('"a.txt"}')))


def test_s01_a_call_without_id_gets_one_and_runs_once() -> None:
    events = decode(*S01, f("tool_calls"))
    assert [type(event) for event in events] == [ToolInputStart, ToolInputDelta, ToolInputDelta, ToolCall, StepEnd]
    (call,) = calls(events)
    assert call.arguments == {"filePath": "a.txt"}
    assert call.call_id.startswith("call_")


def test_s02_fragments_without_id_belong_to_their_index() -> None:
    raw = '{"a":"bcdef"}'
    pieces = [t(entry(raw[at : at + 3])) for at in range(0, len(raw), 3)]
    (call,) = calls(decode(t(entry("", name="x", call_id="t1")), *pieces, f("tool_calls")))
    assert (call.call_id, call.raw) == ("t1", raw)


def test_s02_two_indexes_interleaved() -> None:
    events = decode(
        t(entry('{"a"', name="x", call_id="t1")),
        t(entry('{"b"', name="y", call_id="t2", index=1)),
        t(entry(":1}"), entry(":2}", index=1)),
        f("tool_calls"),
    )
    assert summary(events) == [("x", {"a": 1}), ("y", {"b": 2})]


@pytest.mark.parametrize("blank", ["", None])
def test_s03_empty_id_and_name_do_not_wipe_the_real_ones(blank: str | None) -> None:
    second = {"index": 0, "id": blank, "function": {"name": blank, "arguments": '"command":"ls"}'}}
    (call,) = calls(decode(t(entry("{", name="bash", call_id="t1")), t(second), f("tool_calls")))
    assert (call.call_id, call.name, call.arguments) == ("t1", "bash", {"command": "ls"})


def test_s04_without_index_the_id_is_the_key() -> None:
    events = decode(
        t(entry('{"pattern":"*.py"}', name="glob", index=None, call_id="t1")),
        t(entry('{"pattern":"x"}', name="grep", index=None, call_id="t2")),
        f("tool_calls"),
    )
    assert [(call.call_id, call.name) for call in calls(events)] == [("t1", "glob"), ("t2", "grep")]


def test_s04_without_index_and_id_a_name_starts_a_call_and_the_rest_is_appended() -> None:
    events = decode(
        t(entry("", name="glob", index=None)),
        t(entry('{"pattern":', index=None)),
        t(entry('"a"}', index=None)),
        t(entry('{"pattern":"b"}', name="glob", index=None)),
        f("tool_calls"),
    )
    assert summary(events) == [("glob", {"pattern": "a"}), ("glob", {"pattern": "b"})]


@pytest.mark.parametrize("index", [0, None])
def test_s05_a_late_id_wins_and_the_key_stays(index: int | None) -> None:
    events = decode(
        t(entry(name="read", index=index)),
        t(entry("{}", index=index)),
        t(entry(index=index, call_id="real_1")),
        f("stop"),
    )
    (call,) = calls(events)
    assert (call.call_id, call.arguments) == ("real_1", {})
    assert {event.key for event in events if isinstance(event, ToolInputStart | ToolInputDelta | ToolCall)} == {
        call.key
    }


def test_s06_a_new_id_on_a_known_index_is_a_new_call() -> None:
    entries = [t(entry(json.dumps({"filePath": n}), name="read", call_id=f"t{n}")) for n in "abc"]
    events = decode(*entries, f("tool_calls"))
    assert [call.arguments for call in calls(events)] == [{"filePath": n} for n in "abc"]


def test_s06_a_new_name_after_whole_arguments_is_a_new_call() -> None:
    events = decode(
        t(entry('{"a":1}', name="x")), t(entry('{"b":2}', name="y")), t(entry('{"c":3}', name="y")), f("stop")
    )
    assert summary(events) == [("x", {"a": 1}), ("y", {"b": 2}), ("y", {"c": 3})]


def test_s06_concatenated_arguments_are_a_problem_and_never_empty() -> None:
    (call,) = calls(decode(t(entry('{"a":1}{"a":2}', name="x")), f("tool_calls")))
    assert call.arguments is None
    assert call.problem


def test_s06_calls_with_the_same_id_on_different_indexes_get_ids_of_their_own() -> None:
    made = calls(decode(t(entry("{}", name="x", call_id="c"), entry("{}", name="y", index=1, call_id="c")), f("stop")))
    assert [call.name for call in made] == ["x", "y"]
    assert made[0].call_id != made[1].call_id


@pytest.mark.parametrize("index", [0, None])
def test_s08_a_repeated_name_is_taken_once(index: int | None) -> None:
    raw = ['{"filePath"', ':"a"', "}"]
    (call,) = calls(decode(*(t(entry(piece, name="read", index=index)) for piece in raw), f("tool_calls")))
    assert (call.name, call.arguments) == ("read", {"filePath": "a"})


@pytest.mark.parametrize("names", [["re", "ad"], ["re", "read"]])
def test_s08_a_name_in_pieces(names: list[str]) -> None:
    events = decode(*(t(entry(name=name)) for name in names), t(entry("{}")), f("tool_calls"))
    assert [event.name for event in events if isinstance(event, ToolInputStart)] == ["read"]
    assert summary(events) == [("read", {})]


def test_s10_stop_with_calls_goes_on() -> None:
    assert end(decode(*S01, f("stop"))).finish == "tool-calls"


def test_s11_without_finish_reason_whole_calls_are_run() -> None:
    events = decode(*S01, done=True)
    assert end(events).finish == "tool-calls"
    assert summary(events) == [("read", {"filePath": "a.txt"})]


@pytest.mark.parametrize("done", [True, False])
def test_s12_a_stream_that_ends_inside_a_call_is_broken(done: bool) -> None:
    failure = fails(t(entry('{"filePath":"a.py","content":"imp', name="write")), done=done)
    assert failure.kind is FailureKind.STREAM
    assert failure.retryable


def test_s12_a_stream_that_closes_right_after_the_name_is_broken() -> None:
    assert fails(t(entry("", name="write")), done=False).kind is FailureKind.STREAM


@pytest.mark.parametrize("raw", ['{"filePath":"a.py","content":"imp', ""])
def test_s12_cut_by_the_output_limit_is_no_empty_call(raw: str) -> None:
    events = decode(t(entry(raw, name="write")), f("length"))
    (call,) = calls(events)
    assert call.arguments is None
    assert "output limit" in (call.problem or "")
    assert end(events).finish == "length"


@pytest.mark.parametrize("arguments", ["", None, "null", "  ", '"{}"', '"null"'])
def test_s14_no_arguments_are_an_empty_object(arguments: str | None) -> None:
    start = {"index": 0, "id": "t1", "function": {"name": "list", "arguments": arguments}}
    assert summary(decode(t(start), f("tool_calls"))) == [("list", {})]
    del start["function"]["arguments"]
    assert summary(decode(t(start), f("tool_calls"))) == [("list", {})]


@pytest.mark.parametrize(
    ("raw", "arguments"),
    [
        ('"{\\"a\\": 1}"', {"a": 1}),
        (json.dumps(json.dumps(json.dumps({"a": 1}))), {"a": 1}),
        ('{"text":"two\nlines"}', {"text": "two\nlines"}),
        ('{"face":"\\ud83d\\ude42","half":"\\ud83d"}', {"face": "🙂", "half": "\ufffd"}),
    ],
)
def test_arguments_that_are_encoded_twice_or_carelessly(raw: str, arguments: dict[str, Any]) -> None:
    assert parse_arguments(raw) == (arguments, None)


@pytest.mark.parametrize("raw", ["[1]", "7", "{", '{"a":}', "{}{}", "true", '"just words"', "[" * 100_000])
def test_arguments_that_are_no_object_are_none(raw: str) -> None:
    arguments, problem = parse_arguments(raw)
    assert arguments is None
    assert problem


def test_arguments_sent_as_an_object() -> None:
    assert summary(decode(t(entry({"a": 1}, name="x")), f("tool_calls"))) == [("x", {"a": 1})]


def test_a_call_without_a_name_is_not_run() -> None:
    (call,) = calls(decode(t(entry("{}")), f("tool_calls")))
    assert call.arguments is None


def test_the_old_function_call_member() -> None:
    events = decode(
        c({"function_call": {"name": "x", "arguments": "{"}}),
        c({"function_call": {"arguments": "}"}}),
        f("function_call"),
    )
    assert summary(events) == [("x", {})]


@pytest.mark.parametrize("choices", [[], None])
def test_s17_a_chunk_without_choices(choices: list[Any] | None) -> None:
    counts = {"prompt_tokens": 10, "completion_tokens": 2, "total_tokens": 12}
    events = decode(
        {"choices": choices, "prompt_filter_results": []},
        c({"content": "hi"}),
        f("stop"),
        {"choices": choices, "usage": counts},
    )
    assert said(events) == "hi"
    assert end(events) == StepEnd("stop", Tokens(input=10, output=2))


def test_s17_usage_on_every_chunk_counts_once() -> None:
    chunks = [{**c({"content": "x"}), "usage": {"prompt_tokens": 10, "completion_tokens": n}} for n in (1, 2, 3)]
    assert end(decode(*chunks, f("stop"), {"choices": [], "usage": None})).tokens == Tokens(input=10, output=3)


@pytest.mark.parametrize(
    ("usage", "tokens"),
    [
        (
            {
                "prompt_tokens": 100,
                "completion_tokens": 50,
                "total_tokens": 150,
                "prompt_tokens_details": {"cached_tokens": 80},
                "completion_tokens_details": {"reasoning_tokens": 30},
            },
            Tokens(input=20, output=20, reasoning=30, cache=CacheTokens(read=80)),
        ),
        ({"prompt_tokens": 100, "prompt_cache_hit_tokens": 60}, Tokens(input=40, cache=CacheTokens(read=60))),
        (
            {
                "prompt_tokens": 10,
                "completion_tokens": 5,
                "total_tokens": 25,
                "completion_tokens_details": {"reasoning_tokens": 10},
            },
            Tokens(input=10, output=5, reasoning=10),
        ),
        ({"prompt_tokens": None, "completion_tokens": "x", "prompt_tokens_details": None}, Tokens()),
    ],
)
def test_tokens_are_split_as_they_are_priced(usage: dict[str, Any], tokens: Tokens) -> None:
    assert end(decode(c({"content": "x"}), f("stop"), {"choices": [], "usage": usage})).tokens == tokens


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
def test_reasoning_keeps_the_member_it_came_in(field: str) -> None:
    assert decode(c({field: "hm", "content": None}), c({"content": "hi"}), f("stop"))[0] == ReasoningDelta("hm", field)


def test_reasoning_details_and_thinking_parts() -> None:
    details = c(
        {"reasoning_details": [{"type": "reasoning.text", "text": "a"}, {"type": "reasoning.summary", "summary": "b"}]}
    )
    parts = c(
        {"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "t"}]}, {"type": "text", "text": "hi"}]}
    )
    events = decode(details, parts, f("stop"))
    assert events[:3] == [ReasoningDelta("ab", "reasoning_details"), ReasoningDelta("t", ""), TextDelta("hi")]


def test_reasoning_that_comes_in_two_members_is_taken_once() -> None:
    both = c({"reasoning": "hm", "reasoning_content": "hm"})
    assert decode(both, c({"content": "x"}), f("stop"))[:2] == [
        ReasoningDelta("hm", "reasoning_content"),
        TextDelta("x"),
    ]


@pytest.mark.parametrize(
    ("reason", "finish"),
    [("stop", "stop"), ("length", "length"), ("max_tokens", "length"), ("content_filter", "content-filter"),
     ("tool_calls", "stop"), ("end_turn", "stop"), ("STOP", "stop"), ("something_new", "unknown")],
)  # fmt: skip
def test_finish_reasons_of_a_text(reason: str, finish: str) -> None:
    assert end(decode(c({"content": "x"}), f(reason))).finish == finish


def test_a_text_without_finish_reason_is_whole_only_if_the_server_said_so() -> None:
    assert end(decode(c({"content": "x"}), done=True)).finish == "stop"
    assert end(decode(c({"content": "x"}), done=False)).finish == "unknown"


@pytest.mark.parametrize("reason", ["abort", "error"])
def test_an_aborted_answer_is_a_broken_stream(reason: str) -> None:
    assert fails(c({"content": "x"}), f(reason)).retryable


def test_s23_an_empty_answer_is_a_failure() -> None:
    for chunks in ([], [c({"role": "assistant", "content": ""}), f("stop")], [f("tool_calls")]):
        failure = fails(*chunks)
        assert failure.kind is FailureKind.EMPTY
        assert failure.retryable


def test_the_limit_and_the_filter_may_leave_nothing() -> None:
    assert end(decode(f("length"))).finish == "length"
    assert end(decode(f("content_filter"))).finish == "content-filter"


@pytest.mark.parametrize(
    "chunk",
    [
        {"error": {"message": "boom", "code": 502}},
        {"error": "boom"},
        {"object": "error", "message": "boom"},
        {"choices": [{"delta": {}, "finish_reason": "error", "error": {"message": "boom"}}]},
        {"detail": "boom"},
    ],
)
def test_an_error_object_inside_a_success(chunk: dict[str, Any]) -> None:
    failure = fails(c({"content": "x"}), chunk)
    assert "boom" in failure.message
    assert "local/test-model" in failure.message


def test_an_overflow_inside_a_success() -> None:
    assert fails({"error": {"code": "context_length_exceeded", "message": "too big"}}).kind is FailureKind.OVERFLOW


def test_an_answer_that_was_not_streamed() -> None:
    message = {
        "role": "assistant",
        "content": "hi",
        "tool_calls": [{"id": "a", "function": {"name": "x", "arguments": "{}"}}],
    }
    events = decode({"choices": [{"message": message, "finish_reason": "tool_calls"}], "usage": {"prompt_tokens": 1}})
    assert said(events) == "hi"
    assert summary(events) == [("x", {})]


def test_l01_an_emoji_in_two_halves_is_joined_and_a_lone_half_replaced() -> None:
    events = decode(
        c({"content": "a\ud83d"}),
        c({"content": "\ude42b"}),
        c({"content": "\ud83d"}),
        c({"content": "c\ud83d"}),
        f("stop"),
    )
    assert said(events) == "a🙂b\ufffdc\ufffd"
    said(events).encode()


JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(
        st.sampled_from(
            ["choices", "delta", "tool_calls", "function", "name", "arguments", "index", "id", "content", "usage",
             "finish_reason", "message", "reasoning_details", "prompt_tokens", "text", "function_call"]
        ),
        inner,
        max_size=4,
    ),
    max_leaves=20,
)  # fmt: skip


@given(st.lists(JUNK, max_size=4))
def test_no_chunk_however_odd_raises_anything_but_a_failure(chunks: list[Any]) -> None:
    with suppress(ModelFailure):
        assert isinstance(decode(*chunks)[-1], StepEnd)


@given(st.data())
def test_arguments_survive_any_cutting_into_fragments(data: st.DataObject) -> None:
    arguments = data.draw(st.dictionaries(st.text(max_size=4), st.text(max_size=8) | st.integers(), max_size=3))
    raw = json.dumps(arguments)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(raw)), max_size=5)))
    pieces = [raw[a:b] for a, b in zip([0, *cuts], [*cuts, len(raw)], strict=True)]
    repeat = data.draw(st.booleans())
    chunks = [t(entry(piece, name="x" if repeat or not at else None)) for at, piece in enumerate(pieces)]
    events = decode(*chunks, f("tool_calls"))
    assert summary(events) == [("x", arguments)]
    assert "".join(event.text for event in events if isinstance(event, ToolInputDelta)) == raw


def test_a_frame_without_end_is_given_up_before_it_fills_the_memory() -> None:
    reader = ChunkReader(ENDPOINT)
    for _ in range(16):
        reader.feed(b"data: " + b"x" * (2**20 - 1) + b"\n")
    with pytest.raises(ModelFailure, match="larger than any should be"):
        reader.feed(b"data: " + b"x" * 2**20)


def test_comments_are_no_frame_however_many_there_are() -> None:
    reader = ChunkReader(ENDPOINT)
    for _ in range(20):
        assert reader.feed(b": " + b"x" * 2**20 + b"\n") == []
    assert reader.feed(b'data: {"a": 1}\n\n') == [{"a": 1}]
