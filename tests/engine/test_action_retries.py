"""What the loop does next: fruitless answers are retried, and not for ever."""

from typing import Any

import pytest

from agentls.engine.action import Finish, Step
from engine.builders import completed
from engine.conversation import CUT_OFF, Talk, text, tool


def stuck(action: Any) -> bool:
    return isinstance(action, Finish) and action.stop == "error" and action.error is not None


@pytest.mark.parametrize("content", ["said", ""])
def test_unknown_is_retried_twice(content: str) -> None:
    talk = Talk()
    talk.user()
    seen: list[bool] = []
    for _ in range(3):
        talk.answer("u1", text(content), finish="unknown")
        seen.append(stuck(talk.next()))
    assert seen == [False, False, True]


def test_tool_calls_without_a_call_are_no_endless_loop() -> None:
    talk = Talk()
    talk.user()
    seen: list[bool] = []
    for _ in range(3):
        talk.answer("u1", text("said"), finish="tool-calls")
        seen.append(stuck(talk.next()))
    assert seen == [False, False, True]


def test_a_result_in_between_begins_the_count_of_unknown_anew() -> None:
    talk = Talk()
    user = talk.user()
    for finish, parts in (("unknown", ()), ("unknown", ()), ("unknown", (tool(completed()),)), ("unknown", ())):
        talk.answer("u1", *parts, finish=finish)
        assert talk.next() == Step(user)


@pytest.mark.parametrize("parts", [(), (text(""),), (text(" \n"),), (tool(CUT_OFF),)])
def test_an_empty_answer_is_retried_once(parts: Any) -> None:
    talk = Talk()
    user = talk.user()
    talk.answer("u1", *parts, finish="stop")
    assert talk.next() == Step(user)
    talk.answer("u1", *parts, finish="stop")
    assert stuck(talk.next())


def test_an_empty_answer_after_work_was_done_is_retried_once_too() -> None:
    talk = Talk()
    user = talk.user()
    for _ in range(3):
        talk.answer("u1", tool(completed()), finish="tool-calls")
    talk.answer("u1", finish="stop")
    assert talk.next() == Step(user)
    talk.answer("u1", text("now"), finish="stop")
    assert talk.next() == Finish("done")


def test_empty_answers_to_an_earlier_prompt_do_not_count() -> None:
    talk = Talk()
    talk.user("u1")
    talk.answer("u1", finish="stop")
    talk.answer("u1", finish="stop")
    second = talk.user("u2")
    talk.answer("u2", finish="stop")
    assert talk.next() == Step(second)


def test_s11_any_mixture_of_fruitless_answers_ends() -> None:
    for pattern in ("usus", "suus", "uuss", "tsut", "ssss", "uuuu"):
        talk = Talk()
        talk.user()
        for letter in pattern:
            talk.answer("u1", finish={"u": "unknown", "s": "stop", "t": "tool-calls"}[letter])
            if stuck(talk.next()):
                break
        else:
            pytest.fail(f"{pattern} goes on for ever")
