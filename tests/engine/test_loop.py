"""Turns from prompt to idle, with a scripted model: what is asked, what is stored, what is told."""

import json
from pathlib import Path
from typing import Any

import anyio
import pytest

from agentls.errors import AgentError, ErrorKind
from agentls.model.failures import FailureKind, ModelFailure
from agentls.model.scripted import Call, End, Fail, Hang, Say, ScriptedModel, Signal, Think, Wait
from agentls.schema.event import Event, StatusChanged
from engine.house import house, is_method, params


async def test_a_text_answer_streams_and_ends_the_turn(tmp_path: Path) -> None:
    async with house(tmp_path, ScriptedModel([Say("Hello there", deltas=3)])) as it:
        outcome = await it.prompt(it.session(), "hi").outcome()
        assert outcome.stop_reason == "done"
        assert it.kinds() == [
            "session/created",
            "message/updated",
            "part/updated text",
            "session/updated",
            "turn/started",
            "status busy",
            "message/updated",
            "part/updated step-start",
            "part/updated text",
            "delta text",
            "part/updated text",
            "message/updated",
            "part/updated step-finish",
            "message/updated",
            "session/updated",
            "UsageChanged",
            "turn/ended",
            "status idle",
        ]


async def test_tool_results_go_back_in_the_order_of_the_calls(tmp_path: Path) -> None:
    first = [
        Call("read", {"filePath": "a.txt"}),
        Call("read", {"filePath": "b.txt"}),
        Call("glob", {"pattern": "*.txt"}),
    ]
    model = ScriptedModel(first, [Say("done")])
    async with house(tmp_path, model) as it:
        (it.directory / "a.txt").write_text("alpha\n")
        (it.directory / "b.txt").write_text("beta\n")
        await it.prompt(it.session(), "look").outcome()
        tools = [message for message in model.bodies()[1] if message["role"] == "tool"]
        assert ["alpha" in tools[0]["content"], "beta" in tools[1]["content"], "a.txt" in tools[2]["content"]] == [
            True
        ] * 3
        calls = next(message for message in model.bodies()[1] if message.get("tool_calls"))["tool_calls"]
        assert [call["id"] for call in calls] == [tool["tool_call_id"] for tool in tools]


async def test_each_request_begins_with_the_one_before(tmp_path: Path) -> None:
    model = ScriptedModel(
        [Think("hm"), Call("glob", {"pattern": "*"})],
        [Say("so"), Call("list", {})],
        [Say("first done")],
        [Say("second done")],
    )
    async with house(tmp_path, model) as it:
        session_id = it.session()
        await it.prompt(session_id, "one").outcome()
        await it.prompt(session_id, "two").outcome()
        for before, after in zip(model.requests, model.requests[1:], strict=False):
            assert after.tools == before.tools
            assert list(after.messages[: len(before.messages)]) == list(before.messages)
        assert len(model.requests) == 4


async def test_an_edit_is_asked_and_done_once_it_is_allowed(tmp_path: Path) -> None:
    edit = Call("edit", {"filePath": "a.txt", "oldString": "old", "newString": "new"})
    async with house(tmp_path, ScriptedModel([edit], [Say("done")])) as it:
        path = it.directory / "a.txt"
        path.write_text("old\n")
        session_id = it.session()
        accepted = it.prompt(session_id, "change it")
        asked = await it.asked()
        assert "-old" in asked["metadata"]["files"][0]["patch"]
        assert path.read_text() == "old\n"
        await it.until(lambda event: _status(event) == "waiting")
        it.app.permissions.reply(asked["permissionId"], "once")
        assert (await accepted.outcome()).stop_reason == "done"
        assert path.read_text() == "new\n"
        assert it.parts(session_id, "patch")[0]["files"] == [str(path)]


async def test_a_plain_reject_stops_the_turn_and_what_stands_behind(tmp_path: Path) -> None:
    calls = [Call("bash", {"command": "touch one"}), Call("bash", {"command": "touch two"})]
    async with house(tmp_path, ScriptedModel(calls)) as it:
        session_id = it.session()
        accepted = it.prompt(session_id, "go")
        it.app.permissions.reply((await it.asked())["permissionId"], "reject")
        assert (await accepted.outcome()).stop_reason == "rejected"
        states = [part["state"] for part in it.parts(session_id, "tool")]
        assert [state["status"] for state in states] == ["error", "error"]
        assert states[1]["metadata"]["interrupted"] is True
        assert not list(it.directory.glob("*"))


