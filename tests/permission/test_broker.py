"""Permissions: judged, asked, answered."""

import pytest
from pydantic_core import from_json

from agentls.errors import AgentError, ErrorKind, ToolError
from agentls.schema.event import Changed, Scope
from agentls.schema.permission import Ask, Permission
from engine.builders import World
from permission.deeds import HASHES, ask, call, waiting

# -- without a question


async def test_what_is_allowed_is_not_asked(world: World, scope: Scope) -> None:
    world.rule("mcp_git", "allow")
    one = call(world, scope)
    await one.run()
    assert (one.result, one.error, one.waits) == (HASHES, None, [])
    assert world.stores.questions.of_part(one.asker.part_id) == []


async def test_what_is_denied_is_a_tool_error_that_names_the_rule(world: World, scope: Scope) -> None:
    world.rule("mcp_git", "deny", "git *")
    one = call(world, scope)
    await one.run()
    assert isinstance(one.error, ToolError)
    assert "`mcp_git: git *` (test)" in one.error.message
    assert "git push" in one.error.message
    assert world.stores.questions.of_part(one.asker.part_id) == []


async def test_where_nobody_can_answer_it_is_no_refusal_of_the_user(world: World, scope: Scope) -> None:
    world.ledger.can_ask = False
    one = call(world, scope)
    await one.run()
    assert isinstance(one.error, ToolError)
    assert one.error.brief == "nobody could answer the question"
    assert world.stores.questions.of_part(one.asker.part_id) == []
    assert world.events == []


# -- the question


async def test_the_question_is_stored_told_and_says_what_will_run(world: World, scope: Scope) -> None:
    one = call(world, scope, ask(description="why"))
    async with waiting(one):
        event = world.events[-1]
        assert isinstance(event, Changed)
        assert (event.method, event.kind, event.id, event.seq) == (
            "permission/asked",
            "permission",
            one.id,
            one.row.seq,
        )
        asked = Permission.model_validate_json(one.row.wire)
        told = from_json(b"{" + event.params + b"}")
        assert {**told, "sessionId": scope.session_id, "rootSessionId": scope.root_id} == from_json(one.row.wire)
        assert "sessionId" not in told
        assert (asked.patterns, asked.title, asked.description) == (("git push",), "git push", "why")
        assert [option.kind for option in asked.options] == ["once", "always", "reject"]
        assert one.waits == [True]
        assert one.row.open
        assert world.broker.listing(scope.session_id) == [one.row.wire] == world.broker.listing(None)
    assert one.waits == [True, False]


async def test_the_reason_is_told_where_the_tool_gives_none(world: World, scope: Scope) -> None:
    one = call(world, scope)
    async with waiting(one):
        assert Permission.model_validate_json(one.row.wire).description == "no rule matches"


@pytest.mark.parametrize(
    ("deed", "kinds"),
    [
        (ask(), ["once", "always", "reject"]),
        (ask(always=()), ["once", "reject"]),
        (ask(protected=True), ["once", "reject"]),
    ],
)
async def test_always_is_offered_only_where_it_can_be_stored(
    world: World, scope: Scope, deed: Ask, kinds: list[str]
) -> None:
    one = call(world, scope, deed)
    async with waiting(one):
        options = Permission.model_validate_json(one.row.wire).options
        assert [option.kind for option in options] == kinds
        offered = [option for option in options if option.kind == "always"]
        assert all((option.patterns, option.scope) == (deed.always, ("session", "project")) for option in offered)
        if not offered:
            with pytest.raises(AgentError) as raised:
                world.broker.reply(one.id, "always")
            assert raised.value.kind is ErrorKind.INVALID_PARAMS
            assert one.row.open
            assert world.stores.rules.of("prj", scope.session_id) == []
