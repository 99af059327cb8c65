"""What the loop does next: subtasks and compactions."""

from typing import Any

import pytest

from agentls.engine.action import Compact, Finish, Step, Subtask
from agentls.schema.part import CompactionPart, SubtaskPart
from engine.builders import completed, pending, running
from engine.conversation import S, Talk, error, failed, text, tool


def subtask(name: str) -> Any:
    return lambda message, pos: SubtaskPart(
        id=name, session_id=S, message_id=message.id, pos=pos, prompt="p", description="d", agent="general"
    )


def compaction() -> Any:
    return lambda message, pos: CompactionPart(
        id=f"compaction-{message.id}", session_id=S, message_id=message.id, pos=pos, auto=True
    )


def names(part_id: str, state: Any = None) -> Any:
    return tool(state or completed(metadata={"partId": part_id}))


# -- rule 2: tasks


def test_all_subtasks_are_done_in_order() -> None:
    talk = Talk()
    user = talk.user("u1", subtask("a"), subtask("b"), subtask("c"))
    order: list[str] = []
    for _ in range(3):
        action = talk.next()
        assert isinstance(action, Subtask)
        assert action.user == user
        order.append(action.part.id)
        talk.answer("u1", names(action.part.id), finish="tool-calls")
    assert order == ["a", "b", "c"]
    assert talk.next() == Step(user)


@pytest.mark.parametrize(
    ("state", "done"),
    [
        (completed(metadata={"partId": "a"}), True),
        (running(metadata={"partId": "a"}), True),
        (failed(partId="a"), True),
        (failed(partId="a", interrupted=True), True),
        (completed(metadata={"partId": "b"}), False),
        (completed(), False),
        (running(), False),
        (pending(), False),
    ],
)
def test_a_subtask_is_pending_until_a_tool_part_names_it(state: Any, done: bool) -> None:
    talk = Talk()
    user = talk.user("u1", subtask("a"))
    talk.answer("u1", tool(state), finish="tool-calls")
    action = talk.next()
    assert (action == Step(user)) if done else (isinstance(action, Subtask) and action.part.id == "a")


def test_subtasks_of_a_steered_prompt_come_after_those_of_the_first() -> None:
    talk = Talk()
    talk.user("u1", subtask("a"))
    talk.user("u2", subtask("b"))
    first = talk.next()
    assert isinstance(first, Subtask)
    assert first.part.id == "a"


def test_subtasks_before_the_last_finished_answer_are_over() -> None:
    talk = Talk()
    talk.user("u1", subtask("a"))
    talk.answer("u1", text("done without"), finish="stop")
    second = talk.user("u2")
    assert talk.next() == Step(second)


def test_a_turn_that_the_user_aborted_does_not_run_its_subtasks_under_the_next_prompt() -> None:
    talk = Talk()
    talk.user("u1", subtask("a"), subtask("b"))
    talk.answer("u1", names("a", failed(partId="a", interrupted=True)), error=error("MessageAbortedError"))
    second = talk.user("u2")
    assert talk.next() == Step(second)


def test_a_compaction_is_pending_until_its_summary_has_finished() -> None:
    talk = Talk()
    talk.user("u0")
    talk.answer("u0", tool(completed()), finish="tool-calls")
    asked = talk.user("u1", compaction())
    action = talk.next()
    assert isinstance(action, Compact)
    assert action.user == asked
    talk.answer("u1", text("half"), summary=True)
    assert isinstance(talk.next(), Compact)
    talk.entries.pop()
    talk.answer("u1", text("the summary"), summary=True, finish="stop")
    again = talk.user("u2")
    assert talk.next() == Step(again)


def test_a_summary_of_another_compaction_does_not_count() -> None:
    talk = Talk()
    talk.user("u1", compaction())
    talk.answer("u1", text("s"), summary=True, finish="stop")
    second = talk.user("u2", compaction())
    action = talk.next()
    assert isinstance(action, Compact)
    assert action.user == second


def test_a_compaction_is_given_up_after_two_failures() -> None:
    talk = Talk()
    talk.user("u1", compaction())
    talk.answer("u1", summary=True, finish="error", error=error("APIError"))
    assert isinstance(talk.next(), Compact)
    talk.answer("u1", summary=True, finish="error", error=error("APIError"))
    assert talk.next() == Finish("error", error("APIError"))
    second = talk.user("u2")
    assert talk.next() == Step(second)


def test_a_compaction_that_the_user_aborted_is_over() -> None:
    talk = Talk()
    talk.user("u1", compaction())
    talk.answer("u1", summary=True, error=error("MessageAbortedError"))
    assert talk.next() == Finish("cancelled", error("MessageAbortedError"))
    second = talk.user("u2")
    assert talk.next() == Step(second)


def test_tasks_come_before_the_step_and_the_older_one_first() -> None:
    talk = Talk()
    talk.user("u1", text("x"), compaction())
    talk.user("u2", subtask("a"))
    assert isinstance(talk.next(), Compact)
    talk.answer("u1", text("sum"), summary=True, finish="tool-calls")
    assert isinstance(talk.next(), Subtask)
