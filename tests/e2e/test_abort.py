"""Abort is a barrier: when it is answered the turn has ended, and nothing of it comes later."""

import asyncio

import anyio
import pytest

from e2e.client import Client, Message
from e2e.model import Answer, C, Script, Status, calls, says
from e2e.server import Machine, running, unique
from e2e.talk import Talk

OF_A_TURN = ("turn/started", "turn/ended", "message/updated", "part/updated", "part/delta", "part/removed")


async def aborted(talk: Talk, model: Script, turn_id: str) -> None:
    """Aborts, and checks all that an abort promises."""
    assert await talk.abort() == {"aborted": True, "turnId": turn_id}
    mark = talk.client.mark()
    [end] = talk.seen("turn/ended", turnId=turn_id)
    assert end["stopReason"] == "cancelled"
    await settled(talk)
    model.plays(says("I am here."))
    result = await talk.prompt("Still there?", wait="idle")
    assert result["stopReason"] == "done"
    assert result["turnId"] != turn_id
    of_the_old_turn = {
        one["message"]["id"] for one in await talk.messages() if one["message"].get("parentId") != result["messageId"]
    } - {result["messageId"]}
    assert late(talk, of_the_old_turn, mark) == []
    assert len(talk.seen("turn/ended", turnId=turn_id)) == 1
    assert (await talk.texts())[-1] == "I am here."


def late(talk: Talk, message_ids: set[str], mark: int) -> list[Message]:
    """What came of these messages after the mark."""
    return [
        message
        for message in talk.client.log[mark:]
        if message.get("method") in OF_A_TURN
        and message["params"]["sessionId"] == talk.id
        and id_of(message["params"]) in message_ids
    ]


def id_of(params: Message) -> str:
    for name in ("message", "part"):
        if name in params:
            return params[name]["id"] if name == "message" else params[name]["messageId"]
    return params.get("messageId", "")


async def settled(talk: Talk) -> None:
    found = await talk.ask("session/get")
    assert found["status"]["type"] == "idle"
    assert "turn" not in found
    assert found["pending"] == {"permissions": [], "questions": []}
    for one in await talk.messages():
        if one["message"]["role"] == "assistant":
            assert one["message"]["time"]["completed"]
        for part in one["parts"]:
            if part["type"] == "tool":
                assert part["state"]["status"] in ("completed", "error")
            if part["type"] in ("text", "reasoning") and part.get("time"):
                assert part["time"]["end"]


async def test_l15_before_the_first_token(talk: Talk, model: Script) -> None:
    model.plays(says("never", before="never"))
    turn_id = (await talk.prompt("Speak."))["turnId"]
    await talk.wait("part/updated", lambda p: p["part"]["type"] == "step-start")
    await aborted(talk, model, turn_id)


async def test_l15_in_the_middle_of_a_text(talk: Talk, model: Script) -> None:
    model.plays(says("one two three four", 4, gate="never"))
    turn_id = (await talk.prompt("Speak."))["turnId"]
    got = await talk.first_text()
    await aborted(talk, model, turn_id)
    assert (await talk.texts())[0] == got["delta"]
    [cut] = [one for one in await talk.messages() if one["message"].get("error")]
    assert cut["message"]["error"]["name"] == "MessageAbortedError"
    assert cut["message"]["error"]["data"]["reason"] == "abort"


async def test_l15_in_the_middle_of_a_calls_arguments(talk: Talk, model: Script) -> None:
    arguments = {"filePath": str(talk.folder / "a.txt"), "content": "x" * 100}
    model.plays(calls(("write", arguments), gate="never"))
    turn_id = (await talk.prompt("Write."))["turnId"]
    await talk.wait("part/delta", field="raw")
    await aborted(talk, model, turn_id)
    assert not (talk.folder / "a.txt").exists()


FLOCK = {
    "children": "echo begun; sleep {n}",
    "grandchildren": "(sleep {n} & sleep {n}) & echo begun; wait",
    "setsid": "setsid sleep {n} & setsid sh -c 'sleep {n}; true' & echo begun; sleep {n}",
    "deaf": "trap '' TERM INT HUP; echo begun; while :; do sleep {n}; done",
    "background only": "nohup sleep {n} >/dev/null 2>&1 & echo begun; sleep {n}",
    "python": (
        "python -c 'import os, time; os.fork(); os.fork() or os.setsid(); "
        'print("begun", flush=True); time.sleep({n})\''
    ),
}


