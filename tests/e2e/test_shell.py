"""The user's own command: no model, nothing asked; the next turn's model sees it."""

import os

import pytest

from e2e.client import RpcError
from e2e.model import Script, says
from e2e.server import running, unique
from e2e.talk import Talk


async def test_it_runs_at_once_with_live_output(talk: Talk, model: Script) -> None:
    os.mkfifo(talk.folder / "gate")
    started = await talk.ask("session/shell", command='echo first; read -r line < gate; echo "last $line"; exit 3')
    delta = await talk.output("first")
    assert delta["partId"] == started["partId"]
    assert not talk.seen("turn/ended")
    assert (await talk.ask("session/get"))["status"]["type"] == "busy"
    (talk.folder / "gate").write_text("word\n")
    end = await talk.ended(started["turnId"])
    assert end["stopReason"] == "done"
    [part] = await talk.tools()
    assert part["id"] == started["partId"]
    assert part["state"]["status"] == "completed"
    assert "first\nlast word" in part["state"]["output"]
    assert "3" in part["state"]["output"]
    said = "".join(p["delta"] for p in talk.seen("part/delta", partId=part["id"]))
    assert said.startswith("first\nlast word")
    assert model.requests == []

    model.plays(says("You ran echo."))
    await talk.prompt("What did I run?", wait="idle")
    told = model.requests[0]["messages"]
    assert any(message["role"] == "tool" and "last word" in message["content"] for message in told)


async def test_l15_abort_ends_it_and_its_children(talk: Talk, model: Script) -> None:
    number = unique()
    started = await talk.ask("session/shell", command=f"setsid sleep {number} & echo begun; sleep {number}")
    await talk.output("begun")
    assert await talk.abort() == {"aborted": True, "turnId": started["turnId"]}
    assert running(number) == []
    [end] = talk.seen("turn/ended")
    assert end["stopReason"] == "cancelled"
    [part] = await talk.tools()
    assert part["state"]["metadata"]["interrupted"] is True
    model.plays(says("Fine."))
    assert (await talk.prompt("Go on.", wait="idle"))["stopReason"] == "done"


async def test_a_prompt_behind_it_waits_for_its_end(talk: Talk, model: Script) -> None:
    os.mkfifo(talk.folder / "gate")
    started = await talk.ask("session/shell", command="echo begun; cat gate")
    await talk.output("begun")
    model.plays(says("I saw it."))
    behind = await talk.prompt("And?")
    assert behind["state"] == "queued"
    assert behind["turnId"] != started["turnId"]
    assert model.requests == []
    for method, params in (("session/shell", {"command": "true"}), ("session/continue", {})):
        with pytest.raises(RpcError) as refused:
            await talk.ask(method, **params)
        assert refused.value.kind == "session_busy"
    (talk.folder / "gate").write_text("from the gate\n")
    end = await talk.ended(behind["turnId"])
    assert end["stopReason"] == "done"
    assert any("from the gate" in str(message["content"]) for message in model.requests[0]["messages"])


async def test_an_abort_of_it_also_drops_the_turn_behind_but_not_the_prompt(talk: Talk, model: Script) -> None:
    number = unique()
    started = await talk.ask("session/shell", command=f"echo begun; sleep {number}")
    await talk.output("begun")
    behind = talk.send_prompt("And?", wait="idle")
    await talk.wait("message/updated", lambda p: p["message"]["role"] == "user", after=talk.client.mark())
    assert (await talk.abort())["turnId"] == started["turnId"]
    result = await talk.client.answer(behind)
    assert result["stopReason"] == "cancelled"
    assert model.requests == []
    model.plays(says("Both."))
    assert (await talk.prompt("And now?", wait="idle"))["stopReason"] == "done"
    said = str(model.requests[0]["messages"])
    assert "And?" in said
    assert "And now?" in said


async def test_an_abort_of_the_turn_behind_lets_the_command_go_on(talk: Talk, model: Script) -> None:
    os.mkfifo(talk.folder / "gate")
    started = await talk.ask("session/shell", command="echo begun; cat gate")
    await talk.output("begun")
    behind = await talk.prompt("And?")
    assert await talk.abort(turnId=behind["turnId"]) == {"aborted": True, "turnId": behind["turnId"]}
    (talk.folder / "gate").write_text("from the gate\n")
    assert (await talk.ended(started["turnId"]))["stopReason"] == "done"
    await talk.idle()
    assert talk.seen("turn/started", turnId=behind["turnId"]) == []
    assert model.requests == []


async def test_a_time_limit_ends_it(talk: Talk) -> None:
    number = unique()
    started = await talk.ask("session/shell", command=f"echo begun; sleep {number}", timeoutMs=300)
    await talk.ended(started["turnId"])
    assert running(number) == []
    [part] = await talk.tools()
    assert "begun" in part["state"]["output"]


async def test_in_another_folder_and_idempotent(talk: Talk) -> None:
    (talk.folder / "sub").mkdir()
    params = {"command": "pwd; echo x >> count", "cwd": str(talk.folder / "sub")}
    message_id = "msg_01ARZ3NDEKTSV4RRFFQ69G5FD1"
    first = await talk.ask("session/shell", messageId=message_id, **params)
    await talk.ended(first["turnId"])
    again = await talk.ask("session/shell", messageId=message_id, **params)
    assert again == first
    assert (talk.folder / "sub" / "count").read_text() == "x\n"
    [part] = await talk.tools()
    assert str(talk.folder / "sub") in part["state"]["output"]
    with pytest.raises(RpcError) as refused:
        await talk.ask("session/shell", messageId=message_id, command="true")
    assert refused.value.kind == "conflict"
    with pytest.raises(RpcError) as refused:
        await talk.ask("session/shell", command="true", cwd="/no/such/folder")
    assert "/no/such/folder" in refused.value.message


async def test_it_has_no_terminal_and_no_key(talk: Talk) -> None:
    started = await talk.ask("session/shell", command="echo TERM=$TERM; env; cat; [ -t 0 ] || echo no terminal")
    await talk.ended(started["turnId"])
    [part] = await talk.tools()
    assert "TERM=dumb" in part["state"]["output"]
    assert "no terminal" in part["state"]["output"]
    assert "a-key-of-the-tests" not in part["state"]["output"]
