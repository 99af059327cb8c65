"""How far an answer reaches: sessions, agents, restarts; and answers that come late."""

import json
import time
from pathlib import Path

import pytest

from e2e.client import Client, Message
from e2e.model import Script, calls, says
from e2e.people import is_for_people
from e2e.server import Machine
from e2e.talk import Talk
from storage.holder import held

WRITE = ("write", {"filePath": "made.txt", "content": "x\n"})
STATUS = ("bash", {"command": "git status"})


def always_of(asked: Message) -> Message:
    [option] = [option for option in asked["options"] if option["kind"] == "always"]
    return option


async def rules_of(talk: Talk) -> list[tuple[str, str, str]]:
    rules = (await talk.ask("permission/rules"))["rules"]
    return [(rule["permission"], rule["pattern"], rule["scope"]) for rule in rules]


async def is_asked(talk: Talk, model: Script, call: tuple[str, Message]) -> bool:
    """Whether the call asks; it is left undone then."""
    mark = talk.client.mark()
    model.plays(calls(call), says("Done."))
    prompt = talk.send_prompt("Do it.", wait="idle")
    told = await talk.wait("session/status", lambda p: p["status"]["type"] in ("waiting", "idle"), after=mark)
    if told["status"]["type"] == "waiting":
        await talk.abort()
    await talk.client.answer(prompt)
    return told["status"]["type"] == "waiting"


async def test_p12_an_agent_that_is_denied_is_denied_whatever_was_allowed_always(
    machine: Machine, model: Script
) -> None:
    """Always, as `build`; then `plan`, whose settings deny it; then `build` again."""
    rules = {"agent": {"plan": {"permission": {"edit": "deny", "bash": {"git status": "deny"}}}}}
    machine.settings(model.url, **rules)
    folder = machine.project("work")
    async with machine.editor(folder) as client:
        talk = await Talk.begin(client, folder)
        for call in (WRITE, STATUS):
            model.plays(calls(call), says("Done."))
            mark = client.mark()
            await talk.prompt("Do it.")
            await talk.reply(await talk.asked(after=mark), "always", scope="project")
            await talk.ended(after=mark)
        assert (folder / "made.txt").exists()
        (folder / "made.txt").unlink()
        mark = client.mark()
        model.plays(calls(WRITE, STATUS), says("I may not."))
        result = await talk.prompt("Do it.", agent="plan", wait="idle")
        assert result["stopReason"] == "done"
        assert talk.seen("permission/asked", after=mark) == []
        assert not (folder / "made.txt").exists()
        told = [message["content"] for message in model.requests[1]["messages"] if message["role"] == "tool"][-2:]
        assert all("rule" in words or "not allowed" in words for words in told), told
        assert not await is_asked(await Talk.begin(client, folder), model, WRITE)


async def test_p12_what_settings_ask_is_asked_in_a_new_session_unless_it_was_allowed_for_the_project(
    machine: Machine, model: Script
) -> None:
    machine.settings(model.url, permission={"bash": {"git status": "ask"}})
    folder = machine.project("work")
    async with machine.editor(folder) as client:
        talk = await Talk.begin(client, folder)
        model.plays(calls(STATUS), says("Done."))
        await talk.prompt("Look.")
        asked = await talk.asked()
        await talk.reply(asked, "always", scope="session")
        await talk.ended()
        assert not await is_asked(talk, model, STATUS)
        other = await Talk.begin(client, folder)
        assert await is_asked(other, model, STATUS)
        model.plays(calls(STATUS), says("Done."))
        mark = client.mark()
        await other.prompt("Look.")
        await other.reply(await other.asked(after=mark), "always", scope="project")
        await other.ended(after=mark)
        assert not await is_asked(await Talk.begin(client, folder), model, STATUS)


@pytest.mark.parametrize("how", ["kill", "shutdown"])
@pytest.mark.parametrize("scope", ["session", "project"])
async def test_p13_always_is_kept_over_a_restart_as_far_as_its_label_says(
    machine: Machine, model: Script, scope: str, how: str
) -> None:
    folder = machine.project("work")
    async with machine.editor(folder) as client:
        talk = await Talk.begin(client, folder)
        model.plays(calls(STATUS), says("Done."))
        await talk.prompt("Look.")
        asked = await talk.asked()
        assert set(always_of(asked)["scope"]) == {"session", "project"}
        await talk.reply(asked, "always", scope=scope)
        await talk.ended()
        await (client.kill() if how == "kill" else client.shut_down())
    async with machine.editor(folder) as client:
        talk = talk.on(client)
        assert await rules_of(talk) == [("bash", pattern, scope) for pattern in always_of(asked)["patterns"]]
        assert not await is_asked(talk, model, STATUS)
        assert await is_asked(await Talk.begin(client, folder), model, STATUS) is (scope == "session")
        elsewhere = machine.project("elsewhere")
        assert await is_asked(await Talk.begin(client, elsewhere), model, STATUS)


@pytest.mark.parametrize("reply", ["once", "always", "reject"])
async def test_p17_a_late_answer_does_nothing_and_stores_no_rule(talk: Talk, model: Script, reply: str) -> None:
    model.plays(calls(STATUS))
    await talk.prompt("Look.")
    asked = await talk.asked()
    await talk.abort()
    scope = {"scope": "project"} if reply == "always" else {}
    late = await talk.reply(asked, reply, **scope)
    assert (late["status"], late["resolution"]["outcome"]) == ("superseded", "cancelled")
    assert await rules_of(talk) == []
    assert (await talk.ask("session/get"))["status"]["type"] == "idle"
    assert await is_asked(talk, model, STATUS)


