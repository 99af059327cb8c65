"""Two editor windows are two processes on one database: neither touches what the other runs."""

from pathlib import Path

import pytest

from e2e.model import Script, calls, says
from e2e.server import Machine, running, unique
from e2e.talk import Talk


@pytest.fixture
def folder(machine: Machine) -> Path:
    return machine.project("both", {"a.txt": "one\n"})


async def test_the_restart_of_one_leaves_the_others_turn_alone(machine: Machine, folder: Path, model: Script) -> None:
    model.plays(says("mine goes on to its end", 4, gate="mine"), mark="FIRST")
    model.plays(says("this one is cut off", 4, gate="never"), mark="SECOND")
    async with machine.editor(folder) as one:
        first = await Talk.begin(one, folder)
        turn_id = (await first.prompt("FIRST"))["turnId"]
        await first.first_text()
        async with machine.editor(folder) as other:
            second = await Talk.begin(other, folder)
            lost = (await second.prompt("SECOND"))["turnId"]
            await second.first_text()
            await other.kill()
        async with machine.editor(folder) as other:
            mark = one.mark()
            again = second.on(other)
            found = await again.ask("session/attach")
            assert found["snapshot"]["turn"]["id"] == lost
            assert found["snapshot"]["turn"]["stopReason"] == "cancelled"

            locked = await other.refused(
                "session/prompt", {"sessionId": first.id, "parts": [{"type": "text", "text": "mine?"}]}
            )
            assert (locked.kind, locked.data["pid"]) == ("session_locked", one.process.pid)
            for method, params in (
                ("session/abort", {}),
                ("session/update", {"title": "stolen"}),
                ("session/continue", {}),
                ("session/shell", {"command": "true"}),
                ("session/delete", {}),
            ):
                error = await other.refused(method, {"sessionId": first.id, **params})
                assert error.kind == "session_locked", method
                assert str(one.process.pid) in error.message
            read = await first.on(other).ask("session/attach")
            assert read["owner"] == {"pid": one.process.pid}
            assert read["snapshot"]["turn"]["state"] == "running"
            assert (await first.on(other).messages())[0]["parts"][0]["text"] == "FIRST"

            assert not one.seen("turn/ended", after=mark)
            model.open("mine")
            end = await first.ended(turn_id)
            assert end["stopReason"] == "done"
            assert (await first.texts()) == ["mine goes on to its end"]

            model.plays(says("free again"), mark="THIRD")
            result = await first.on(other).prompt("THIRD", wait="idle")
            assert result["stopReason"] == "done"
            assert (await first.texts())[-1] == "free again"


async def test_a_session_of_a_killed_process_is_usable_from_the_other(
    machine: Machine, folder: Path, model: Script
) -> None:
    """Without a restart: the one that lives sweeps the session when it takes it."""
    model.plays(calls(("bash", {"command": "echo begun; sleep 4711"}), words="I wait. "), mark="LOST")
    async with machine.editor(folder) as one, machine.editor(folder) as other:
        talk = await Talk.begin(other, folder, mode="auto")
        lost = (await talk.prompt("LOST"))["turnId"]
        await talk.output("begun")
        await other.kill()

        talk = talk.on(one)
        assert (await talk.ask("session/get"))["status"]["type"] == "idle"
        [tool] = await talk.tools()
        assert tool["state"]["status"] == "error"
        model.plays(says("taken over"))
        result = await talk.prompt("Whose is this?", wait="idle")
        assert result["stopReason"] == "done"
        assert result["turnId"] != lost
        [tool] = await talk.tools()
        assert tool["state"]["metadata"]["interrupted"] is True
        assert (await talk.texts()) == ["I wait. ", "taken over"]
        told = [message for message in model.requests[-1]["messages"] if message["role"] == "tool"]
        assert len(told) == 1


async def test_a_question_of_the_one_cannot_be_answered_by_the_other_until_it_is_dead(
    machine: Machine, folder: Path, model: Script
) -> None:
    model.plays(calls(("bash", {"command": "touch ran"})), says("It ran."))
    async with machine.editor(folder) as one, machine.editor(folder) as other:
        talk = await Talk.begin(other, folder)
        turn_id = (await talk.prompt("Run it."))["turnId"]
        asked = await talk.asked()
        listed = (await one.request("permission/list", {"sessionId": talk.id}))["permissions"]
        assert [question["permissionId"] for question in listed] == [asked["permissionId"]]
        error = await one.refused("permission/reply", {"permissionId": asked["permissionId"], "reply": "once"})
        assert (error.kind, error.data["pid"]) == ("session_locked", other.process.pid)
        assert (await talk.ask("session/get"))["status"]["type"] == "waiting"
        await other.kill()

        talk = talk.on(one)
        assert (await talk.ask("session/attach"))["turn"]["id"] == turn_id
        assert (await talk.reply(asked))["status"] == "accepted"
        assert (await talk.ended(turn_id))["stopReason"] == "done"
        assert (folder / "ran").exists()


async def test_two_processes_run_turns_side_by_side(machine: Machine, folder: Path, model: Script) -> None:
    async with machine.editor(folder) as one, machine.editor(folder) as other:
        talks = [await Talk.begin(client, folder, mode="auto") for client in (one, other, one, other)]
        model.plays()
        for number, _ in enumerate(talks):
            path = str(folder / f"file{number}.txt")
            model.plays(
                calls(("write", {"filePath": path, "content": f"{number}\n"}), words="I write. "),
                calls(("bash", {"command": f"cat file{number}.txt"}), ids="second"),
                says(f"written {number}", 20),
                mark=f"NUMBER{number}",
            )
        ids = [(await talk.prompt(f"NUMBER{number}"))["turnId"] for number, talk in enumerate(talks)]
        for turn_id, talk in zip(ids, talks, strict=True):
            assert (await talk.ended(turn_id))["stopReason"] == "done"
        for number, talk in enumerate(talks):
            assert (folder / f"file{number}.txt").read_text() == f"{number}\n"
            assert (await talk.texts())[-1] == f"written {number}"
        listed = await one.request("session/list", {"directory": str(folder)})
        assert {session["id"] for session in listed["sessions"]} == {talk.id for talk in talks}


async def test_orphans_of_a_killed_server_are_gone(machine: Machine, folder: Path, model: Script) -> None:
    mark = unique()
    model.plays(calls(("bash", {"command": f"echo begun; setsid sleep {mark} & sleep {mark}"})))
    async with machine.editor(folder) as client:
        talk = await Talk.begin(client, folder, mode="auto")
        await talk.prompt("Wait.")
        await talk.output("begun")
        children = running(mark)
        assert children
        await client.kill()
        for child in children:
            child.wait(timeout=5)
    assert running(mark) == []


async def test_d03_several_first_starts_at_once(machine: Machine, folder: Path, model: Script) -> None:
    async with (
        machine.editor(folder) as a,
        machine.editor(folder) as b,
        machine.editor(folder) as c,
    ):
        talks = [await Talk.begin(client, folder) for client in (a, b, c)]
        for client in (a, b, c):
            listed = (await client.request("session/list"))["sessions"]
            assert {session["id"] for session in listed} == {talk.id for talk in talks}
