"""What the loop does next: one table for each rule."""

from typing import Any

import pytest

from agentls.engine.action import Finish, Step, next_action, results_due
from agentls.engine.history import Entry
from agentls.schema.part import Part
from engine.builders import assistant_message, completed, pending, running, text_part, tool_part
from engine.conversation import CUT_OFF, S, Talk, error, failed, text, tool

# -- rule 1: finish


def test_without_a_prompt_there_is_an_error() -> None:
    for entries in ([], [Entry(assistant_message(S, 1, "gone"))]):
        action = next_action(entries)
        assert isinstance(action, Finish)
        assert action.stop == "error"
        assert action.error is not None
        assert "no prompt" in action.error.data["message"]


def test_an_unanswered_prompt_is_a_step() -> None:
    talk = Talk()
    user = talk.user()
    assert talk.next() == Step(user)


@pytest.mark.parametrize(
    ("finish", "stop"),
    [("stop", "done"), ("length", "length"), ("content-filter", "content_filter"), ("error", "error")],
)
def test_a_finish_ends_the_turn(finish: Any, stop: Any) -> None:
    talk = Talk()
    talk.user()
    talk.answer("u1", text("said"), finish=finish)
    assert talk.next() == Finish(stop)


@pytest.mark.parametrize("finish", [None, "tool-calls", "unknown"])
def test_no_finish_tool_calls_and_unknown_go_on(finish: Any) -> None:
    talk = Talk()
    user = talk.user()
    talk.answer("u1", text("said"), finish=finish)
    assert talk.next() == Step(user)


@pytest.mark.parametrize("finish", ["stop", "length", "tool-calls", "unknown", "error"])
@pytest.mark.parametrize(
    "state", [completed(), failed(), pending(), running(), failed(brief="x")], ids=["ok", "err", "pend", "run", "brief"]
)
def test_s10_a_tool_part_whose_result_goes_back_goes_on_whatever_the_finish(finish: Any, state: Any) -> None:
    talk = Talk()
    user = talk.user()
    talk.answer("u1", text("said"), tool(state), finish=finish)
    assert talk.next() == Step(user)


def test_a_content_filter_ends_the_turn_though_calls_came_along() -> None:
    talk = Talk()
    talk.user()
    talk.answer("u1", text("said"), tool(completed()), finish="content-filter")
    assert talk.next() == Finish("content_filter")


def test_parts_that_an_interrupt_cut_off_do_not_count() -> None:
    talk = Talk()
    user = talk.user()
    talk.answer("u1", text("said"), tool(CUT_OFF), tool(CUT_OFF), finish="stop")
    assert talk.next() == Finish("done")
    talk.entries[-1].parts.append(tool(completed())(talk.entries[-1].message, 99))
    assert talk.next() == Step(user)


def test_results_are_due_of_any_call_that_was_not_cut_off() -> None:
    message = assistant_message(S, 1, "u1")

    def due(*states: Any) -> bool:
        parts: list[Part] = [tool_part(message, 1, state) for state in states]
        return results_due([text_part(message, 1, "x"), *parts])

    assert [due(), due(CUT_OFF), due(CUT_OFF, failed()), due(failed(interrupted=False)), due(pending())] == [
        False,
        False,
        True,
        True,
        True,
    ]


def test_who_answers_whom_is_the_parent_and_not_the_order() -> None:
    talk = Talk()
    first = talk.user("u1")
    talk.answer("u1", text("one"), finish="stop")
    second = talk.user("u2")
    assert talk.next() == Step(second)
    talk.answer("u1", text("late answer to the first"), finish="stop")
    assert talk.next() == Step(second)
    talk.answer("u2", text("two"), finish="stop")
    assert talk.next() == Finish("done")
    assert first.id == "u1"


def test_an_answer_that_began_before_its_prompt_was_stored_still_answers_it() -> None:
    talk = Talk()
    talk.user("u1")
    talk.answer("u2", text("early"), finish="stop")
    talk.user("u2")
    assert talk.next() == Finish("done")


def test_a_steered_prompt_is_answered_next() -> None:
    talk = Talk()
    talk.user("u1")
    talk.answer("u1", tool(completed()), finish="tool-calls")
    steered = talk.user("u2")
    assert talk.next() == Step(steered)


@pytest.mark.parametrize(
    ("name", "stop"),
    [
        ("MessageAbortedError", "cancelled"),
        ("ContentFilterError", "content_filter"),
        ("APIError", "error"),
        ("ProviderAuthError", "error"),
        ("ContextOverflowError", "error"),
        ("StructuredOutputError", "error"),
        ("UnknownError", "error"),
    ],
)
@pytest.mark.parametrize("finish", [None, "stop", "tool-calls", "error", "unknown"])
def test_an_error_ends_the_turn_and_is_told(name: Any, stop: Any, finish: Any) -> None:
    talk = Talk()
    talk.user()
    talk.answer("u1", tool(completed()), finish=finish, error=error(name))
    assert talk.next() == Finish(stop, error(name))


def test_an_error_of_an_earlier_answer_does_not_stop_the_turn() -> None:
    talk = Talk()
    user = talk.user()
    talk.answer("u1", error=error("APIError"), finish="error")
    talk.answer("u1", tool(completed()), finish="tool-calls")
    assert talk.next() == Step(user)


@pytest.mark.parametrize("value", [{"a": 1}, [], "", 0, False])
def test_a_structured_answer_ends_the_turn_also_an_empty_one(value: Any) -> None:
    talk = Talk()
    talk.user()
    talk.answer("u1", tool(completed()), finish="tool-calls", structured=value)
    assert talk.next() == Finish("done")
