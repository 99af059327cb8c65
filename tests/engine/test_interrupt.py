"""A turn that is cut off in the middle: by an abort, an exit, a crash, or a fault."""

from dataclasses import dataclass
from typing import Any

import anyio
import pytest

from agentls.config.prompts import prompt
from agentls.engine.interrupt import Reason
from agentls.schema.event import Changed, Scope
from agentls.schema.message import AssistantMessage, MessageError
from agentls.schema.model import Tokens, Usage
from agentls.schema.part import Failed, Pending, ReasoningPart, TextPart, ToolPart
from agentls.schema.session import Turn
from engine.builders import World, completed, pending, running


@dataclass
class Cut:
    """What a cut-off turn is made of, by name."""

    world: World
    scope: Scope
    turn: Turn
    message: AssistantMessage
    parts: dict[str, Any]

    def state(self, name: str) -> Any:
        return self.world.part(self.parts[name].id).state

    def question(self, name: str) -> Any:
        return self.world.stores.questions.get(name)

    def stored_message(self) -> AssistantMessage:
        message = self.world.stores.messages.get(self.message.id)
        assert isinstance(message, AssistantMessage)
        return message

    def stored_turn(self) -> Turn:
        turn = self.world.stores.turns.get(self.turn.id)
        assert turn is not None
        return turn


def calls(world: World, *, asked: bool = True, child: bool = False) -> Cut:
    """Calls of an ended stream: one done, one running, one that never began, one asked about, two behind it."""
    parent = world.session() if child else None
    scope = world.session(parent)
    user = world.user(scope)
    turn = world.turn(scope, user)
    message = world.assistant(scope, user, finish="tool-calls")
    parts: dict[str, Any] = {"done": world.tool(scope, message, completed("x"))}
    parts["running"] = world.tool(scope, message, running(input={"a": 1}, metadata={"m": 1}))
    parts["before"] = world.tool(scope, message, pending(input={"b": 1}))
    parts["asked"] = world.tool(scope, message, pending(input={"c": 1}))
    parts["behind"] = world.tool(scope, message, pending(input={"d": 1}))
    parts["last"] = world.tool(scope, message, pending(input={"e": 1}))
    world.writer(scope).grow(parts["running"].id, "output", "printed")
    if asked:
        world.ledger.open(world.asker(scope, parts["asked"].id, turn.id), "permission", "per_asked", b'{"a":1}', {})
    world.ledger.open(world.asker(scope, parts["running"].id, turn.id), "permission", "per_midrun", b'{"a":1}', {})
    world.events.clear()
    return Cut(world, scope, turn, message, parts)


def die(world: World) -> None:
    """What a crash leaves: the rows, without what grew since they were written last."""
    world.transcript.live.clear()


def settle(cut: Cut, reason: Reason) -> Turn:
    if reason == "crash":
        cut.world.transcript.save_growing()
        die(cut.world)
    turn = cut.world.interrupter.settle(cut.scope, reason)
    assert turn is not None
    return turn


@pytest.mark.parametrize("reason", ["abort", "exit", "crash"])
def test_growing_text_keeps_what_it_had_and_ends(world: World, reason: Reason) -> None:
    scope = world.session()
    user = world.user(scope)
    turn = world.turn(scope, user)
    message = world.assistant(scope, user)
    part = world.growing(scope, message, "half a sen")
    thought = world.writer(scope).part(
        ReasoningPart(**world.writer(scope).ids(message.id), text="", time=part.time or pytest.fail("no time"))
    )
    world.writer(scope).grow(thought.id, "text", "hm")
    cut = Cut(world, scope, turn, message, {})
    ended = settle(cut, reason)
    text, thinking = world.part(part.id), world.part(thought.id)
    assert isinstance(text, TextPart)
    assert (text.text, thinking.text) == ("half a sen", "hm")
    assert text.time is not None
    assert text.time.end is not None
    assert thinking.time.end is not None
    assert world.transcript.live == {}
    assert (ended.state, ended.stop_reason) == ("ended", "cancelled")
    assert ended == cut.stored_turn()
    stored = cut.stored_message()
    assert stored.error is not None
    assert (stored.error.name, stored.error.data["reason"]) == ("MessageAbortedError", reason)
    assert stored.time.completed is not None
    assert (ended.error is None) if reason == "abort" else (ended.error == stored.error)