async def test_p19_a_stream_beside_a_question_ends_interrupted_and_the_question_stays(
    machine: Machine, model: Script
) -> None:
    """The client goes: another session's text is cut off, kept and marked; what was asked waits for the next client."""
    folder = machine.project("work")
    async with machine.editor(folder) as client:
        asking, streaming = await Talk.begin(client, folder), await Talk.begin(client, folder)
        model.plays(calls(("bash", {"command": "echo ran > ran"})), says("It ran."), mark="ASKS")
        model.plays(says("half of it, and the rest", 2, gate="never"), mark="STREAMS")
        await asking.prompt("ASKS")
        await streaming.prompt("STREAMS")
        asked = await asking.asked()
        got = await streaming.first_text()
        assert client.process.stdin
        client.process.stdin.close()
        await client.gone()
    async with machine.editor(folder) as client:
        asking, streaming = asking.on(client), streaming.on(client)
        listed = (await client.request("permission/list"))["permissions"]
        assert [one["permissionId"] for one in listed] == [asked["permissionId"]]
        cut = (await streaming.ask("session/attach"))["snapshot"]
        assert cut["turn"]["stopReason"] == "cancelled"
        assert cut["turn"]["error"]["name"] == "MessageAbortedError"
        assert await streaming.texts() == [got["delta"]]
        assert (await asking.ask("session/attach"))["status"]["type"] == "waiting"
        await asking.reply(asked)
        assert (await asking.ended())["stopReason"] == "done"
        assert (folder / "ran").exists()


async def test_p19_a_second_client_answers_what_the_first_left_open(machine: Machine, model: Script) -> None:
    folder = machine.project("work")
    async with machine.editor(folder) as first:
        talk = await Talk.begin(first, folder)
        model.plays(calls(("bash", {"command": "echo ran > ran"})), says("It ran."))
        turn_id = (await talk.prompt("Run it."))["turnId"]
        asked = await talk.asked()
        async with machine.editor(folder) as second:
            other = talk.on(second)
            found = await other.ask("session/attach")
            assert [one["permissionId"] for one in found["pending"]["permissions"]] == [asked["permissionId"]]
            await second.shut_down()
        assert (await talk.reply(asked))["status"] == "accepted"
        assert (await talk.ended(turn_id))["stopReason"] == "done"


async def test_p14_seven_sessions_ask_at_once_and_each_answer_is_for_its_own(
    talk: Talk, model: Script, shared: Client
) -> None:
    talks = [talk, *[await Talk.begin(shared, talk.folder) for _ in range(6)]]
    for number, one in enumerate(talks):
        made = [("bash", {"command": f"touch made{number}{letter}"}) for letter in "ab"]
        model.plays(calls(*made, ids=f"c{number}"), says("Done."), mark=f"SEVEN{number}")
        await one.prompt(f"SEVEN{number}")
    asked = [await one.asked() for one in talks]
    for number in (3, 0, 6):
        await talks[number].reply(asked[number], "reject")
        assert (await talks[number].ended())["stopReason"] == "rejected"
    open_now = {one["permissionId"] for one in (await shared.request("permission/list"))["permissions"]}
    assert open_now & {one["permissionId"] for one in asked} == {asked[n]["permissionId"] for n in (1, 2, 4, 5)}
    for number in (5, 1, 2, 4):
        mark = shared.mark()
        await talks[number].reply(asked[number])
        await talks[number].reply(await talks[number].asked(after=mark))
        assert (await talks[number].ended())["stopReason"] == "done"
    names = {path.name for path in Path(talk.folder).iterdir()}
    assert names == {f"made{number}{letter}" for number in (1, 2, 4, 5) for letter in "ab"}
    assert json.dumps(await talks[3].tools()).count('"status": "error"') == 2


@pytest.mark.parametrize("reply", ["once", "always"])
async def test_p20_an_answer_while_another_process_holds_the_database_is_taken_or_can_be_given_again(
    machine: Machine, model: Script, reply: str
) -> None:
    folder = machine.project("work")
    async with machine.editor(folder) as client:
        talk = await Talk.begin(client, folder)
        model.plays(calls(STATUS), says("Done."))
        turn_id = (await talk.prompt("Look."))["turnId"]
        asked = await talk.asked()
        with held(machine.data / "agentls.db"):
            sent = client.send("permission/reply", {"permissionId": asked["permissionId"], "reply": reply})
            began = time.monotonic()
            assert "sessions" in await client.request("session/list")
            assert time.monotonic() - began < 1
            response = await client.response(sent, 10)
            assert response["error"]["data"]["retryable"] is True
            is_for_people(response["error"]["message"])
            pending = (await talk.ask("session/get"))["pending"]["permissions"]
            assert [one["permissionId"] for one in pending] == [asked["permissionId"]]
        assert (await talk.reply(asked, reply))["status"] == "accepted"
        assert (await talk.ended(turn_id))["stopReason"] == "done"
        assert (await rules_of(talk) != []) is (reply == "always")
