"""Permissions over a restart, two windows, and a database that refuses."""

import anyio
import pytest

from agentls.errors import AgentError, ErrorKind
from agentls.schema.event import Noticed, Scope
from engine.builders import World
from permission.deeds import HASHES, ask, call, waiting

# -- late, double, nobody waits


async def test_the_first_reply_wins_and_a_later_one_hears_what_counts(world: World, scope: Scope) -> None:
    one = call(world, scope)
    async with waiting(one):
        first = world.broker.reply(one.id, "once")
        seq = one.row.seq
        for later in ("reject", "always", "once"):
            assert world.broker.reply(one.id, later) == {"status": "superseded", "resolution": one.resolution}
    assert one.resolution == first["resolution"]
    assert one.row.seq == seq
    assert one.result == HASHES
    assert world.stores.rules.of("prj", scope.session_id) == []


async def test_a_reply_that_nobody_waits_for_is_stored_and_told_to_who_goes_on(world: World, scope: Scope) -> None:
    one = call(world, scope)
    async with waiting(one):
        pass
    assert one.row.open
    world.broker.reply(one.id, "once")
    assert world.answered == [scope.session_id]
    assert one.resolution["outcome"] == "allowed"
    assert world.broker.reply(one.id, "reject")["status"] == "superseded"
    assert world.answered == [scope.session_id]


async def test_after_a_restart_the_earlier_question_is_waited_for_and_not_asked_twice(
    world: World, scope: Scope
) -> None:
    one = call(world, scope)
    async with waiting(one):
        pass
    again = call(world, scope, part_id=one.asker.part_id)
    async with waiting(again):
        assert again.id == one.id
        assert len(world.stores.questions.of_part(one.asker.part_id)) == 1
        world.broker.reply(again.id, "once")
    assert again.result == HASHES
    assert world.answered == []


async def test_after_a_restart_an_answer_that_was_stored_counts(world: World, scope: Scope) -> None:
    one = call(world, scope)
    async with waiting(one):
        pass
    first = one.id
    world.broker.reply(first, "once")
    again = call(world, scope, part_id=one.asker.part_id)
    await again.run()
    assert again.result == HASHES
    other_deed = call(world, scope, ask("git push --force"), part_id=one.asker.part_id)
    async with waiting(other_deed):
        assert other_deed.row.open
        assert other_deed.id != first


async def test_the_hashes_are_those_that_the_answer_was_given_on(world: World, scope: Scope) -> None:
    one = call(world, scope)
    async with waiting(one):
        pass
    world.broker.reply(one.id, "once")
    later = await world.broker.authorize(
        world.asker(scope, one.asker.part_id), ask(), {"/project/a": "changed since"}, lambda _: None
    )
    assert later == HASHES


async def test_two_that_wait_for_one_question_both_hear_though_a_third_gave_up(world: World, scope: Scope) -> None:
    one = call(world, scope)
    others = [call(world, scope, part_id=one.asker.part_id) for _ in range(2)]
    async with waiting(*others):
        async with waiting(one):
            pass
        assert not one.done
        world.broker.reply(one.id, "once")
        await anyio.wait_all_tasks_blocked()
        assert [other.result for other in others] == [HASHES, HASHES]
    assert world.answered == []


async def test_a_session_of_another_process_is_not_answered_here(world: World, scope: Scope) -> None:
    def locked(session_id: str) -> None:
        raise AgentError(ErrorKind.SESSION_LOCKED, session_id)

    world.ledger.claim = locked
    one = call(world, scope)
    async with waiting(one):
        with pytest.raises(AgentError, match=scope.session_id):
            world.broker.reply(one.id, "once")
        assert one.row.open


async def test_a_question_that_the_sweep_of_a_dead_process_closed_is_superseded(world: World, scope: Scope) -> None:
    one = call(world, scope)
    async with waiting(one):
        pass

    def sweeps(session_id: str) -> None:
        world.ledger.cancel(session_id, scope.root_id, "abort")

    world.ledger.claim = sweeps
    answer = world.broker.reply(one.id, "always")
    assert answer == {"status": "superseded", "resolution": {"outcome": "cancelled", "by": "abort"}}
    assert one.resolution == answer["resolution"]
    assert world.answered == []
    assert world.stores.rules.of("prj", scope.session_id) == []


# -- faults


async def test_p20_a_rule_that_cannot_be_saved_does_not_take_the_answer_back(
    world: World, scope: Scope, caplog: pytest.LogCaptureFixture
) -> None:
    world.database.execute("CREATE TRIGGER full BEFORE INSERT ON rules BEGIN SELECT RAISE(ABORT, 'disk full'); END")
    one, other = call(world, scope), call(world, scope)
    async with waiting(one, other):
        answer = world.broker.reply(one.id, "always", "project")
        await anyio.wait_all_tasks_blocked()
        assert other.row.open
    assert answer["status"] == "accepted"
    assert one.result == HASHES
    notices = [event for event in world.events if isinstance(event, Noticed)]
    assert [(notice.severity, notice.scope and notice.scope.session_id) for notice in notices] == [
        ("warning", scope.session_id)
    ]
    assert "could not be stored" in caplog.text
    assert world.stores.rules.of("prj", scope.session_id) == []


async def test_p20_an_answer_that_cannot_be_saved_can_be_given_again(world: World, scope: Scope) -> None:
    one = call(world, scope)
    async with waiting(one):
        world.database.execute(
            "CREATE TRIGGER full BEFORE UPDATE ON questions BEGIN SELECT RAISE(ABORT, 'disk full'); END"
        )
        with pytest.raises(Exception, match="disk full"):
            world.broker.reply(one.id, "once")
        assert one.row.open
        assert not one.done
        world.database.execute("DROP TRIGGER full")
        assert world.broker.reply(one.id, "once")["status"] == "accepted"
    assert one.result == HASHES


async def test_the_listing_of_a_session_has_its_childrens_and_that_of_a_child_its_own(
    world: World, scope: Scope
) -> None:
    child, stranger = world.session(scope), world.session()
    calls = [call(world, one) for one in (scope, child, stranger)]
    async with waiting(*calls):
        mine, of_child, of_stranger = (one.row.wire for one in calls)
        assert set(world.broker.listing(scope.session_id)) == {mine, of_child}
        assert world.broker.listing(child.session_id) == [of_child]
        assert world.broker.listing(stranger.session_id) == [of_stranger]
        assert set(world.broker.listing(None)) == {mine, of_child, of_stranger}
        assert world.broker.listing("ses_none") == []
