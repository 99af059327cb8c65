"""Turns from prompt to idle, with a scripted model: what is asked, what is stored, what is told."""

from pathlib import Path

import anyio
import pytest

from agentls.model.scripted import Call, Hang, Say, ScriptedModel, Signal, Think, Wait
from agentls.schema.event import Event, StatusChanged
from engine.house import house


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


def _status(event: Event) -> str | None:
    return event.status.type if isinstance(event, StatusChanged) else None
