"""The decoder: how servers differ, case by case."""

import json
from typing import Any

import pytest

from agentls.model.client import (
    StepEnd,
    ToolCall,
    ToolInputDelta,
    ToolInputStart,
)
from agentls.model.failures import FailureKind
from agentls.model.toolstream import parse_arguments
from model.chunks import c, calls, decode, end, entry, f, fails, summary, t

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
