"""The main job on a real repository: the model searches, reads, edits and runs a test; the editor decides."""

import json
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest

from e2e.client import Client, Message
from e2e.mirror import Mirror
from e2e.model import Script, calls, says
from e2e.server import Machine
from e2e.talk import Talk

WRONG = "def total(numbers):\n    return sum(numbers[1:])\n"
RIGHT = "def total(numbers):\n    return sum(numbers)\n"
TEST = "from prices import total\n\n\ndef test_total():\n    assert total([1, 2, 3]) == 6\n"
RUN = "python -m pytest -p no:cacheprovider -q test_prices.py"


@pytest.fixture
def repository(machine: Machine) -> Path:
    folder = machine.project("shop", {"prices.py": WRONG, "test_prices.py": TEST, "README.md": "# Shop\n"})
    for command in (["init", "-q"], ["add", "."], ["-c", "user.name=t", "-c", "user.email=t@e", "commit", "-qm", "a"]):
        subprocess.run(["git", *command], cwd=folder, check=True)
    return folder


def job(folder: Path) -> list:
    """What the model does, step by step."""
    prices = str(folder / "prices.py")
    edit = {"filePath": prices, "oldString": "sum(numbers[1:])", "newString": "sum(numbers)"}
    return [
        calls(("grep", {"pattern": "def total"}), words="I look for the function first. ", ids="grep"),
        calls(("read", {"filePath": prices}), ids="read"),
        calls(("edit", edit), words="The first number is left out. ", ids="edit"),
        calls(("bash", {"command": RUN, "description": "Run the test"}), ids="bash"),
        says("Fixed: `total` left out the first number. The test passes now.", 6, gate="half"),
    ]


async def done(talk: Talk, model: Script) -> tuple[Message, Message, Message]:
    """Leads through the job; what was asked about the edit, about the command, and how the turn ended."""
    turn_id = (await talk.prompt("The test of total() fails. Please fix it."))["turnId"]
    edit = await talk.asked(permission="edit")
    assert (await talk.reply(edit))["status"] == "accepted"
    command = await talk.asked(permission="bash")
    await talk.reply(command)
    await talk.first_text(after=talk.client.mark())
    assert not talk.seen("turn/ended"), "the text came before the end"
    model.open("half")
    return edit, command, await talk.ended(turn_id)


async def test_the_job_is_done_and_the_editor_saw_all_of_it(machine: Machine, repository: Path, model: Script) -> None:
    model.plays(*job(repository))
    async with machine.editor(repository) as client:
        talk = await Talk.begin(client, repository)
        edit, command, end = await done(talk, model)

        assert (repository / "prices.py").read_text() == RIGHT
        assert subprocess.run([sys.executable, *RUN.split()[1:]], cwd=repository, capture_output=True).returncode == 0
        assert subprocess.run(["git", "diff", "--stat"], cwd=repository, capture_output=True).stdout.count(b"|") == 1

        [diff] = edit["metadata"]["files"]
        assert diff["uri"] == (repository / "prices.py").as_uri()
        assert "-    return sum(numbers[1:])\n+    return sum(numbers)" in diff["patch"]
        assert command["metadata"]["command"] == RUN
        assert {option["kind"] for option in command["options"]} >= {"once", "reject"}

        assert end["stopReason"] == "done"
        assert end["usage"]["tokens"]["input"] + end["usage"]["tokens"]["cache"]["read"] == 500
        assert end["usage"]["tokens"]["output"] == 100
        assert end["usage"]["cost"] == pytest.approx((500 * 1.0 + 100 * 2.0) / 1e6)

        grep, read, edited, ran = await talk.tools()
        assert "prices.py" in grep["state"]["output"]
        assert "return sum(numbers[1:])" in read["state"]["output"]
        assert edited["state"]["status"] == "completed"
        assert ran["state"]["status"] == "completed"
        assert "1 passed" in ran["state"]["output"]
        assert talk.seen("file/edited", uri=(repository / "prices.py").as_uri())
        assert [part["files"] for part in await talk.parts("patch")] == [[str(repository / "prices.py")]]

        assert_deltas_make_the_texts(client, talk, await talk.messages())
        assert_prefix_is_shared([request.body for request in model.fake.requests])


