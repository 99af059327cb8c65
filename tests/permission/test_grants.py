"""Several permissions at once, and what a grant does to those that wait."""

import anyio
import pytest

from agentls.errors import AgentError, ErrorKind, ToolError
from agentls.schema.event import Scope
from engine.builders import World
from permission.deeds import HASHES, ask, call, waiting


async def test_p16_answering_one_of_three_leaves_the_others_open(world: World, scope: Scope) -> None:
    calls = [call(world, scope, ask(f"make {number}", always=(f"make {number}",))) for number in range(3)]
    async with waiting(*calls):
        world.broker.reply(calls[1].id, "once")
        await anyio.wait_all_tasks_blocked()
        assert [one.done for one in calls] == [False, True, False]
        assert [one.row.open for one in calls] == [True, False, True]


async def test_p14_a_second_question_of_a_session_does_not_replace_the_first(world: World, scope: Scope) -> None:
    first = call(world, scope)
    second = call(world, scope, ask("ls"))
    async with waiting(first, second):
        assert len(world.broker.listing(scope.session_id)) == 2
        world.broker.reply(second.id, "once")
        world.broker.reply(first.id, "once")
    assert first.result == second.result == HASHES


async def test_ids_are_matched_strictly(world: World, scope: Scope) -> None:
    one = call(world, scope)
    async with waiting(one):
        for wrong in (one.id[:-1], f"{one.id}x", one.id.lower(), "", "per_none", f" {one.id}", "%"):
            with pytest.raises(AgentError) as raised:
                world.broker.reply(wrong, "once")
            assert raised.value.kind is ErrorKind.PERMISSION_NOT_FOUND
        assert one.row.open


async def test_the_id_of_a_question_is_no_permission(world: World, scope: Scope) -> None:
    world.ledger.open(world.asker(scope), "question", "que_1", b'{"a":1}', {})
    with pytest.raises(AgentError) as raised:
        world.broker.reply("que_1", "once")
    assert raised.value.kind is ErrorKind.PERMISSION_NOT_FOUND


# -- granting judges the others again


async def test_a_grant_judges_the_others_again_allow_runs_ask_stays(world: World, scope: Scope) -> None:
    child, stranger = world.session(scope), world.session()
    one, same, different = call(world, scope), call(world, scope, ask("git push -v")), call(world, scope, ask("ls"))
    of_child, of_stranger = call(world, child), call(world, stranger)
    async with waiting(one, same, different, of_child, of_stranger):
        world.broker.reply(one.id, "always", "session")
        await anyio.wait_all_tasks_blocked()
        assert same.result == of_child.result == HASHES
        assert same.resolution == {"outcome": "allowed", "by": "rule"}
        assert different.row.open
        assert of_stranger.row.open
    assert world.answered == []


async def test_a_grant_for_the_project_reaches_its_other_sessions(world: World, scope: Scope) -> None:
    stranger, elsewhere = world.session(), world.session(project="other")
    one, of_stranger, of_elsewhere = call(world, scope), call(world, stranger), call(world, elsewhere)
    async with waiting(one, of_stranger, of_elsewhere):
        world.broker.reply(one.id, "always", "project")
        await anyio.wait_all_tasks_blocked()
        assert of_stranger.result == HASHES
        assert of_elsewhere.row.open


async def test_once_judges_nothing_again(world: World, scope: Scope) -> None:
    one, other = call(world, scope), call(world, scope)
    async with waiting(one, other):
        world.rule("mcp_git", "allow")
        world.broker.reply(one.id, "once")
        await anyio.wait_all_tasks_blocked()
        assert other.row.open


async def test_a_change_of_rules_that_denies_is_a_tool_error_and_stops_no_turn(world: World, scope: Scope) -> None:
    one, other = call(world, scope), call(world, scope, ask("ls", title="list"))
    async with waiting(one, other):
        world.rule("mcp_git", "deny", "git *")
        world.broker.rejudge(scope.root_id)
        await anyio.wait_all_tasks_blocked()
        assert isinstance(one.error, ToolError)
        assert "`mcp_git: git *`" in one.error.message
        assert one.resolution == {"outcome": "rejected", "by": "rule"}
        assert other.row.open


async def test_a_protected_deed_is_not_let_through_by_a_grant(world: World, scope: Scope) -> None:
    one, guarded = call(world, scope), call(world, scope, ask(protected=True))
    async with waiting(one, guarded):
        world.broker.reply(one.id, "always", "session")
        await anyio.wait_all_tasks_blocked()
        assert guarded.row.open
