"""A client with no dialog of its own is asked by `window/showMessageRequest`; dismissed is not refused."""

import asyncio
from typing import Any

from e2e.client import Client, Message
from e2e.model import Script, calls, says
from e2e.server import Machine
from e2e.talk import Talk

OPTIONS: Message = {"protocolVersion": 1, "clientId": "plain", "trusted": True}
QUESTION = {"questions": [{"header": "Colour", "question": "Which?", "options": [{"label": "Red"}, {"label": "Blue"}]}]}


class Person:
    """Answers the messages that the editor shows, each as soon as the test says how."""

    def __init__(self, client: Client) -> None:
        self._choices: asyncio.Queue[str | None] = asyncio.Queue()
        client.answers["window/showMessageRequest"] = self._choose

    def chooses(self, *titles: str | None) -> None:
        for title in titles:
            self._choices.put_nowait(title)

    async def _choose(self, _params: Message) -> Any:
        title = await self._choices.get()
        return None if title is None else {"title": title}


async def test_dismissed_stays_open_and_is_offered_again(machine: Machine, model: Script) -> None:
    folder = machine.project("plain")
    async with machine.editor(folder, OPTIONS) as client:
        person = Person(client)
        talk = await Talk.begin(client, folder)
        model.plays(calls(("bash", {"command": "echo a > a"})), says("Done."))
        turn_id = (await talk.prompt("Run it."))["turnId"]
        shown = await client.wait_for("window/showMessageRequest")
        assert shown["type"] == 2
        assert "echo a > a" in shown["message"]
        assert shown["actions"][0]["title"] == "Allow once"
        person.chooses(None)
        asked = await talk.asked()
        mark = client.mark()
        await offered_again(client, asked)
        person.chooses("Allow once")
        again = await client.wait_for("window/showMessageRequest", after=mark)
        assert again["message"] == shown["message"]
        assert (await talk.ended(turn_id))["stopReason"] == "done"
        assert (folder / "a").exists()


async def offered_again(client: Client, asked: Message) -> None:
    """The dismissed question is still listed; the command shows it again."""
    listed = (await client.request("permission/list"))["permissions"]
    assert [one["permissionId"] for one in listed] == [asked["permissionId"]]
    await client.request("workspace/executeCommand", {"command": "agentls.permissions", "arguments": []})


async def test_what_an_earlier_process_asked_is_offered_too(machine: Machine, model: Script) -> None:
    folder = machine.project("plain")
    async with machine.editor(folder, OPTIONS) as client:
        Person(client)
        talk = await Talk.begin(client, folder)
        model.plays(calls(("bash", {"command": "echo a > a"})), says("Done."))
        turn_id = (await talk.prompt("Run it."))["turnId"]
        await client.wait_for("window/showMessageRequest")
        await client.kill()
    async with machine.editor(folder, OPTIONS) as client:
        person = Person(client)
        talk = talk.on(client)
        await talk.ask("session/attach")
        await client.request("workspace/executeCommand", {"command": "agentls.permissions"})
        await client.wait_for("window/showMessageRequest")
        person.chooses("Allow once")
        assert (await talk.ended(turn_id))["stopReason"] == "done"
        assert (folder / "a").exists()


async def test_reject_and_always_by_message(machine: Machine, model: Script) -> None:
    folder = machine.project("plain")
    async with machine.editor(folder, OPTIONS) as client:
        person = Person(client)
        talk = await Talk.begin(client, folder)
        person.chooses("Reject")
        model.plays(calls(("bash", {"command": "git status"})))
        await talk.prompt("Look.")
        assert (await talk.ended())["stopReason"] == "rejected"

        person.chooses("Always")
        model.plays(calls(("bash", {"command": "git status"})), says("Done."))
        assert (await talk.prompt("Look.", wait="idle"))["stopReason"] == "done"
        shown = client.seen("window/showMessageRequest")
        assert "git status" in shown[-1]["message"]
        model.plays(calls(("bash", {"command": "git status"})), says("Done."))
        assert (await talk.prompt("Look.", wait="idle"))["stopReason"] == "done"
        assert len(client.seen("window/showMessageRequest")) == len(shown) == 2


async def test_questions_are_shown_by_their_labels(machine: Machine, model: Script) -> None:
    folder = machine.project("plain")
    async with machine.editor(folder, OPTIONS) as client:
        person = Person(client)
        talk = await Talk.begin(client, folder)
        person.chooses("Blue")
        model.plays(calls(("question", QUESTION)), says("Blue."))
        assert (await talk.prompt("Ask me.", wait="idle"))["stopReason"] == "done"
        [shown] = client.seen("window/showMessageRequest")
        assert [action["title"] for action in shown["actions"]] == ["Red", "Blue"]
        [told] = [message for message in model.requests[1]["messages"] if message["role"] == "tool"]
        assert "Blue" in told["content"]

        person.chooses(None)
        model.plays(calls(("question", QUESTION)))
        await talk.prompt("Ask me again.")
        assert (await talk.ended(after=client.mark()))["stopReason"] == "rejected"


async def test_a_question_without_options_answers_that_nobody_could(machine: Machine, model: Script) -> None:
    folder = machine.project("plain")
    async with machine.editor(folder, OPTIONS) as client:
        Person(client)
        talk = await Talk.begin(client, folder)
        model.plays(
            calls(("question", {"questions": [{"header": "Name", "question": "Which name?", "options": []}]})),
            says("I choose one."),
        )
        assert (await talk.prompt("Ask me.", wait="idle"))["stopReason"] == "done"
        assert client.seen("window/showMessageRequest") == []


async def test_an_abort_takes_the_message_back(machine: Machine, model: Script) -> None:
    """The client is told by `$/cancelRequest`; a late click is harmless."""
    folder = machine.project("plain")
    async with machine.editor(folder, OPTIONS) as client:
        person = Person(client)
        talk = await Talk.begin(client, folder)
        model.plays(calls(("bash", {"command": "echo a > a"})))
        await talk.prompt("Run it.")
        await client.wait_for("window/showMessageRequest")
        await talk.abort()
        await client.wait_for("$/cancelRequest")
        person.chooses("Allow once")
        model.plays(says("Here."))
        assert (await talk.prompt("Still there?", wait="idle"))["stopReason"] == "done"
        assert not (folder / "a").exists()


async def test_a_client_that_cannot_show_messages_keeps_the_question(machine: Machine, model: Script) -> None:
    folder = machine.project("plain")
    async with machine.editor(folder, OPTIONS) as client:
        talk = await Talk.begin(client, folder)
        model.plays(calls(("bash", {"command": "echo a > a"})), says("Done."))
        turn_id = (await talk.prompt("Run it."))["turnId"]
        await client.wait_for("window/showMessageRequest")
        await talk.reply(await talk.asked())
        assert (await talk.ended(turn_id))["stopReason"] == "done"
