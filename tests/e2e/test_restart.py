"""What was asked outlives the process: killed or shut down, the next one takes the answer and goes on."""

from pathlib import Path

import pytest

from e2e.client import Client
from e2e.model import Script, calls, says
from e2e.server import Machine
from e2e.talk import Talk

QUESTION = {
    "questions": [
        {"header": "Colour", "question": "Which colour?", "options": [{"label": "Red"}, {"label": "Blue"}]},
    ]
}


async def leave(client: Client, how: str) -> None:
    if how == "kill":
        await client.kill()
    elif how == "shutdown":
        assert await client.shut_down() == 0
    else:
        assert client.process.stdin
        client.process.stdin.close()
        await client.gone()


@pytest.fixture
def folder(machine: Machine) -> Path:
    return machine.project("work", {"a.txt": "one\n"})


@pytest.mark.parametrize("how", ["kill", "shutdown", "end of input"])
async def test_p19_a_permission_is_answered_after_the_restart_and_the_turn_goes_on(
    machine: Machine, folder: Path, model: Script, how: str
) -> None:
    edit = {"filePath": str(folder / "a.txt"), "oldString": "one", "newString": "two"}
    model.plays(
        calls(("read", {"filePath": str(folder / "a.txt")}), ids="read"),
        calls(("edit", edit), ("bash", {"command": "cat a.txt"}), words="I change it. ", ids="both"),
        says("Changed."),
    )
    async with machine.editor(folder) as client:
        talk = await Talk.begin(client, folder)
        turn_id = (await talk.prompt("Write two."))["turnId"]
        asked = await talk.asked(permission="edit")
        await talk.wait("session/status", lambda p: p["status"]["type"] == "waiting")
        await leave(client, how)
    assert (folder / "a.txt").read_text() == "one\n"

    async with machine.editor(folder) as client:
        talk = talk.on(client)
        found = await talk.ask("session/attach")
        assert found["status"]["type"] == "waiting"
        assert found["turn"]["id"] == turn_id
        assert found["turn"]["state"] == "waiting"
        assert [one["permissionId"] for one in found["pending"]["permissions"]] == [asked["permissionId"]]
        listed = (await client.request("permission/list"))["permissions"]
        assert [one["permissionId"] for one in listed] == [asked["permissionId"]]
        assert [tool["state"]["status"] for tool in await talk.tools()] == ["completed", "pending", "pending"]

        assert (await talk.reply(asked))["status"] == "accepted"
        command = await talk.asked(permission="bash")
        await talk.reply(command)
        end = await talk.ended(turn_id)
        assert end["stopReason"] == "done"
        assert (folder / "a.txt").read_text() == "two\n"
        assert [tool["state"]["status"] for tool in await talk.tools()] == ["completed"] * 3
        assert "two" in (await talk.tools())[2]["state"]["output"]
        assert (await talk.texts())[-1] == "Changed."
        assert end["usage"]["tokens"]["output"] == 60


@pytest.mark.parametrize("how", ["kill"])
async def test_p19_a_rejection_after_the_restart_stops_the_turn(
    machine: Machine, folder: Path, model: Script, how: str
) -> None:
    model.plays(calls(("bash", {"command": "echo ran > ran"}), ("bash", {"command": "echo also > ran"})))
    async with machine.editor(folder) as client:
        talk = await Talk.begin(client, folder)
        turn_id = (await talk.prompt("Run it."))["turnId"]
        asked = await talk.asked()
        await leave(client, how)
    async with machine.editor(folder) as client:
        talk = talk.on(client)
        await talk.ask("session/attach")
        await talk.reply(asked, "reject")
        assert (await talk.ended(turn_id))["stopReason"] == "rejected"
        assert not (folder / "ran").exists()
        assert [tool["state"]["status"] for tool in await talk.tools()] == ["error", "error"]
        model.also(says("Understood."))
        assert (await talk.prompt("Go on.", wait="idle"))["stopReason"] == "done"


@pytest.mark.parametrize("how", ["kill", "shutdown"])
async def test_p19_a_question_is_answered_after_the_restart(
    machine: Machine, folder: Path, model: Script, how: str
) -> None:
    model.plays(calls(("question", QUESTION)), says("Blue it is."))
    async with machine.editor(folder) as client:
        talk = await Talk.begin(client, folder)
        turn_id = (await talk.prompt("Paint it."))["turnId"]
        asked = await talk.questioned()
        await leave(client, how)
    async with machine.editor(folder) as client:
        talk = talk.on(client)
        found = await talk.ask("session/attach")
        assert [one["questionId"] for one in found["pending"]["questions"]] == [asked["questionId"]]
        reply = await client.request("question/reply", {"questionId": asked["questionId"], "answers": [["Blue"]]})
        assert reply["status"] == "accepted"
        assert (await talk.ended(turn_id))["stopReason"] == "done"
        [tool] = await talk.tools()
        assert "Blue" in tool["state"]["output"]
        assert any("Blue" in str(message["content"]) for message in model.requests[1]["messages"])


