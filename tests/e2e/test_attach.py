"""A client that was cut off, wherever it was, ends in the state of one that never was."""

import asyncio
import os
import random
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from e2e.client import Client, Message
from e2e.mirror import Mirror
from e2e.model import Answer, C, Script, calls, data, says
from e2e.server import Machine
from e2e.talk import Talk

QUESTION = {"questions": [{"header": "H", "question": "Go on?", "options": [{"label": "Yes"}, {"label": "No"}]}]}
LAST = ("All is done, and these are the words at the end of it.", 12)
BROKEN = Answer(
    [
        C({"reasoning_content": "Hm. "}),
        C({"content": "Half of "}),
        data({"error": {"message": "overloaded", "code": 529}}),
    ]
)
TODOS = {"todos": [{"content": "first", "status": "completed"}, {"content": "second", "status": "in_progress"}]}


@dataclass
class Attach:
    """An `attach` that was sent when `cut` messages of the log were known to the client that sends it."""

    cut: int
    since: Message | None
    request_id: int


def plan(folder: Path) -> list[Answer]:
    """A turn with every kind of event: texts, calls, questions, todos, a failing tool, output of a command."""
    path = str(folder / "a.txt")
    shell = "for i in 1 2 3 4 5 6; do echo line $i; sleep 0.04; done"
    return [
        calls(("read", {"filePath": path}), ("grep", {"pattern": "one"}), words="Reading 测试 🙂. ", ids="a"),
        calls(("todowrite", TODOS), ("read", {"filePath": path + ".missing"}), ids="b"),
        calls(("edit", {"filePath": path, "oldString": "one", "newString": "two"}), ids="c"),
        calls(("bash", {"command": shell}), words="Now a command. ", ids="d"),
        calls(("question", QUESTION), ids="e"),
    ]


@dataclass
class Record:
    """A turn as it was sent: the first snapshot, and what came after it; with what those who came back asked."""

    session_id: str
    first: Message
    log: list[Message]
    attaches: list[Attach]

    def copy(self, one: Attach | None) -> Mirror:
        """The copy of a client that saw all but what came between its cut and its answer."""
        mirror = Mirror(self.session_id)
        mirror.attached(self.first)
        back = one is None
        for place, message in enumerate(self.log):
            if one is not None and not back and message.get("id") == one.request_id and "method" not in message:
                if one.since is None:
                    mirror = Mirror(self.session_id)
                mirror.attached(message["result"])
                back = True
            elif "method" in message and (back or (one is not None and place < one.cut)):
                mirror.notified(message["method"], message["params"])
        assert back
        return mirror


async def recorded(talk: Talk, model: Script, seed: int) -> Record:
    """Plays the turn; after each message that comes, a few clients that were cut off earlier attach."""
    client, dice = talk.client, random.Random(seed)
    model.plays(*plan(talk.folder), *([BROKEN] if seed == 1 else []), says(*LAST), says("That, too.", 3))
    (talk.folder / "a.txt").write_text("one\n")
    first = await talk.ask("session/attach")
    whole = Mirror(talk.id)
    whole.attached(first)
    begin = done = client.mark()
    positions = [(0, {"epoch": whole.epoch, "seq": whole.seq})]
    attaches: list[Attach] = []
    talk.send_prompt("Do it all.")
    talk.send_prompt("And this later.", delivery="queue")
    ends = 0
    while ends < 2:
        message = await next_message(client, done)
        done += 1
        if "method" not in message:
            continue
        method, params = message["method"], message["params"]
        whole.notified(method, params)
        positions.append((done - begin, {"epoch": whole.epoch, "seq": whole.seq}))
        if method == "permission/asked":
            client.send("permission/reply", {"permissionId": params["permissionId"], "reply": "once"})
        if method == "question/asked":
            client.send("question/reply", {"questionId": params["questionId"], "answers": [["Yes"]]})
        ends += method == "turn/ended"
        for cut, since in (dice.choice(positions), positions[-1]):
            attaches.append(attach(client, talk, cut, since))
        if dice.random() < 0.3:
            attaches.append(attach(client, talk, done - begin, None))
    await talk.idle(after=client.place_of(talk.seen("turn/ended")[-1]))
    for one in attaches:
        await client.response(one.request_id)
    return Record(talk.id, first, client.log[begin:], attaches)


def attach(client: Client, talk: Talk, cut: int, since: Message | None) -> Attach:
    params = {"sessionId": talk.id} | ({} if since is None else {"since": since})
    return Attach(cut, since, client.send("session/attach", params))


async def next_message(client: Client, place: int) -> Message:
    async with asyncio.timeout(20):
        while len(client.log) <= place:
            client._arrived.clear()
            await client._arrived.wait()
    return client.log[place]


@pytest.mark.parametrize("seed", [1, 2, 3])
async def test_whoever_comes_back_is_where_the_others_are(talk: Talk, model: Script, seed: int) -> None:
    """A property over a recorded turn: wherever a client was cut off, and whenever it came back."""
    record = await recorded(talk, model, seed)
    whole = record.copy(None)
    assert whole.misfits == []
    assert len(record.attaches) > 100
    for one in record.attaches:
        copy = record.copy(one)
        answer = await talk.client.answer(one.request_id)
        assert answer["truncated"] is False
        assert ("changes" in answer) == (one.since is not None)
        assert copy.misfits == [], one
        assert copy.state() == whole.state(), one
        assert (copy.epoch, copy.seq) == (whole.epoch, whole.seq)
    fresh = Mirror(talk.id)
    fresh.attached(await talk.ask("session/attach"))
    assert fresh.state() == whole.state()