async def test_a_reject_with_words_goes_to_the_model(tmp_path: Path) -> None:
    model = ScriptedModel([Call("bash", {"command": "touch one"})], [Say("understood")])
    async with house(tmp_path, model) as it:
        accepted = it.prompt(it.session(), "go")
        it.app.permissions.reply((await it.asked())["permissionId"], "reject", message="use two instead")
        assert (await accepted.outcome()).stop_reason == "done"
        assert "use two instead" in model.bodies()[1][-1]["content"]


async def test_nobody_there_to_ask_is_told_to_the_model_as_that(tmp_path: Path) -> None:
    model = ScriptedModel([Call("bash", {"command": "touch one"})], [Say("then not")])
    async with house(tmp_path, model, can_ask=False) as it:
        assert (await it.prompt(it.session(), "go").outcome()).stop_reason == "done"
        assert "nobody could answer" in model.bodies()[1][-1]["content"]


async def test_a_steered_prompt_is_seen_by_the_next_step(tmp_path: Path) -> None:
    reached = anyio.Event()
    release = anyio.Event()
    model = ScriptedModel([Signal(reached), Wait(release), Call("list", {})], [Say("both")])
    async with house(tmp_path, model) as it:
        session_id = it.session()
        first = it.prompt(session_id, "one")
        await reached.wait()
        second = it.prompt(session_id, "two")
        assert second.turn_id == first.turn_id
        release.set()
        assert (await second.outcome()).stop_reason == (await first.outcome()).stop_reason == "done"
        assert [message["content"] for message in model.bodies()[1] if message["role"] == "user"] == ["one", "two"]


async def test_a_prompt_stored_while_the_last_answer_ends_is_answered_in_the_same_turn(tmp_path: Path) -> None:
    """The lost wake-up: the loop has read the history, the prompt comes, the loop ends."""
    reached, release = anyio.Event(), anyio.Event()
    model = ScriptedModel([Say("a"), Signal(reached), Wait(release)], [Say("b")])
    async with house(tmp_path, model) as it:
        session_id = it.session()
        first = it.prompt(session_id, "one")
        await reached.wait()
        second = it.prompt(session_id, "two")
        release.set()
        await second.outcome()
        assert second.turn_id == first.turn_id
        assert [part["text"] for part in it.parts(session_id, "text")] == ["one", "a", "two", "b"]


async def test_queued_prompts_follow_one_another_without_idle(tmp_path: Path) -> None:
    release = anyio.Event()
    model = ScriptedModel([Wait(release), Say("a")], [Say("b")], [Say("c")])
    async with house(tmp_path, model) as it:
        session_id = it.session()
        it.prompt(session_id, "one")
        queued = [it.prompt(session_id, text, delivery="queue") for text in ("two", "three")]
        assert [one.state for one in queued] == ["queued", "queued"]
        release.set()
        await queued[1].outcome()
        statuses = [_status(event) for event in it.events if isinstance(event, StatusChanged)]
        assert statuses.count("idle") == 1
        assert statuses[-1] == "idle"
        assert [part["text"] for part in it.parts(session_id, "text")] == ["one", "a", "two", "b", "three", "c"]


async def test_reject_delivery_is_refused_while_busy(tmp_path: Path) -> None:
    async with house(tmp_path, ScriptedModel([Hang()])) as it:
        session_id = it.session()
        it.prompt(session_id, "one")
        with pytest.raises(Exception, match="busy"):
            it.prompt(session_id, "two", delivery="reject")
        await it.app.turns.abort(session_id)


@pytest.mark.parametrize(
    ("moves", "wait_for"),
    [
        ([Hang()], "part/updated"),
        ([Say("par"), Hang()], "part/updated"),
        ([Call("bash", {"command": "sleep 60 & sleep 60"})], "permission/asked"),
    ],
)
async def test_abort_is_a_barrier(tmp_path: Path, moves: list[Any], wait_for: str) -> None:
    streaming = anyio.Event()
    model = ScriptedModel([Signal(streaming), *moves], [Say("again")])
    async with house(tmp_path, model) as it:
        session_id = it.session()
        accepted = it.prompt(session_id, "go")
        await streaming.wait()
        await it.until(lambda event: is_method(event, wait_for))
        aborted = await it.app.turns.abort(session_id)
        assert aborted.aborted
        assert (await accepted.outcome()).stop_reason == "cancelled"
        seen = len(it.events)
        assert is_method(it.events[-2], "turn/ended")
        await anyio.lowlevel.checkpoint()
        assert len(it.events) == seen
        assert it.messages(session_id)[-1]["message"]["error"]["name"] == "MessageAbortedError"
        assert (await it.prompt(session_id, "again").outcome()).stop_reason == "done"


