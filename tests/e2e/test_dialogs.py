"""A client with no dialog of its own is asked by `window/showMessageRequest`; dismissed is not refused."""

import asyncio
import itertools
from collections.abc import AsyncIterator
from typing import Any

import pytest

from e2e.client import Client, Message
from e2e.model import Script, calls, says
from e2e.server import Machine
from e2e.talk import Talk

OPTIONS: Message = {"protocolVersion": 1, "clientId": "plain", "trusted": True}
NUMBERS = itertools.count(1)
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


@pytest.fixture(scope="module")
async def plain(shared_machine: Machine) -> AsyncIterator[Client]:
    async with shared_machine.editor(shared_machine.project("plain"), OPTIONS) as client:
        yield client


@pytest.fixture
async def talk(plain: Client, shared_machine: Machine, model: Script) -> AsyncIterator[Talk]:
    """A session of the test's own in a window without dialogs."""
    talk = await Talk.begin(plain, shared_machine.project(f"dialog-{next(NUMBERS)}"))
    yield talk
    await talk.abort(queue="clear")


async def test_dismissed_stays_open_and_is_offered_again(talk: Talk, model: Script) -> None:
    client, mark = talk.client, talk.client.mark()
    person = Person(client)
    model.plays(calls(("bash", {"command": "echo a > a"})), says("Done."))
    turn_id = (await talk.prompt("Run it."))["turnId"]
    shown = await client.wait_for("window/showMessageRequest", after=mark)
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
    assert (talk.folder / "a").exists()


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


async def test_reject_and_always_by_message(talk: Talk, model: Script) -> None:
    client, mark = talk.client, talk.client.mark()
    person = Person(client)
    person.chooses("Reject")
    model.plays(calls(("bash", {"command": "git status"})))
    await talk.prompt("Look.")
    assert (await talk.ended())["stopReason"] == "rejected"

    person.chooses("Always")
    model.plays(calls(("bash", {"command": "git status"})), says("Done."))
    assert (await talk.prompt("Look.", wait="idle"))["stopReason"] == "done"
    shown = client.seen("window/showMessageRequest", after=mark)
    assert "git status" in shown[-1]["message"]
    model.plays(calls(("bash", {"command": "git status"})), says("Done."))
    assert (await talk.prompt("Look.", wait="idle"))["stopReason"] == "done"
    assert len(client.seen("window/showMessageRequest", after=mark)) == len(shown) == 2


async def test_questions_are_shown_by_their_labels(talk: Talk, model: Script) -> None:
    client, mark = talk.client, talk.client.mark()
    person = Person(client)
    person.chooses("Blue")
    model.plays(calls(("question", QUESTION)), says("Blue."))
    assert (await talk.prompt("Ask me.", wait="idle"))["stopReason"] == "done"
    [shown] = client.seen("window/showMessageRequest", after=mark)
    assert [action["title"] for action in shown["actions"]] == ["Red", "Blue"]
    [told] = [message for message in model.requests[1]["messages"] if message["role"] == "tool"]
    assert "Blue" in told["content"]

    person.chooses(None)
    model.plays(calls(("question", QUESTION)))
    await talk.prompt("Ask me again.")
    assert (await talk.ended(after=client.mark()))["stopReason"] == "rejected"


async def test_a_question_without_options_answers_that_nobody_could(talk: Talk, model: Script) -> None:
    client, mark = talk.client, talk.client.mark()
    Person(client)
    model.plays(
        calls(("question", {"questions": [{"header": "Name", "question": "Which name?", "options": []}]})),
        says("I choose one."),
    )
    assert (await talk.prompt("Ask me.", wait="idle"))["stopReason"] == "done"
    assert client.seen("window/showMessageRequest", after=mark) == []


async def test_p17_an_abort_takes_the_message_back(talk: Talk, model: Script) -> None:
    """The client is told by `$/cancelRequest`; a late click is harmless."""
    client, mark = talk.client, talk.client.mark()
    person = Person(client)
    model.plays(calls(("bash", {"command": "echo a > a"})))
    await talk.prompt("Run it.")
    await client.wait_for("window/showMessageRequest", after=mark)
    await talk.abort()
    await client.wait_for("$/cancelRequest", after=mark)
    person.chooses("Allow once")
    model.plays(says("Here."))
    assert (await talk.prompt("Still there?", wait="idle"))["stopReason"] == "done"
    assert not (talk.folder / "a").exists()


async def test_a_client_that_cannot_show_messages_keeps_the_question(talk: Talk, model: Script) -> None:
    client, mark = talk.client, talk.client.mark()
    client.answers.clear()
    model.plays(calls(("bash", {"command": "echo a > a"})), says("Done."))
    turn_id = (await talk.prompt("Run it."))["turnId"]
    await client.wait_for("window/showMessageRequest", after=mark)
    await talk.reply(await talk.asked())
    assert (await talk.ended(turn_id))["stopReason"] == "done"