async def test_after_a_kill_every_earlier_position_leads_to_the_same_state(machine: Machine, model: Script) -> None:
    folder = machine.project("killed", {"a.txt": "one\n"})
    model.plays(*plan(folder)[:2], says("Half a text, then the end comes.", 6, gate="never"))
    async with machine.editor(folder) as client:
        talk = await Talk.begin(client, folder)
        begin = client.mark()
        first = await talk.ask("session/attach")
        await talk.prompt("Do it all.")
        await talk.wait("part/delta", lambda p: p["field"] == "text" and "Half" in p["delta"])
        await client.kill()
        log = client.log
    async with machine.editor(folder) as client:
        talk = talk.on(client)
        fresh = Mirror(talk.id)
        fresh.attached(await talk.ask("session/attach"))
        for cut in range(begin + 1, len(log) + 1):
            mirror = Mirror(talk.id)
            mirror.attached(first)
            for message in log[begin + 1 : cut]:
                if "method" in message:
                    mirror.notified(message["method"], message["params"])
            since = {"epoch": mirror.epoch, "seq": mirror.seq}
            result = await talk.ask("session/attach", since=since)
            assert result["truncated"] is False
            mirror.attached(result)
            assert mirror.state() == fresh.state(), cut


async def test_a_foreign_epoch_or_a_seq_of_the_future_gets_a_snapshot(talk: Talk, model: Script) -> None:
    model.plays(says("Hello."))
    await talk.prompt("Hi.", wait="idle")
    position = (await talk.ask("session/attach"))["position"]
    for since in (
        {"epoch": "of another database", "seq": 1},
        {"epoch": position["epoch"], "seq": position["seq"] + 1},
        {"epoch": position["epoch"], "seq": 2**31 - 1},
    ):
        result = await talk.ask("session/attach", since=since)
        assert result["truncated"] is True
        assert "changes" not in result
        assert len(result["snapshot"]["messages"]) == 2
    same = await talk.ask("session/attach", since=position)
    assert (same["truncated"], same["changes"], same["position"]) == (False, [], position)


@pytest.mark.parametrize("field", ["text", "raw", "output"])
async def test_reads_give_the_growing_part_as_it_is(talk: Talk, model: Script, field: str) -> None:
    """What a read shows, and the deltas after it, are the whole: nothing twice, nothing missing."""
    command = "echo first; read -r line < gate; echo last"
    answers: dict[str, Answer] = {
        "text": says("one two three four", 4, gate="half"),
        "raw": calls(("read", {"filePath": str(talk.folder / "none")}), gate="half"),
        "output": calls(("bash", {"command": command})),
    }
    model.plays(answers[field], says("End."))
    if field == "output":
        await talk.ask("session/update", mode="auto")
        os.mkfifo(talk.folder / "gate")
    await talk.prompt("Go.")
    delta = await talk.wait("part/delta", field=field)
    live: list[Any] = [
        (await talk.ask("part/get", partId=delta["partId"]))["part"],
        *[part for part in await talk.parts() if part["id"] == delta["partId"]],
        *[
            part
            for one in (await talk.ask("session/attach"))["snapshot"]["messages"]
            for part in one["parts"]
            if part["id"] == delta["partId"]
        ],
        *[
            change["value"]
            for change in (await talk.ask("session/attach", since=(await talk.ask("session/get"))["position"]))[
                "changes"
            ]
        ],
    ]
    assert len(live) == 4
    assert all(part["id"] == delta["partId"] for part in live)
    deltas = talk.seen("part/delta", partId=delta["partId"])
    assert live[-1]["rev"] == deltas[-1]["rev"]
    model.open("half")
    if field == "output":
        (talk.folder / "gate").write_text("\n")
    await talk.ended()


async def test_deltas_can_be_declined(machine: Machine, model: Script) -> None:
    folder = machine.project("quiet")
    options = {"protocolVersion": 1, "ui": {"permission": True}, "events": {"deltas": False}, "trusted": True}
    async with machine.editor(folder, options) as client:
        talk = await Talk.begin(client, folder)
        model.plays(says("Hello there, all of you.", 8))
        await talk.prompt("Hi.")
        await talk.ended()
        assert talk.seen("part/delta") == []
        texts = [p["part"]["text"] for p in talk.seen("part/updated") if p["part"]["type"] == "text"]
        assert texts[-1] == "Hello there, all of you."


async def test_only_those_attached_hear_of_parts_but_all_of_the_folder_hear_of_sessions(
    machine: Machine, model: Script
) -> None:
    folder = machine.project("heard")
    async with machine.editor(folder) as client:
        talk = await Talk.begin(client, folder)
        model.plays(calls(("bash", {"command": "echo hi"})))
        await talk.prompt("Run it.")
        asked = await talk.asked()
        assert await client.shut_down() == 0
    async with machine.editor(folder) as client:
        talk = talk.on(client)
        model.plays(says("Done.", 4))
        await talk.reply(asked)
        await talk.wait("permission/resolved", permissionId=asked["permissionId"])
        await talk.idle()
        assert talk.seen("part/updated") == talk.seen("part/delta") == talk.seen("turn/ended") == []