async def test_c16_abort_ends_a_run_whose_provider_swallows_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agentls.engine.runner.ABORT_SECONDS", 0.2)
    let_go = anyio.Event()

    class Stubborn:
        async def stream(self, request: object) -> Any:
            with anyio.CancelScope(shield=True):
                await let_go.wait()
            yield None

        async def aclose(self) -> None:
            let_go.set()

    async with house(tmp_path, Stubborn()) as it:
        session_id = it.session()
        accepted = it.prompt(session_id, "go")
        await it.until(lambda event: is_method(event, "part/updated") and "step-start" in str(params(event)))
        aborted = await it.app.turns.abort(session_id)
        assert aborted.forced
        assert (await accepted.outcome()).stop_reason == "cancelled"
        assert it.status(session_id) == "idle"
        seen = len(it.events)
        let_go.set()
        await anyio.wait_all_tasks_blocked()
        assert len(it.events) == seen


async def test_abort_of_an_idle_session_aborts_nothing(tmp_path: Path) -> None:
    async with house(tmp_path, ScriptedModel([Say("a")])) as it:
        session_id = it.session()
        assert not (await it.app.turns.abort(session_id)).aborted
        await it.prompt(session_id, "one").outcome()
        assert not (await it.app.turns.abort(session_id)).aborted


async def test_a_queue_is_held_after_an_abort_until_continue(tmp_path: Path) -> None:
    streaming = anyio.Event()
    model = ScriptedModel([Signal(streaming), Hang()], [Say("two answered")])
    async with house(tmp_path, model) as it:
        session_id = it.session()
        it.prompt(session_id, "one")
        await streaming.wait()
        queued = it.prompt(session_id, "two", delivery="queue")
        await it.app.turns.abort(session_id)
        assert it.status(session_id) == "idle"
        assert it.app.turns.resume(session_id).message_id == queued.message_id
        assert (await queued.outcome()).stop_reason == "done"


async def test_a_broken_attempt_leaves_nothing_and_is_made_again(tmp_path: Path) -> None:
    """S13, C11: neither text nor calls of a failed attempt stay."""
    failure = ModelFailure(FailureKind.STREAM, "the stream broke", provider="script", retryable=True, retry_after=0)
    model = ScriptedModel([Say("Hel"), Call("list", {}), Fail(failure)], [Say("Hello")])
    async with house(tmp_path, model) as it:
        session_id = it.session()
        assert (await it.prompt(session_id, "go").outcome()).stop_reason == "done"
        assert [part["text"] for part in it.parts(session_id, "text")] == ["go", "Hello"]
        assert it.parts(session_id, "tool") == []
        retry = next(event for event in it.events if isinstance(event, StatusChanged) and event.status.type == "retry")
        assert retry.status.attempt == 2


async def test_a_failure_that_no_retry_helps_ends_the_turn_with_what_to_do(tmp_path: Path) -> None:
    failure = ModelFailure(FailureKind.AUTH, "the key was refused", provider="script", retryable=False)
    model = ScriptedModel([Fail(failure)], [Say("works now")])
    async with house(tmp_path, model) as it:
        session_id = it.session()
        outcome = await it.prompt(session_id, "go").outcome()
        assert outcome.stop_reason == "error"
        assert outcome.error is not None
        assert outcome.error.name == "ProviderAuthError"
        assert (await it.prompt(session_id, "again").outcome()).stop_reason == "done"


async def test_arguments_that_do_not_parse_are_told_and_never_run(tmp_path: Path) -> None:
    model = ScriptedModel([Call("bash", raw='{"command": "touch x"')], [Say("sorry")])
    async with house(tmp_path, model) as it:
        await it.prompt(it.session(mode="auto"), "go").outcome()
        assert "not run" in model.bodies()[1][-1]["content"]
        assert not (it.directory / "x").exists()


async def test_unknown_ends_are_tried_three_times(tmp_path: Path) -> None:
    odd = [Say("x"), End("surprise")]
    async with house(tmp_path, ScriptedModel(odd, odd, odd)) as it:
        outcome = await it.prompt(it.session(), "go").outcome()
        assert outcome.stop_reason == "error"
        assert len(it.model.requests) == 3


async def test_the_limit_of_steps_asks_for_a_closing_word(tmp_path: Path) -> None:
    model = ScriptedModel([Call("list", {})], [Say("that was it"), Call("bash", {"command": "touch x"})])
    async with house(tmp_path, model) as it:
        settings = it.app.paths.config / "agentls.json"
        given = json.loads(settings.read_text()) | {"agent": {"build": {"steps": 2}}}
        settings.write_text(json.dumps(given))
        it.app.configuration.connect(settings=None, trusted=True, folders=(it.directory,))
        outcome = await it.prompt(it.session(mode="auto"), "go").outcome()
        assert outcome.stop_reason == "max_steps"
        assert model.requests[1].tool_choice == "none"
        assert model.requests[1].tools == model.requests[0].tools
        assert not (it.directory / "x").exists()