def test_an_abort_ends_every_part_every_question_the_message_and_the_turn(world: World) -> None:
    cut = calls(world)
    turn = settle(cut, "abort")
    assert cut.state("done") == completed("x")
    cut_off = cut.state("running")
    assert isinstance(cut_off, Failed)
    assert (cut_off.input, cut_off.metadata) == ({"a": 1}, {"m": 1, "interrupted": True, "output": "printed"})
    assert (cut_off.error, cut_off.time.start) == (prompt("results/interrupted"), 1)
    for name in ("before", "asked", "behind", "last"):
        state = cut.state(name)
        assert isinstance(state, Failed), name
        assert (state.error, state.metadata) == (prompt("results/not-run"), {"interrupted": True})
        assert state.input == cut.parts[name].state.input
    for name in ("per_asked", "per_midrun"):
        assert cut.question(name).resolution == '{"outcome":"cancelled","by":"abort"}'
    assert cut.stored_message().error is not None
    assert (turn.state, turn.stop_reason, turn.error) == ("ended", "cancelled", None)
    assert world.stores.messages.open_parts(cut.scope.session_id) == []
    assert world.transcript.live == {}


@pytest.mark.parametrize("reason", ["exit", "crash"])
def test_the_end_of_a_process_keeps_a_question_its_part_and_those_behind(world: World, reason: Reason) -> None:
    cut = calls(world)
    turn = settle(cut, reason)
    assert isinstance(cut.state("running"), Failed)
    assert isinstance(cut.state("before"), Failed)
    for name in ("asked", "behind", "last"):
        assert cut.state(name) == cut.parts[name].state, name
    assert cut.question("per_asked").open
    assert cut.question("per_midrun").resolution == '{"outcome":"cancelled","by":"abort"}'
    assert turn == cut.stored_turn()
    assert (turn.state, turn.stop_reason, turn.time.ended) == ("waiting", None, None)
    stored = cut.stored_message()
    assert (stored.error, stored.time.completed) == (None, None)
    assert world.transcript.live == {}


@pytest.mark.parametrize("reason", ["exit", "crash"])
def test_without_a_question_the_end_of_a_process_ends_the_turn(world: World, reason: Reason) -> None:
    cut = calls(world, asked=False)
    turn = settle(cut, reason)
    assert all(isinstance(cut.state(name), Failed) for name in ("running", "before", "asked", "behind", "last"))
    assert turn.error is not None
    assert (turn.state, turn.stop_reason, turn.error.data["reason"]) == ("ended", "cancelled", reason)


@pytest.mark.parametrize("reason", ["exit", "crash"])
def test_a_childs_questions_are_cancelled_with_it(world: World, reason: Reason) -> None:
    cut = calls(world, child=True)
    turn = settle(cut, reason)
    assert not cut.question("per_asked").open
    assert isinstance(cut.state("asked"), Failed)
    assert (turn.state, turn.stop_reason) == ("ended", "cancelled")


@pytest.mark.parametrize("reason", ["exit", "crash"])
def test_a_question_of_the_same_root_but_another_session_keeps_nothing_here(world: World, reason: Reason) -> None:
    cut = calls(world, asked=False)
    child = world.session(cut.scope)
    world.ledger.open(world.asker(child, cut.parts["asked"].id), "permission", "per_child", b'{"a":1}', {})
    assert settle(cut, reason).state == "ended"
    assert cut.question("per_child").open


def test_an_abort_of_a_turn_that_waits_ends_it(world: World) -> None:
    cut = calls(world)
    settle(cut, "exit")
    world.events.clear()
    turn = world.interrupter.settle(cut.scope, "abort")
    assert turn is not None
    assert (turn.state, turn.stop_reason) == ("ended", "cancelled")
    assert isinstance(cut.state("asked"), Failed)
    assert isinstance(cut.state("last"), Failed)
    assert not cut.question("per_asked").open
    assert cut.stored_message().time.completed is not None


@pytest.mark.parametrize("reason", ["abort", "exit", "crash"])
def test_each_row_is_told_once_after_the_commit_and_the_turn_last(world: World, reason: Reason) -> None:
    cut = calls(world)
    settle(cut, reason)
    told = [(event.method, event.id) for event in world.events if isinstance(event, Changed)]
    assert len(told) == len(set(told))
    closed = ["running", "before"] if reason != "abort" else ["running", "before", "asked", "behind", "last"]
    assert {row for method, row in told if method == "part/updated"} == {cut.parts[name].id for name in closed}
    asked = {row for method, row in told if method == "permission/resolved"}
    assert asked == ({"per_asked", "per_midrun"} if reason == "abort" else {"per_midrun"})
    ended = [method for method, _ in told if method == "turn/ended"]
    assert ended == (["turn/ended"] if reason == "abort" else [])
    if reason == "abort":
        assert told[-1] == ("turn/ended", cut.turn.id)
        assert ("message/updated", cut.message.id) in told