async def test_a_file_that_changed_before_the_answer_is_not_overwritten(
    machine: Machine, folder: Path, model: Script
) -> None:
    edit = {"filePath": str(folder / "a.txt"), "oldString": "one", "newString": "two"}
    model.plays(
        calls(("read", {"filePath": str(folder / "a.txt")}), ids="read"),
        calls(("edit", edit), ids="edit"),
        says("It changed meanwhile."),
    )
    async with machine.editor(folder) as client:
        talk = await Talk.begin(client, folder)
        turn_id = (await talk.prompt("Write two."))["turnId"]
        asked = await talk.asked()
        await client.kill()
    (folder / "a.txt").write_text("one, and the user's own line\n")
    async with machine.editor(folder) as client:
        talk = talk.on(client)
        await talk.ask("session/attach")
        await talk.reply(asked)
        assert (await talk.ended(turn_id))["stopReason"] == "done"
        assert (folder / "a.txt").read_text() == "one, and the user's own line\n"
        assert (await talk.tools())[1]["state"]["status"] == "error"


async def test_p17_p19_abort_and_steer_end_a_turn_that_waits_since_before_the_restart(
    machine: Machine, folder: Path, model: Script
) -> None:
    model.plays(calls(("bash", {"command": "echo ran > ran"})))
    async with machine.editor(folder) as client:
        talk = await Talk.begin(client, folder)
        turn_id = (await talk.prompt("Run it."))["turnId"]
        asked = await talk.asked()
        await client.kill()
    async with machine.editor(folder) as client:
        talk = talk.on(client)
        await talk.ask("session/attach")
        assert (await client.refused("session/continue", {"sessionId": talk.id})).kind == "session_busy"
        assert await talk.abort() == {"aborted": True, "turnId": turn_id}
        assert (await talk.ended(turn_id))["stopReason"] == "cancelled"
        late = await talk.reply(asked)
        assert late["status"] == "superseded"
        assert late["resolution"]["outcome"] == "cancelled"

        model.plays(calls(("bash", {"command": "echo ran > ran"})))
        turn_id = (await talk.prompt("Run it again."))["turnId"]
        asked = await talk.asked(after=client.mark())
        await client.kill()
    async with machine.editor(folder) as client:
        talk = talk.on(client)
        model.plays(says("Never mind."))
        result = await talk.prompt("Forget it.", wait="idle")
        assert result["stopReason"] == "done"
        assert result["turnId"] != turn_id
        assert (await talk.reply(asked))["status"] == "superseded"
        assert not (folder / "ran").exists()


@pytest.mark.parametrize("how", ["kill", "shutdown", "end of input"])
async def test_c09_c13_what_ran_is_marked_interrupted_and_the_session_is_usable(
    machine: Machine, folder: Path, model: Script, how: str
) -> None:
    model.plays(calls(("bash", {"command": "echo begun; sleep 300"}), words="I wait. "))
    async with machine.editor(folder) as client:
        talk = await Talk.begin(client, folder, mode="auto")
        turn_id = (await talk.prompt("Wait."))["turnId"]
        await talk.output("begun")
        await leave(client, how)
    async with machine.editor(folder) as client:
        talk = talk.on(client)
        found = await talk.ask("session/attach")
        assert found["status"]["type"] == "idle"
        turn = found["snapshot"]["turn"]
        assert (turn["id"], turn["state"], turn["stopReason"]) == (turn_id, "ended", "cancelled")
        assert turn["error"]["name"] == "MessageAbortedError"
        assert turn["error"]["data"]["reason"] == ("crash" if how == "kill" else "exit")
        [tool] = await talk.tools()
        assert tool["state"]["status"] == "error"
        assert tool["state"]["metadata"]["interrupted"] is True
        for one in await talk.messages():
            if one["message"]["role"] == "assistant":
                assert one["message"]["time"]["completed"]
                assert one["message"]["error"]["name"] == "MessageAbortedError"
        model.plays(says("Here I am."))
        assert (await talk.prompt("Are you there?", wait="idle"))["stopReason"] == "done"


async def test_half_a_text_survives_a_shutdown(machine: Machine, folder: Path, model: Script) -> None:
    model.plays(says("The first half, the second half.", 2, gate="never"))
    async with machine.editor(folder) as client:
        talk = await Talk.begin(client, folder)
        await talk.prompt("Speak.")
        got = await talk.first_text()
        assert await client.shut_down() == 0
    async with machine.editor(folder) as client:
        talk = talk.on(client)
        assert await talk.texts() == [got["delta"]]


async def test_d10_the_prompt_is_durable_when_it_is_answered(machine: Machine, folder: Path, model: Script) -> None:
    model.plays(says("never seen", before="never"))
    async with machine.editor(folder) as client:
        talk = await Talk.begin(client, folder)
        accepted = await talk.prompt("Remember this.")
        await client.kill()
    async with machine.editor(folder) as client:
        [message, *_] = await talk.on(client).messages()
        assert message["message"]["id"] == accepted["messageId"]
        assert message["parts"][0]["text"] == "Remember this."


async def test_the_queue_outlives_the_process(machine: Machine, folder: Path, model: Script) -> None:
    model.plays(says("first", before="never"))
    async with machine.editor(folder) as client:
        talk = await Talk.begin(client, folder)
        await talk.prompt("One.")
        queued = await talk.prompt("Two.", delivery="queue")
        assert queued["state"] == "queued"
        await client.kill()
    async with machine.editor(folder) as client:
        talk = talk.on(client)
        assert [item["text"] for item in (await talk.ask("queue/list"))["items"]] == ["Two."]
        model.plays(says("second"))
        went_on = await talk.ask("session/continue")
        assert went_on["messageId"] == queued["messageId"]
        await talk.ended(went_on["turnId"])
        assert (await talk.ask("queue/list"))["items"] == []
        assert (await talk.texts())[-1] == "second"