@pytest.mark.parametrize("name", list(FLOCK))
async def test_l15_in_a_command_leaves_no_process(talk: Talk, model: Script, name: str) -> None:
    number = unique()
    await talk.ask("session/update", mode="auto")
    model.plays(calls(("bash", {"command": FLOCK[name].replace("{n}", number)})))
    turn_id = (await talk.prompt("Run it."))["turnId"]
    if (asked := await asked_or_begun(talk)) is not None:
        await talk.reply(asked)
        await talk.output("begun")
    assert running(number)
    assert (await talk.abort())["aborted"] is True
    assert running(number) == []
    [end] = talk.seen("turn/ended", turnId=turn_id)
    assert end["stopReason"] == "cancelled"
    [tool] = await talk.tools()
    assert tool["state"]["metadata"]["interrupted"] is True
    assert "begun" in tool["state"]["metadata"]["output"]
    await settled(talk)
    model.plays(says("I am here."))
    assert (await talk.prompt("Still there?", wait="idle"))["stopReason"] == "done"


async def asked_or_begun(talk: Talk) -> Message | None:
    """A command that is not plain words may ask even in the mode `auto`."""
    asking = asyncio.create_task(talk.asked())
    running_ = asyncio.create_task(talk.output("begun"))
    done, rest = await asyncio.wait({asking, running_}, return_when=asyncio.FIRST_COMPLETED)
    for task in rest:
        task.cancel()
    await asyncio.gather(*rest, return_exceptions=True)
    return asking.result() if asking in done else None


async def test_l15_p17_while_asking(talk: Talk, model: Script) -> None:
    model.plays(calls(("bash", {"command": "echo ran > ran"}), ("bash", {"command": "echo ran > ran"})))
    turn_id = (await talk.prompt("Run it."))["turnId"]
    asked = await talk.asked()
    await aborted(talk, model, turn_id)
    [resolved] = talk.seen("permission/resolved")
    assert (resolved["permissionId"], resolved["outcome"], resolved["by"]) == (
        asked["permissionId"],
        "cancelled",
        "abort",
    )
    assert (await talk.reply(asked))["status"] == "superseded"
    assert not (talk.folder / "ran").exists()


async def test_l15_while_a_question_is_open(talk: Talk, model: Script) -> None:
    question = {"questions": [{"header": "H", "question": "Which?", "options": [{"label": "A"}, {"label": "B"}]}]}
    model.plays(calls(("question", question)))
    turn_id = (await talk.prompt("Ask me."))["turnId"]
    asked = await talk.questioned()
    await aborted(talk, model, turn_id)
    reply = await talk.client.request("question/reply", {"questionId": asked["questionId"], "answers": [["A"]]})
    assert reply["status"] == "superseded"


async def test_l15_in_the_wait_before_a_retry(talk: Talk, model: Script) -> None:
    model.plays(Status(429, {"error": {"message": "slow down"}}, {"retry-after": "60"}))
    turn_id = (await talk.prompt("Speak."))["turnId"]
    status = await talk.wait("session/status", lambda p: p["status"]["type"] == "retry")
    assert status["status"]["attempt"] >= 1
    assert "slow down" in status["status"]["message"]
    assert (await talk.ask("session/get"))["status"]["type"] == "retry"
    await aborted(talk, model, turn_id)


async def test_l15_twice_at_once_and_again(talk: Talk, model: Script) -> None:
    model.plays(says("one two", 2, gate="never"))
    turn_id = (await talk.prompt("Speak."))["turnId"]
    await talk.first_text()
    sent = [talk.client.send("session/abort", {"sessionId": talk.id}) for _ in range(3)]
    results = [await talk.client.answer(request_id) for request_id in sent]
    assert results[0] == {"aborted": True, "turnId": turn_id}
    assert all(result.get("turnId") in (turn_id, None) for result in results)
    assert await talk.abort() == {"aborted": False}
    assert len(talk.seen("turn/ended", turnId=turn_id)) == 1
    model.plays(says("I am here."))
    assert (await talk.prompt("Still there?", wait="idle"))["stopReason"] == "done"


async def test_l15_just_after_the_end_says_that_nothing_ran(talk: Talk, model: Script) -> None:
    model.plays(says("Done."))
    turn_id = (await talk.prompt("Speak."))["turnId"]
    end = await talk.ended(turn_id)
    assert await talk.abort() == {"aborted": False}
    assert await talk.abort(turnId=turn_id) == {"aborted": False}
    assert end["stopReason"] == "done"
    assert len(talk.seen("turn/ended")) == 1