def test_it_is_one_transaction(world: World) -> None:
    cut = calls(world)
    world.transcript.save_growing()
    before = world.stores.session(cut.scope.session_id)
    world.events.clear()
    world.database.execute("CREATE TRIGGER full BEFORE UPDATE ON turns BEGIN SELECT RAISE(ABORT, 'full'); END")
    with pytest.raises(Exception, match="full"):
        world.interrupter.settle(cut.scope, "abort")
    assert world.stores.session(cut.scope.session_id) == before
    assert world.events == []
    assert isinstance(cut.state("asked"), Pending)
    assert cut.question("per_asked").open
    world.database.execute("DROP TRIGGER full")
    assert settle(cut, "abort").state == "ended"
    assert isinstance(cut.state("running"), Failed)
    assert cut.state("running").metadata["output"] == "printed"


def test_an_error_that_a_message_has_is_not_written_over(world: World) -> None:
    scope = world.session()
    user = world.user(scope)
    world.turn(scope, user)
    mine = MessageError(name="APIError", data={"message": "x"})
    message = world.assistant(scope, user, error=mine)
    world.interrupter.settle(scope, "abort")
    stored = world.stores.messages.get(message.id)
    assert isinstance(stored, AssistantMessage)
    assert stored.error == mine
    assert stored.time.completed is not None


def test_what_was_used_stays_with_the_turn(world: World) -> None:
    scope = world.session()
    world.turn(scope, world.user(scope))
    usage = Usage(tokens=Tokens(input=5), cost=0.5)
    turn = world.interrupter.settle(scope, "abort", usage)
    assert turn is not None
    assert turn.usage == usage
    assert world.stores.turns.get(turn.id) == turn


def test_an_orderly_session_is_left_as_it_is(world: World) -> None:
    scope = world.session()
    user = world.user(scope)
    world.turn(scope, user, state="ended")
    message = world.assistant(scope, user, finish="stop")
    world.writer(scope).message(message.but(time=message.time.but(completed=3)))
    before, told = world.stores.session(scope.session_id), len(world.events)
    assert world.interrupter.settle(scope, "crash") is None
    assert world.stores.session(scope.session_id) == before
    assert len(world.events) == told


def test_another_session_is_not_touched(world: World) -> None:
    cut, other = calls(world), world.session()
    user = world.user(other)
    message = world.assistant(other, user)
    part = world.growing(other, message, "still growing")
    settle(cut, "abort")
    assert world.writer(other).current(part.id).rev == 2
    world.writer(other).grow(part.id, "text", "!")
    current = world.writer(other).current(part.id)
    assert isinstance(current, TextPart)
    assert current.text == "still growing!"


def test_a_run_that_failed_keeps_the_text_that_no_row_had_yet(world: World) -> None:
    scope = world.session()
    user = world.user(scope)
    message = world.assistant(scope, user)
    part = world.growing(scope, message, "said before the fault")
    tool = world.tool(scope, message, running())
    world.writer(scope).grow(tool.id, "output", "printed")
    mine = MessageError(name="UnknownError", data={"message": "x"})
    with world.journal.transaction():
        world.interrupter.close_after_error(scope, mine)
    text, call = world.part(part.id), world.part(tool.id)
    assert text.text == "said before the fault"
    assert text.time.end is not None
    assert isinstance(call, ToolPart)
    assert isinstance(call.state, Failed)
    assert (call.state.metadata or {})["output"] == "printed"
    stored = world.stores.messages.get(message.id)
    assert isinstance(stored, AssistantMessage)
    assert stored.error == mine


async def test_whoever_waits_for_a_cancelled_question_goes_on(world: World) -> None:
    cut = calls(world)
    seen: list[Any] = []

    async def wait() -> None:
        seen.append(await world.ledger.wait("per_asked"))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(wait)
        await anyio.wait_all_tasks_blocked()
        settle(cut, "abort")
    assert seen == [{"outcome": "cancelled", "by": "abort"}]
