"""Turns that are aborted, fail or meet a limit."""

import json
from pathlib import Path
from typing import Any

import anyio
import pytest

from agentls.model.failures import FailureKind, ModelFailure
from agentls.model.scripted import Call, End, Fail, Hang, Say, ScriptedModel, Signal
from agentls.schema.event import StatusChanged
from engine.house import house, is_method, params


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


async def test_s13_a_broken_attempt_leaves_nothing_and_is_made_again(tmp_path: Path) -> None:
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
