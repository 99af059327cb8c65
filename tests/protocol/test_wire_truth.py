"""What the real program sends is what the table of messages says: every served message, in one long conversation."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
from pydantic import TypeAdapter

from agentls.protocol.methods import NOTIFICATIONS, REQUESTS
from agentls.schema.session import Session
from e2e.client import Client, Message
from e2e.model import C, Gate, Script, calls, data, says, scripted
from e2e.server import Machine
from fakes.replies import answer, text
from protocol.truth import faults, hold_to_the_table

# Only for a client that does not read, and for what cannot be stored.
RARE = {"session/resync", "notice"}
LATER = "the words of another turn"


class Recorder:
    """Sends requests and keeps which were answered with a result."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.asked: set[str] = set()

    async def ask(self, method: str, **params: Any) -> Any:
        result = await self.client.request(method, params)
        self.asked.add(method)
        return result

    async def wait(self, method: str, **members: Any) -> Message:
        return await self.client.wait_for(method, **members)


@pytest.fixture
async def script() -> AsyncIterator[Script]:
    async with scripted() as script:
        yield script


async def work(it: Recorder, script: Script, session_id: str, file: str) -> None:
    """A turn with thinking, a broken attempt, tools of every end, a permission and a question."""
    edit = {"filePath": file, "oldString": "one", "newString": "two"}
    todos = [{"content": "look", "status": "completed"}, {"content": "change", "status": "in_progress"}]
    asked = {"header": "Colour", "question": "Which?", "options": [{"label": "red"}]}
    script.plays(
        answer([*text("lost", 1), data({"error": {"message": "overloaded", "code": 503}})]),
        answer([C({"reasoning_content": "I think."})], text("I look.", 2)),
        calls(("todowrite", {"todos": todos}), ("read", {"filePath": file}), ("read", {"filePath": "none"}), ids="a"),
        calls(("edit", edit), ids="b"),
        calls(("question", {"questions": [asked]}), ids="c"),
        calls(("bash", {"command": "echo out; exit 3"}), ids="d"),
        says("Done.", 3),
    )
    parts = [{"type": "text", "text": "go"}, {"type": "file", "uri": f"file://{file}"}]
    ready = await it.ask("session/prompt", sessionId=session_id, parts=parts, wait="idle")
    assert ready["stopReason"] == "done"
    turn = await it.ask("session/prompt", sessionId=session_id, parts=[{"type": "text", "text": "go on"}])
    edit_asked = await it.wait("permission/asked", permission="edit")
    await it.ask("permission/list", sessionId=session_id)
    await it.ask("session/attach", sessionId=session_id)
    await it.ask("permission/reply", permissionId=edit_asked["permissionId"], reply="always", scope="session")
    await it.ask("permission/rules", sessionId=session_id)
    question = await it.wait("question/asked")
    await it.ask("question/list")
    await it.ask("session/get", sessionId=session_id)
    await it.ask("question/reply", questionId=question["questionId"], answers=[["red"]])
    command = await it.wait("permission/asked", permission="bash")
    await it.ask("permission/reply", permissionId=command["permissionId"], reply="once")
    assert (await it.wait("turn/ended", turnId=turn["turnId"]))["stopReason"] == "done"


async def interrupt(it: Recorder, script: Script, session_id: str) -> None:
    """A queue, an abort, a dismissed question, the user's own command, and what is read afterwards."""
    script.plays(answer([*text("half", 1), Gate("never")]))
    at = it.client.mark()
    await it.ask("session/prompt", sessionId=session_id, parts=[{"type": "text", "text": LATER}])
    await it.client.wait_for("part/delta", after=at)
    words = [{"type": "text", "text": "later"}]
    queued = await it.ask("session/prompt", sessionId=session_id, parts=words, delivery="queue")
    await it.ask("queue/list", sessionId=session_id)
    await it.ask("session/abort", sessionId=session_id)
    await it.ask("queue/remove", sessionId=session_id, messageId=queued["messageId"])
    script.plays(calls(("question", {"questions": [{"header": "", "question": "What?"}]}), ids="e"))
    at = it.client.mark()
    await it.ask("session/continue", sessionId=session_id)
    question = await it.client.wait_for("question/asked", after=at)
    await it.ask("question/reject", questionId=question["questionId"])
    await it.client.wait_for("turn/ended", after=at)
    shell = await it.ask("session/shell", sessionId=session_id, command="echo mine; exit 2")
    await it.wait("turn/ended", turnId=shell["turnId"])
    page = await it.ask("session/messages", sessionId=session_id)
    await it.ask("session/messages", sessionId=session_id, limit=2)
    await it.ask("part/get", sessionId=session_id, partId=page["messages"][-1]["parts"][0]["id"])


