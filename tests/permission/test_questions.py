"""Questions that a tool puts to the user, and the ledger beneath."""

from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Any

import anyio
import pytest
from pydantic_core import from_json

from agentls.errors import AgentError, ErrorKind, ToolError
from agentls.permission.broker import RejectedError
from agentls.permission.ledger import Asker
from agentls.schema.event import Changed, Scope
from agentls.schema.question import Question, QuestionItem, QuestionOption
from engine.builders import World, at_work

ITEMS = (
    QuestionItem(
        header="Colour", question="Which?", options=(QuestionOption(label="red"), QuestionOption(label="blue"))
    ),
    QuestionItem(header="Size", question="How big?", multiple=True),
)
ANSWERS = (("red",), ("1", "2"))


@dataclass
class Asked:
    world: World
    asker: Asker
    waits: list[bool] = field(default_factory=list)
    answers: Any = None
    error: Exception | None = None

    async def run(self) -> None:
        try:
            self.answers = await self.world.questions.ask(self.asker, ITEMS, self.waits.append)
        except (ToolError, RejectedError) as error:
            self.error = error

    @property
    def row(self) -> Any:
        return self.world.stores.questions.of_part(self.asker.part_id)[-1]

    @property
    def id(self) -> str:
        return self.row.id


def waiting(*ones: Asked) -> AbstractAsyncContextManager[None]:
    return at_work(*(one.run for one in ones))


@pytest.fixture
def scope(world: World) -> Scope:
    return world.session()


def resolved(world: World) -> list[Any]:
    return [
        from_json(b"{" + event.params + b"}")
        for event in world.events
        if isinstance(event, Changed) and event.method == "question/resolved"
    ]


async def test_the_question_is_stored_told_and_answered(world: World, scope: Scope) -> None:
    one = Asked(world, world.asker(scope))
    async with waiting(one):
        event = world.events[-1]
        assert isinstance(event, Changed)
        assert (event.method, event.kind, event.id, event.seq) == ("question/asked", "question", one.id, one.row.seq)
        assert Question.model_validate_json(one.row.wire).questions == ITEMS
        assert world.questions.listing(scope.session_id) == [one.row.wire]
        answer = world.questions.reply(one.id, ANSWERS)
    assert answer == {"status": "accepted", "resolution": {"outcome": "allowed", "by": "client", "answers": ANSWERS}}
    assert one.answers == ANSWERS
    assert one.waits == [True, False]
    assert resolved(world) == [
        {"questionId": one.id, "outcome": "allowed", "by": "client", "answers": [["red"], ["1", "2"]]}
    ]
    assert world.answered == []
    assert world.questions.listing(None) == []


@pytest.mark.parametrize("answers", [(), (("red",),), (("a",), ("b",), ("c",))])
async def test_there_is_one_list_of_answers_for_each_question(world: World, scope: Scope, answers: Any) -> None:
    one = Asked(world, world.asker(scope))
    async with waiting(one):
        with pytest.raises(AgentError) as raised:
            world.questions.reply(one.id, answers)
        assert raised.value.kind is ErrorKind.INVALID_PARAMS
        assert one.row.open


async def test_dismissed_stops_the_turn(world: World, scope: Scope) -> None:
    one = Asked(world, world.asker(scope))
    async with waiting(one):
        answer = world.questions.reject(one.id)
    assert answer == {"status": "accepted", "resolution": {"outcome": "rejected", "by": "client"}}
    assert isinstance(one.error, RejectedError)


async def test_unanswerable_is_no_refusal(world: World, scope: Scope) -> None:
    one = Asked(world, world.asker(scope))
    async with waiting(one):
        answer = world.questions.reject(one.id, unanswerable=True)
    assert answer["resolution"] == {"outcome": "expired", "by": "policy"}
    assert isinstance(one.error, ToolError)
    assert one.error.brief == "nobody could answer the question"


async def test_where_nobody_can_answer_nothing_is_stored(world: World, scope: Scope) -> None:
    world.ledger.can_ask = False
    one = Asked(world, world.asker(scope))
    await one.run()
    assert isinstance(one.error, ToolError)
    assert world.stores.questions.of_part(one.asker.part_id) == []


async def test_the_first_reply_wins(world: World, scope: Scope) -> None:
    one = Asked(world, world.asker(scope))
    async with waiting(one):
        world.questions.reply(one.id, ANSWERS)
        kept = from_json(one.row.resolution)
        for later in (
            world.questions.reply(one.id, (("blue",), ())),
            world.questions.reply(one.id, ()),
            world.questions.reject(one.id),
        ):
            assert later == {"status": "superseded", "resolution": kept}
    assert one.answers == ANSWERS
    assert len(resolved(world)) == 1


async def test_ids_are_matched_strictly_and_a_permission_is_no_question(world: World, scope: Scope) -> None:
    world.ledger.open(world.asker(scope), "permission", "per_1", b'{"a":1}', {})
    one = Asked(world, world.asker(scope))
    async with waiting(one):
        for wrong in ("per_1", "que_none", one.id[:-1], one.id.lower(), ""):
            for deed in (lambda name: world.questions.reply(name, ANSWERS), world.questions.reject):
                with pytest.raises(AgentError) as raised:
                    deed(wrong)
                assert raised.value.kind is ErrorKind.QUESTION_NOT_FOUND
        assert one.row.open


