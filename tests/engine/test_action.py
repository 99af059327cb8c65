"""What the loop does next: one table for each rule."""

from typing import Any

import pytest

from agentls.engine.action import Compact, Finish, Step, Subtask, next_action, results_due
from agentls.engine.history import Entry
from agentls.schema.message import AssistantMessage, MessageError, UserMessage
from agentls.schema.part import CompactionPart, Failed, Part, PartTime, SubtaskPart
from engine.builders import assistant_message, completed, pending, running, text_part, tool_part, user_message

S = "ses_1"


class Talk:
    """A history, written down in order."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self.pos = 0

    def place(self) -> int:
        self.pos += 1
        return self.pos

    def user(self, name: str = "u1", *parts: Any) -> UserMessage:
        message = user_message(S, self.place(), id=name)
        self.entries.append(Entry(message, [make(message, self.place()) for make in parts or (text("hi"),)]))
        return message

    def answer(self, parent: str = "u1", *parts: Any, **more: Any) -> AssistantMessage:
        message = assistant_message(S, self.place(), parent, **more)
        self.entries.append(Entry(message, [make(message, self.place()) for make in parts]))
        return message

    def next(self) -> Any:
        return next_action(self.entries)


def text(content: str) -> Any:
    return lambda message, pos: text_part(message, pos, content)


def tool(state: Any) -> Any:
    return lambda message, pos: tool_part(message, pos, state)


def failed(**metadata: Any) -> Failed:
    return Failed(input={}, error="no", metadata=metadata or None, time=PartTime(start=1, end=2))


CUT_OFF = failed(interrupted=True)


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


def error(name: Any) -> MessageError:
    return MessageError(name=name, data={"message": "x"})


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
