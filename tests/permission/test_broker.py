"""Permissions: judged, asked, answered."""

from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Any

import anyio
import pytest
from pydantic_core import from_json

from agentls.errors import AgentError, ErrorKind, ToolError
from agentls.permission.broker import RejectedError
from agentls.permission.ledger import Asker
from agentls.schema.event import Changed, Noticed, Scope
from agentls.schema.permission import Ask, Permission, Resolution, Rule
from engine.builders import World, at_work

HASHES: dict[str, str | None] = {"/project/a": "hash"}


def ask(pattern: str = "git push", always: tuple[str, ...] = ("git push *",), **more: Any) -> Ask:
    return Ask(**{"permission": "mcp_git", "patterns": (pattern,), "always": always, "title": pattern, **more})


@dataclass
class Call:
    """A tool call that wants something, and how it ended."""

    world: World
    asker: Asker
    ask: Ask
    waits: list[bool] = field(default_factory=list)
    result: Any = None
    error: Exception | None = None
    done: bool = False

    async def run(self) -> None:
        try:
            self.result = await self.world.broker.authorize(self.asker, self.ask, dict(HASHES), self.waits.append)
        except (ToolError, RejectedError) as error:
            self.error = error
        self.done = True

    @property
    def id(self) -> str:
        return self.world.stores.questions.of_part(self.asker.part_id)[-1].id

    @property
    def row(self) -> Any:
        return self.world.stores.questions.get(self.id)

    @property
    def resolution(self) -> Any:
        return from_json(self.row.resolution) if self.row.resolution else None


def waiting(*ones: Call) -> AbstractAsyncContextManager[None]:
    return at_work(*(one.run for one in ones))


@pytest.fixture
def scope(world: World) -> Scope:
    return world.session()


def call(world: World, scope: Scope, deed: Ask | None = None, part_id: str = "") -> Call:
    return Call(world, world.asker(scope, part_id), deed or ask())


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