async def test_after_a_restart_it_is_waited_for_again_and_not_asked_twice(world: World, scope: Scope) -> None:
    one = Asked(world, world.asker(scope))
    async with waiting(one):
        pass
    again = Asked(world, world.asker(scope, one.asker.part_id))
    async with waiting(again):
        assert len(world.stores.questions.of_part(one.asker.part_id)) == 1
        world.questions.reply(one.id, ANSWERS)
    assert again.answers == ANSWERS
    assert world.answered == []


async def test_an_answer_that_nobody_waits_for_is_kept_and_told_to_who_goes_on(world: World, scope: Scope) -> None:
    one = Asked(world, world.asker(scope))
    async with waiting(one):
        pass
    world.questions.reply(one.id, ANSWERS)
    assert world.answered == [scope.session_id]
    again = Asked(world, world.asker(scope, one.asker.part_id))
    await again.run()
    assert again.answers == ANSWERS


async def test_one_that_the_sweep_of_a_dead_process_closed_is_superseded(world: World, scope: Scope) -> None:
    one = Asked(world, world.asker(scope))
    async with waiting(one):
        pass
    world.ledger.claim = lambda name: world.ledger.cancel(name, scope.root_id, "abort")
    answer = world.questions.reply(one.id, ANSWERS)
    assert answer == {"status": "superseded", "resolution": {"outcome": "cancelled", "by": "abort"}}
    assert world.answered == []


async def test_a_plain_reject_of_a_permission_cancels_an_open_question_of_the_session(
    world: World, scope: Scope
) -> None:
    world.ledger.open(world.asker(scope), "permission", "per_1", b'{"a":1}', {"ask": {}})
    one = Asked(world, world.asker(scope))
    async with waiting(one):
        world.broker.reply("per_1", "reject")
        await anyio.wait_all_tasks_blocked()
        assert isinstance(one.error, RejectedError)
        assert from_json(one.row.resolution)["outcome"] == "cancelled"


async def test_the_listing_of_a_child_is_its_own(world: World, scope: Scope) -> None:
    child = world.session(scope)
    mine, of_child = Asked(world, world.asker(scope)), Asked(world, world.asker(child))
    async with waiting(mine, of_child):
        assert set(world.questions.listing(scope.session_id)) == {mine.row.wire, of_child.row.wire}
        assert world.questions.listing(child.session_id) == [of_child.row.wire]


# -- the ledger


async def test_waiting_for_what_has_ended_or_never_was_returns_at_once(world: World, scope: Scope) -> None:
    row = world.ledger.open(world.asker(scope), "permission", "per_1", b'{"a":1}', {})
    world.ledger.resolve(row, "allowed", "client", {"reply": "once"})
    assert await world.ledger.wait("per_1") == {"outcome": "allowed", "by": "client", "reply": "once"}
    assert (await world.ledger.wait("per_none"))["outcome"] == "cancelled"


async def test_a_resolution_that_is_rolled_back_lets_nobody_go_on(world: World, scope: Scope) -> None:
    row = world.ledger.open(world.asker(scope), "permission", "per_1", b'{"a":1}', {})
    seen: list[Any] = []

    async def wait() -> None:
        seen.append(await world.ledger.wait("per_1"))

    def half() -> None:
        with world.journal.transaction():
            world.ledger.resolve(row, "allowed", "client")
            raise ZeroDivisionError

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(wait)
        await anyio.wait_all_tasks_blocked()
        with pytest.raises(ZeroDivisionError):
            half()
        await anyio.wait_all_tasks_blocked()
        assert seen == []
        assert world.ledger.waited_for("per_1")
        world.ledger.resolve(row, "rejected", "client")
        await anyio.wait_all_tasks_blocked()
        tasks.cancel_scope.cancel()
    assert seen == [{"outcome": "rejected", "by": "client"}]


def test_cancel_spares_what_is_kept_and_what_is_anothers(world: World, scope: Scope) -> None:
    child = world.session(scope)
    for name, owner in (("per_1", scope), ("per_2", scope), ("per_3", child)):
        world.ledger.open(world.asker(owner), "permission", name, b'{"a":1}', {})
    world.ledger.cancel(scope.session_id, scope.root_id, "abort", frozenset({"per_2"}))
    rows = [world.stores.questions.get(name) for name in ("per_1", "per_2", "per_3")]
    assert [row.open for row in rows if row] == [False, True, True]


def test_what_the_user_typed_stays_out_of_the_notification_and_in_the_row(world: World, scope: Scope) -> None:
    row = world.ledger.open(world.asker(scope), "permission", "per_1", b'{"a":1}', {})
    world.ledger.resolve(row, "rejected", "client", {"reply": "reject", "message": "secret words"})
    event = world.events[-1]
    assert isinstance(event, Changed)
    assert b"secret words" not in event.params
    assert event.scope == scope
    stored = world.stores.questions.get("per_1")
    assert stored is not None
    assert from_json(stored.resolution or "")["message"] == "secret words"