async def test_the_history_is_there_after_a_restart(machine: Machine, repository: Path, model: Script) -> None:
    model.plays(*job(repository))
    async with machine.editor(repository) as client:
        talk = await Talk.begin(client, repository)
        await done(talk, model)
        before = await talk.messages()
        assert await client.shut_down() == 0

    async with machine.editor(repository) as client:
        listed = (await client.request("session/list", {"directory": str(repository)}))["sessions"]
        assert [session["id"] for session in listed] == [talk.id]
        again = talk.on(client)
        assert await again.messages() == before
        model.also(says("You are welcome."))
        assert (await again.prompt("Thank you.", wait="idle"))["stopReason"] == "done"
        assert_prefix_is_shared([request.body for request in model.fake.requests])
        assert (await again.texts())[-1] == "You are welcome."


async def test_the_fix_of_a_test_that_still_fails_says_so(machine: Machine, repository: Path, model: Script) -> None:
    """The model reads the exit code: a failing command is a result, not an error of ours."""
    model.plays(calls(("bash", {"command": RUN})), says("It still fails."))
    async with machine.editor(repository) as client:
        talk = await Talk.begin(client, repository)
        await talk.prompt("Run the test.")
        await talk.reply(await talk.asked())
        await talk.ended()
        [ran] = await talk.tools()
        assert "1 failed" in ran["state"]["output"]
        [told] = [message for message in model.requests[1]["messages"] if message["role"] == "tool"]
        assert "exit code 1" in told["content"].lower() or "exit code: 1" in told["content"].lower()


def assert_deltas_make_the_texts(client: Client, talk: Talk, messages: list[Message]) -> None:
    mirror = Mirror(talk.id)
    grown: dict[str, Message] = {}
    for message in client.log:
        if message.get("method") == "part/updated" and message["params"]["part"]["id"] in mirror.parts:
            grown[message["params"]["part"]["id"]] = mirror.parts[message["params"]["part"]["id"]]
        if "method" in message:
            mirror.notified(message["method"], message["params"])
    assert mirror.misfits == []
    texts = [part for one in messages for part in one["parts"] if part["type"] == "text" and part.get("time")]
    assert [grown[part["id"]]["text"] for part in texts] == [part["text"] for part in texts]
    assert len([text for text in texts if text["text"]]) == 3
    tools = [part for one in messages for part in one["parts"] if part["type"] == "tool"]
    for tool in tools:
        raw = "".join(p["delta"] for p in talk.seen("part/delta", partId=tool["id"], field="raw"))
        assert json.loads(raw) == tool["state"]["input"]


def assert_prefix_is_shared(bodies: list[bytes]) -> None:
    """Byte for byte, in the bodies as they came: the tools, then each element of the messages."""
    assert len(bodies) > 1
    for earlier, later in pairwise(bodies):
        assert elements(earlier, "tools") == elements(later, "tools")
        old, new = elements(earlier, "messages"), elements(later, "messages")
        assert new[: len(old)] == old
        assert len(new) > len(old)


def elements(body: bytes, name: str) -> list[str]:
    """The elements of a member of the body that is an array, as they are written there."""
    text = body.decode()
    decoder = json.JSONDecoder()
    place = top_level(text, name)
    found: list[str] = []
    while text[place] != "]":
        if text[place] in "[, \n":
            place += 1
            continue
        _, end = decoder.raw_decode(text, place)
        found.append(text[place:end])
        place = end
    return found


def top_level(text: str, name: str) -> int:
    """Where the value of a member of the outer object begins."""
    decoder, place = json.JSONDecoder(), 1
    while True:
        while text[place] in ", \n":
            place += 1
        key, place = decoder.raw_decode(text, place)
        while text[place] in ": ":
            place += 1
        if key == name:
            return place
        _, place = decoder.raw_decode(text, place)