async def test_an_idle_session_has_nothing_to_abort(talk: Talk) -> None:
    assert await talk.abort() == {"aborted": False}


async def test_abort_of_another_turn_is_refused(talk: Talk, model: Script) -> None:
    model.plays(says("one two", 2, gate="half"))
    turn_id = (await talk.prompt("Speak."))["turnId"]
    await talk.first_text()
    other = "trn_01ARZ3NDEKTSV4RRFFQ69G5FAV"
    error = await talk.client.refused("session/abort", {"sessionId": talk.id, "turnId": other})
    assert error.kind == "turn_mismatch"
    assert error.data["turnId"] == turn_id
    model.open("half")
    assert (await talk.ended(turn_id))["stopReason"] == "done"


async def test_a_prompt_with_the_abort_in_the_same_write_is_cancelled(talk: Talk, model: Script) -> None:
    """The prompt is accepted first; the abort that follows it finds its turn, whatever that has begun."""
    model.plays(says("never", before="never"))
    prompt = talk.send_prompt("Speak.", wait="idle")
    abort = talk.client.send("session/abort", {"sessionId": talk.id})
    assert (await talk.client.answer(abort))["aborted"] is True
    result = await talk.client.answer(prompt)
    assert result["stopReason"] == "cancelled"
    await settled(talk)


async def test_prompts_that_wait_for_the_idle_learn_of_the_abort(talk: Talk, model: Script) -> None:
    model.plays(says("one two", 2, gate="never"))
    first = talk.send_prompt("One.", wait="idle")
    await talk.first_text()
    steered = talk.send_prompt("Two.", wait="idle")
    await talk.wait("message/updated", lambda p: p["message"]["role"] == "user", after=talk.client.mark())
    await talk.abort()
    for request_id in (first, steered):
        assert (await talk.client.answer(request_id))["stopReason"] == "cancelled"
    assert [one["parts"][0]["text"] for one in await talk.messages() if one["message"]["role"] == "user"] == [
        "One.",
        "Two.",
    ]


async def test_the_abort_of_one_session_leaves_others_alone(
    talk: Talk, shared: Client, shared_machine: Machine, model: Script
) -> None:
    other = await Talk.begin(shared, talk.folder)
    model.plays(says("mine", 2, gate="never"), mark="MINE")
    model.plays(says("the other goes on", 4, gate="other"), mark="OTHER")
    await talk.prompt("MINE")
    turn_id = (await other.prompt("OTHER"))["turnId"]
    await talk.first_text()
    await other.first_text()
    await talk.abort()
    model.open("other")
    assert (await other.ended(turn_id))["stopReason"] == "done"
    assert await other.texts() == ["the other goes on"]


async def test_l11_abort_is_obeyed_while_the_client_does_not_read(machine: Machine, model: Script) -> None:
    folder = machine.project("flood")
    model.plays(
        Answer([C({"content": "begun "}), *[C({"content": f"{number:05d} " * 666}) for number in range(10_000)]])
    )
    async with machine.editor(folder) as client:
        talk = await Talk.begin(client, folder)
        turn_id = (await talk.prompt("Flood."))["turnId"]
        await talk.first_text()
        client.pause()
        model.fake.client_closed = anyio.Event()
        request_id = client.send("session/abort", {"sessionId": talk.id})
        with anyio.fail_after(10):
            await model.fake.client_closed.wait()
        client.go_on()
        assert (await client.answer(request_id))["aborted"] is True
        [end] = talk.seen("turn/ended", turnId=turn_id)
        assert end["stopReason"] == "cancelled"
        await settled(talk)


async def test_an_abort_right_behind_the_very_first_prompt_where_nothing_is_set_up(machine: Machine) -> None:
    """No settings at all: which model there is has still to be found out when the abort comes."""
    machine.config.unlink()
    folder = machine.project("fresh")
    async with machine.editor(folder) as client:
        talk = await Talk.begin(client, folder)
        prompt = talk.send_prompt("Speak.", wait="idle")
        abort = client.send("session/abort", {"sessionId": talk.id})
        assert (await client.answer(abort))["aborted"] is True
        assert (await client.answer(prompt))["stopReason"] == "cancelled"
        await settled(talk)