async def look_around(it: Recorder, session_id: str, folder: str) -> None:
    got = await it.ask("session/get", sessionId=session_id)
    await it.ask("session/attach", sessionId=session_id, since=got["position"] | {"seq": 0})
    [rule, *_] = (await it.ask("permission/rules"))["rules"]
    await it.ask("permission/forget", rule=rule)
    await it.ask("session/export", sessionId=session_id, format="markdown")
    await it.ask("session/update", sessionId=session_id, title="Renamed", mode="acceptEdits")
    await it.ask("session/list", limit=1)
    for method in ("agent/list", "model/list", "tool/list", "config/get"):
        await it.ask(method, directory=folder)
    await it.ask("server/status")
    await it.ask("workspace/trust", directory=folder)
    await it.ask("file/find", query="a", directory=folder)
    await it.ask("session/delete", sessionId=session_id)


async def test_every_served_message_is_sent_as_the_table_has_it(
    tmp_path_factory: pytest.TempPathFactory, script: Script
) -> None:
    machine = Machine(tmp_path_factory.mktemp("machine"), script.url)
    folder = machine.project("first", {"a.txt": "one\n", "agentls.json": '{"no_such_key": 1}\n'})
    async with machine.editor(folder) as client:
        it = Recorder(client)
        session_id = (await it.ask("session/create", directory=str(folder)))["session"]["id"]
        await work(it, script, session_id, str(folder / "a.txt"))
        await interrupt(it, script, session_id)
        await look_around(it, session_id, str(folder))
        await client.wait_for("session/deleted")

        assert hold_to_the_table(client)
        told = {message["method"] for message in client.log if "method" in message and "id" not in message}
        assert {row.name for row in NOTIFICATIONS if row.served} - told == RARE
        assert {row.name for row in REQUESTS if row.served and row.direction == "toServer"} - it.asked == set()


def test_a_null_an_unknown_and_a_missing_member_are_each_a_fault() -> None:
    session = {"id": "s", "projectId": "p", "directory": "/", "title": "t", "agent": "a", "time": {"created": 1}}
    model: TypeAdapter[Any] = TypeAdapter(Session)
    assert faults(model, session) == ["time.updated: Field required"]
    whole = session | {"time": {"created": 1, "updated": 2}}
    assert faults(model, whole) == []
    assert faults(model, whole | {"parentId": None}) == [".parentId is null"]
    assert len(faults(model, whole | {"seq": 4})) == 1


@pytest.mark.parametrize(
    ("method", "params", "path"),
    [
        ("session/create", {"directory": "/no/such/folder"}, "directory"),
        ("session/list", {"cursor": "x"}, "cursor"),
        ("session/messages", {"before": "x"}, "before"),
        ("session/prompt", {"parts": []}, "parts"),
        ("session/prompt", {"parts": [{"type": "text", "text": "a"}], "messageId": "msg_1"}, "messageId"),
        ("session/shell", {"command": " "}, "command"),
        ("session/shell", {"command": "ls", "cwd": "here"}, "cwd"),
        ("session/prompt", {"parts": [{"type": "text"}]}, "parts.0.text.text"),
    ],
)
async def test_wrong_params_are_named_by_their_place(
    tmp_path_factory: pytest.TempPathFactory, method: str, params: Message, path: str
) -> None:
    machine = Machine(tmp_path_factory.mktemp("machine"), "http://127.0.0.1:9/v1")
    async with machine.editor(machine.project("first")) as client:
        session_id = (await client.request("session/create"))["session"]["id"]
        refused = await client.refused(method, {"sessionId": session_id} | params)
    assert (refused.kind, [error["path"] for error in refused.data["errors"]]) == ("invalid_params", [path])
    assert all(error["message"] for error in refused.data["errors"])
