"""What each answer to a permission does."""

from typing import Any

import anyio
import pytest
from pydantic_core import from_json

from agentls.errors import AgentError, ErrorKind, ToolError
from agentls.permission.broker import RejectedError
from agentls.schema.event import Changed, Scope
from agentls.schema.permission import Ask, Permission, Resolution, Rule
from engine.builders import World, at_work
from permission.deeds import HASHES, ask, call, waiting

# -- replies


async def test_once_allows_this_call_and_stores_nothing(world: World, scope: Scope) -> None:
    one = call(world, scope)
    async with waiting(one):
        answer = world.broker.reply(one.id, "once")
    assert answer == {"status": "accepted", "resolution": {"outcome": "allowed", "by": "client", "reply": "once"}}
    assert Resolution.model_validate(answer["resolution"]) == Resolution.model_validate(one.resolution)
    assert (one.result, one.error, one.waits) == (HASHES, None, [True, False])
    assert world.stores.rules.of("prj", scope.session_id) == []
    resolved = [event for event in world.events if isinstance(event, Changed) and event.method == "permission/resolved"]
    assert [from_json(b"{" + event.params + b"}") for event in resolved] == [
        {"permissionId": one.id, "outcome": "allowed", "by": "client", "reply": "once"}
    ]
    assert resolved[0].seq == one.row.seq
    assert world.answered == []


@pytest.mark.parametrize(
    ("scope_name", "patterns", "stored", "in_project"),
    [
        (None, None, ["git push *", "git pull *"], False),
        ("session", ["git pull *"], ["git pull *"], False),
        ("project", ["git push *"], ["git push *"], True),
        ("project", None, ["git push *", "git pull *"], True),
        ("session", [], ["git push *", "git pull *"], False),
    ],
)
async def test_always_stores_what_was_offered_and_chosen_in_the_scope_of_its_label(
    world: World, scope: Scope, scope_name: Any, patterns: Any, stored: list[str], in_project: bool
) -> None:
    child = world.session(scope)
    one = call(world, child, ask(always=("git push *", "git pull *")))
    async with waiting(one):
        answer = world.broker.reply(one.id, "always", scope_name, patterns)
    assert answer["resolution"] == {"outcome": "allowed", "by": "client", "reply": "always"}
    assert one.result == HASHES
    rules = world.stores.rules.of("prj", scope.session_id)
    assert [one.rule for one in rules] == [Rule(permission="mcp_git", pattern=one, action="allow") for one in stored]
    assert {rule.session_id for rule in rules} == {None if in_project else scope.session_id}
    stranger = world.session()
    assert len(world.stores.rules.of("prj", stranger.session_id)) == (len(stored) if in_project else 0)
    again = call(world, scope)
    if "git push *" in stored:
        await again.run()
        assert again.waits == []


async def test_for_a_command_always_offers_and_stores_what_is_read_off_it(world: World, scope: Scope) -> None:
    deed = Ask(permission="bash", patterns=("git status --short",), always=("*",), title="git status")
    one = call(world, scope, deed)
    async with at_work(one.run):
        options = Permission.model_validate_json(one.row.wire).options
        offered = [pattern for option in options if option.kind == "always" for pattern in option.patterns or ()]
        world.broker.reply(one.id, "always")
    assert [stored.rule.pattern for stored in world.stores.rules.of("prj", scope.session_id)] == offered
    assert offered != ["*"]


@pytest.mark.parametrize("reply", ["once", "reject"])
async def test_only_always_stores_a_rule(world: World, scope: Scope, reply: Any) -> None:
    one = call(world, scope)
    async with waiting(one):
        world.broker.reply(one.id, reply, "project", ["mcp *"])
    assert world.stores.rules.of("prj", scope.session_id) == []


@pytest.mark.parametrize("patterns", [["*"], ["git push *", "rm *"], ["git push"]])
async def test_a_pattern_that_was_not_offered_is_refused_and_the_question_stays(
    world: World, scope: Scope, patterns: list[str]
) -> None:
    one = call(world, scope)
    async with waiting(one):
        with pytest.raises(AgentError) as raised:
            world.broker.reply(one.id, "always", "session", patterns)
        assert raised.value.kind is ErrorKind.INVALID_PARAMS
        assert one.row.open
        assert not one.done
    assert world.stores.rules.of("prj", scope.session_id) == []


@pytest.mark.parametrize("reply", ["yes", "", "ALWAYS", "allow"])
async def test_a_reply_that_is_none_never_allows(world: World, scope: Scope, reply: Any) -> None:
    one = call(world, scope)
    async with waiting(one):
        with pytest.raises((AgentError, AssertionError)):
            world.broker.reply(one.id, reply)
        assert one.row.open
        assert not one.done


async def test_a_reject_with_words_goes_to_the_model_and_cancels_nothing_else(world: World, scope: Scope) -> None:
    one, other = call(world, scope), call(world, scope)
    async with waiting(one, other):
        world.broker.reply(one.id, "reject", message="use pnpm {instead}")
        await anyio.wait_all_tasks_blocked()
        assert isinstance(one.error, ToolError)
        assert "use pnpm {instead}" in one.error.message
        assert other.row.open
        assert not other.done
    told = [event.params for event in world.events if isinstance(event, Changed) and "resolved" in event.method]
    assert all(b"pnpm" not in params for params in told)


async def test_a_plain_reject_stops_the_turn_and_cancels_the_sessions_other_questions(
    world: World, scope: Scope
) -> None:
    child, stranger = world.session(scope), world.session()
    one, other = call(world, scope), call(world, scope, ask("ls"))
    of_child, of_stranger = call(world, child), call(world, stranger)
    async with waiting(one, other, of_child, of_stranger):
        world.broker.reply(one.id, "reject")
        await anyio.wait_all_tasks_blocked()
        assert isinstance(one.error, RejectedError)
        assert isinstance(other.error, RejectedError)
        assert one.resolution == {"outcome": "rejected", "by": "client", "reply": "reject"}
        assert other.resolution["outcome"] == "cancelled"
        assert of_child.row.open
        assert of_stranger.row.open


async def test_where_the_settings_say_so_a_plain_reject_is_the_tools_error_alone(world: World, scope: Scope) -> None:
    world.broker.continue_on_reject = lambda session_id: session_id == scope.session_id
    one, other = call(world, scope), call(world, scope)
    async with waiting(one, other):
        world.broker.reply(one.id, "reject")
        await anyio.wait_all_tasks_blocked()
        assert isinstance(one.error, ToolError)
        assert other.row.open