async def test_the_third_equal_call_with_equal_results_is_asked(tmp_path: Path) -> None:
    same = [Call("list", {})]
    async with house(tmp_path, ScriptedModel(same, same, same, [Say("ok")])) as it:
        accepted = it.prompt(it.session(), "go")
        asked = await it.asked()
        assert asked["permission"] == "doom_loop"
        it.app.permissions.reply(asked["permissionId"], "once")
        assert (await accepted.outcome()).stop_reason == "done"


async def test_the_users_shell_runs_unasked_and_the_model_sees_it(tmp_path: Path) -> None:
    from agentls.engine.usershell import ShellRequest

    model = ScriptedModel([Say("I see it")])
    async with house(tmp_path, model) as it:
        session_id = it.session()
        accepted = it.app.turns.shell(ShellRequest(session_id=session_id, command="echo from the user; sleep 0.3"))
        behind = it.prompt(session_id, "what did it print?")
        assert behind.state == "queued"
        assert (await behind.outcome()).stop_reason == "done"
        assert behind.turn_id != accepted.turn_id
        tool = next(message for message in model.bodies()[0] if message["role"] == "tool")
        assert "from the user" in tool["content"]


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("echo a; kill -9 $$", "a\n\nThe shell was ended by signal 9."),
        ("echo a; sleep 30", "a\n\nThe command did not end within 300 ms and was stopped."),
        ("true", "(no output)\n\nExit code: 0"),
    ],
)
async def test_how_the_users_command_ended_is_told(tmp_path: Path, command: str, said: str) -> None:
    from agentls.engine.usershell import ShellRequest

    async with house(tmp_path, ScriptedModel()) as it:
        session_id = it.session()
        it.app.turns.shell(ShellRequest(session_id=session_id, command=command, timeout_ms=300))
        await it.until(lambda event: is_method(event, "turn/ended"))
        [part] = it.parts(session_id, "tool")
        assert part["state"]["output"] == said


async def test_a_question_outlives_the_process_and_its_answer_runs_the_call(tmp_path: Path) -> None:
    first = ScriptedModel([Call("bash", {"command": "touch one"}), Call("bash", {"command": "touch two"})])
    async with house(tmp_path, first) as it:
        session_id = it.session()
        turn_id = it.prompt(session_id, "go").turn_id
        asked = await it.asked()
    second = ScriptedModel([Say("both done")])
    async with house(tmp_path, second) as it:
        assert it.status(session_id) == "waiting"
        assert len(it.app.permissions.listing(session_id)) == 1
        it.app.permissions.reply(asked["permissionId"], "once")
        again = await it.asked()
        assert again["turnId"] == turn_id
        it.app.permissions.reply(again["permissionId"], "once")
        ended = params(await it.until(lambda event: is_method(event, "turn/ended")))
        assert (ended["turnId"], ended["stopReason"]) == (turn_id, "done")
        assert sorted(path.name for path in it.directory.iterdir()) == ["one", "two"]
        assert [message["role"] for message in second.bodies()[0]][-3:] == ["assistant", "tool", "tool"]


async def test_closing_interrupts_a_stream_and_keeps_its_text(tmp_path: Path) -> None:
    async with house(tmp_path, ScriptedModel([Say("half of "), Hang()])) as it:
        session_id = it.session()
        it.prompt(session_id, "go")
        await it.until(lambda event: type(event).__name__ == "Delta")
    async with house(tmp_path, ScriptedModel([Say("rest")])) as it:
        message = it.messages(session_id)[-1]
        assert message["message"]["error"]["data"]["reason"] == "exit"
        assert [part["text"] for part in message["parts"] if part["type"] == "text"] == ["half of "]
        assert (await it.app.turns.resume(session_id).outcome()).stop_reason == "done"


def _status(event: Event) -> str | None:
    return event.status.type if isinstance(event, StatusChanged) else None


async def test_a_structured_answer_is_refused_and_stores_nothing(tmp_path: Path) -> None:
    async with house(tmp_path, ScriptedModel()) as it:
        session_id = it.session()
        with pytest.raises(AgentError) as caught:
            it.prompt(session_id, "go", format={"type": "json_schema", "schema": {}})
        assert caught.value.kind is ErrorKind.NOT_SUPPORTED
        assert it.messages(session_id) == []
