"""The ways of a prompt: steered, queued, refused, stored, waited for, cancelled, sent twice."""

import pytest

from e2e.client import Client, RpcError
from e2e.model import Script, Status, calls, says
from e2e.talk import Talk

NEW_ID = "msg_01ARZ3NDEKTSV4RRFFQ69G5F"


def user_texts(request: dict) -> list[str]:
    return [str(message["content"]) for message in request["messages"] if message["role"] == "user"]


async def test_c15_a_steered_prompt_joins_the_running_turn_at_its_next_step(talk: Talk, model: Script) -> None:
    model.plays(calls(("list", {}), words="Looking. ", gate="half"), says("Both answered."))
    first = await talk.prompt("One.")
    await talk.first_text()
    second = await talk.prompt("Two.", delivery="steer")
    assert (second["state"], second["turnId"]) == ("running", first["turnId"])
    model.open("half")
    end = await talk.ended(first["turnId"])
    assert end["stopReason"] == "done"
    assert "Two." not in str(user_texts(model.requests[0]))
    assert "Two." in user_texts(model.requests[1])[-1]
    assert len(talk.seen("turn/started")) == 1


async def test_c15_a_prompt_steered_into_the_last_step_is_still_answered(talk: Talk, model: Script) -> None:
    model.plays(says("The answer to one.", 2, gate="half"), says("The answer to two."))
    first = await talk.prompt("One.")
    await talk.first_text()
    waiting = talk.send_prompt("Two.", wait="idle")
    await talk.wait("message/updated", lambda p: p["message"]["role"] == "user", after=talk.client.mark())
    model.open("half")
    result = await talk.client.answer(waiting)
    assert (result["turnId"], result["stopReason"]) == (first["turnId"], "done")
    assert await talk.texts() == ["The answer to one.", "The answer to two."]
    last = (await talk.messages())[-1]["message"]
    assert result["message"]["id"] == last["id"]
    assert last["parentId"] == result["messageId"]


async def test_c15_a_queued_prompt_gets_a_turn_of_its_own(talk: Talk, model: Script) -> None:
    model.plays(says("First answer.", 2, gate="half"), says("Second answer."), says("Third answer."))
    first = await talk.prompt("One.")
    await talk.first_text()
    second = await talk.prompt("Two.", delivery="queue")
    third = await talk.prompt("Three.", delivery="queue")
    assert (second["state"], "turnId" in second) == ("queued", False)
    listed = (await talk.ask("queue/list"))["items"]
    assert [(item["messageId"], item["text"]) for item in listed] == [
        (second["messageId"], "Two."),
        (third["messageId"], "Three."),
    ]
    assert talk.seen("queue/changed")[-1]["items"] == listed
    model.open("half")
    await talk.wait("turn/ended", lambda _: len(talk.seen("turn/ended")) == 3)
    assert [p["stopReason"] for p in talk.seen("turn/ended")] == ["done"] * 3
    started = talk.seen("turn/started")
    assert [p["messageId"] for p in started] == [one["messageId"] for one in (first, second, third)]
    assert len({p["turnId"] for p in started}) == 3
    await talk.idle()
    order = [m["method"] for m in talk.client.log if is_turn_or_idle(m, talk)]
    assert order == ["turn/started", "turn/ended"] * 3 + ["session/status"], "no idle between"
    assert talk.seen("queue/changed")[-1]["items"] == []
    assert await talk.texts() == ["First answer.", "Second answer.", "Third answer."]


def is_turn_or_idle(message: dict, talk: Talk) -> bool:
    params = message.get("params", {})
    if params.get("sessionId") != talk.id:
        return False
    if message.get("method") == "session/status":
        return params["status"]["type"] == "idle"
    return message.get("method") in ("turn/started", "turn/ended")


async def test_c15_a_queued_prompt_can_be_taken_back(talk: Talk, model: Script) -> None:
    model.plays(says("First answer.", 2, gate="half"))
    await talk.prompt("One.")
    await talk.first_text()
    queued = talk.send_prompt("Two.", delivery="queue", wait="idle")
    changed = await talk.wait("queue/changed")
    message_id = changed["items"][0]["messageId"]
    assert (await talk.ask("queue/remove", messageId=message_id))["items"] == []
    result = await talk.client.answer(queued)
    assert (result["messageId"], result["stopReason"]) == (message_id, "cancelled")
    error = await talk.client.refused("queue/remove", {"sessionId": talk.id, "messageId": message_id})
    assert error.kind == "message_not_found"
    model.open("half")
    await talk.ended()
    assert len(await talk.messages()) == 2


async def test_delivery_reject_is_refused_while_busy_and_taken_when_idle(talk: Talk, model: Script) -> None:
    model.plays(says("First answer.", 2, gate="half"), says("Second."))
    first = await talk.prompt("One.", delivery="reject")
    await talk.first_text()
    with pytest.raises(RpcError) as refused:
        await talk.prompt("Two.", delivery="reject")
    assert refused.value.kind == "session_busy"
    assert refused.value.data["turnId"] == first["turnId"]
    model.open("half")
    await talk.ended()
    assert (await talk.prompt("Two.", delivery="reject", wait="idle"))["stopReason"] == "done"
    assert len([one for one in await talk.messages() if one["message"]["role"] == "user"]) == 2


async def test_no_reply_stores_and_wakes_nobody(talk: Talk, model: Script) -> None:
    model.plays(says("Now I know."))
    stored = await talk.prompt("Know this.", noReply=True)
    assert stored == {"messageId": stored["messageId"], "state": "stored"}
    assert (await talk.ask("session/get"))["status"]["type"] == "idle"
    assert model.requests == []
    await talk.prompt("What do you know?", wait="idle")
    said = "\n".join(user_texts(model.requests[0]))
    assert said.index("Know this.") < said.index("What do you know?")


async def test_wait_idle_answers_after_the_end_with_all_of_it(talk: Talk, model: Script) -> None:
    model.plays(says("Here it is.", 3))
    request_id = talk.send_prompt("Give it.", wait="idle")
    result = await talk.client.answer(request_id)
    [end] = talk.seen("turn/ended")
    order = [m for m in talk.client.log if m.get("id") == request_id or m.get("params") is end]
    assert [m.get("method") for m in order] == ["turn/ended", None]
    assert result["stopReason"] == "done"
    assert result["usage"] == end["usage"]
    assert result["message"]["finish"] == "stop"
    assert result["turnId"] == end["turnId"]


async def test_a_response_comes_before_the_events_that_it_causes(talk: Talk, model: Script) -> None:
    model.plays(says("Hello."))
    await talk.wait("session/created")
    mark = talk.client.mark()
    request_id = talk.send_prompt("Hi.")
    await talk.ended()
    assert talk.client.log[mark].get("id") == request_id
    created = talk.client.send("session/create", {"directory": str(talk.folder)})
    session = (await talk.client.answer(created))["session"]
    told = await talk.client.wait_for("session/created", sessionId=session["id"])
    assert talk.client.place_of(told) > next(
        place for place, m in enumerate(talk.client.log) if m.get("id") == created and "method" not in m
    )


async def test_cancelling_a_waiting_prompt_aborts_the_turn_that_it_began(talk: Talk, model: Script) -> None:
    model.plays(says("one two", 2, gate="never"))
    request_id = talk.send_prompt("One.", wait="idle")
    await talk.first_text()
    talk.client.notify("$/cancelRequest", {"id": request_id})
    response = await talk.client.response(request_id)
    assert response["error"]["code"] == -32800
    assert (await talk.ended())["stopReason"] == "cancelled"


async def test_cancelling_a_queued_prompt_aborts_the_turn_once_it_has_begun(talk: Talk, model: Script) -> None:
    model.plays(says("one two", 2, gate="half"), says("three four", 2, gate="never"))
    await talk.prompt("One.")
    await talk.first_text()
    request_id = talk.send_prompt("Two.", delivery="queue", wait="idle")
    await talk.wait("queue/changed")
    mark = talk.client.mark()
    model.open("half")
    started = await talk.wait("turn/started", after=mark)
    await talk.wait("part/delta", lambda p: p["delta"].startswith("three"), after=mark)
    talk.client.notify("$/cancelRequest", {"id": request_id})
    assert (await talk.client.response(request_id))["error"]["code"] == -32800
    assert (await talk.ended(started["turnId"]))["stopReason"] == "cancelled"


async def test_cancelling_a_steered_prompt_lets_the_turn_go_on(talk: Talk, model: Script) -> None:
    model.plays(says("one two", 2, gate="half"), says("And the second."))
    first = await talk.prompt("One.")
    await talk.first_text()
    request_id = talk.send_prompt("Two.", wait="idle")
    await talk.wait("message/updated", lambda p: p["message"]["role"] == "user", after=talk.client.mark())
    talk.client.notify("$/cancelRequest", {"id": request_id})
    assert (await talk.client.response(request_id))["error"]["code"] == -32800
    model.open("half")
    assert (await talk.ended(first["turnId"]))["stopReason"] == "done"
    assert await talk.texts() == ["one two", "And the second."]


async def test_a_message_id_of_the_client_makes_the_prompt_idempotent(talk: Talk, model: Script) -> None:
    model.plays(says("Once.", 2, gate="half"), says("Another."))
    message_id = NEW_ID + "A1"
    first = await talk.prompt("Do it.", messageId=message_id)
    assert first["messageId"] == message_id
    await talk.first_text()
    again = await talk.prompt("Do it.", messageId=message_id)
    assert again == first
    model.open("half")
    await talk.ended()
    after = await talk.prompt("Do it.", messageId=message_id)
    assert (after["messageId"], after["turnId"]) == (first["messageId"], first["turnId"])
    assert len(await talk.messages()) == 2
    assert len(model.requests) == 1
    with pytest.raises(RpcError) as refused:
        await talk.prompt("Do another thing.", messageId=message_id)
    assert refused.value.kind == "conflict"
    model.plays(says("one two", 2, gate="never"))
    other = await talk.prompt("Something else.")
    assert other["turnId"] != first["turnId"]
    assert (await talk.prompt("Do it.", messageId=message_id))["turnId"] == first["turnId"]


@pytest.mark.parametrize("state", ["queued", "stored"])
async def test_idempotent_in_every_state(talk: Talk, model: Script, state: str) -> None:
    message_id = NEW_ID + ("B1" if state == "queued" else "B2")
    model.plays(says("First.", 2, gate="half"), says("Second."))
    await talk.prompt("One.")
    await talk.first_text()
    params = {"delivery": "queue"} if state == "queued" else {"noReply": True}
    first = await talk.prompt("Two.", messageId=message_id, **params)
    assert await talk.prompt("Two.", messageId=message_id, **params) == first
    with pytest.raises(RpcError) as refused:
        await talk.prompt("Three.", messageId=message_id, **params)
    assert refused.value.kind == "conflict"
    model.open("half")
    await talk.ended()


async def test_an_id_is_of_one_session(talk: Talk, model: Script, shared: Client) -> None:
    other = await Talk.begin(shared, talk.folder)
    await talk.prompt("One.", messageId=NEW_ID + "C1", noReply=True)
    with pytest.raises(RpcError) as refused:
        await other.prompt("One.", messageId=NEW_ID + "C1", noReply=True)
    assert refused.value.kind == "conflict"


@pytest.mark.parametrize("wrong", ["msg_1", "prt_01ARZ3NDEKTSV4RRFFQ69G5FAV", "", "msg_01ARZ3NDEKTSV4RRFFQ69G5FAU"])
async def test_an_ill_formed_new_message_id_is_invalid(talk: Talk, wrong: str) -> None:
    with pytest.raises(RpcError) as refused:
        await talk.prompt("One.", messageId=wrong)
    assert (refused.value.code, refused.value.kind) == (-32602, "invalid_params")


async def test_c15_an_abort_holds_the_queue_until_the_next_prompt_or_continue(talk: Talk, model: Script) -> None:
    model.plays(says("one two", 2, gate="never"))
    await talk.prompt("One.")
    await talk.first_text()
    await talk.prompt("Two.", delivery="queue")
    await talk.prompt("Three.", delivery="queue")
    await talk.abort()
    assert [item["text"] for item in (await talk.ask("queue/list"))["items"]] == ["Two.", "Three."]
    assert (await talk.ask("session/get"))["status"]["type"] == "idle"
    model.plays(says("Answer to two."), says("Answer to three."))
    went_on = await talk.ask("session/continue")
    assert went_on["state"] == "running"
    await talk.wait("turn/ended", lambda _: len(talk.seen("turn/ended")) == 3)
    assert (await talk.texts())[1:] == ["Answer to two.", "Answer to three."]


async def test_c15_a_steered_prompt_after_an_abort_comes_before_the_held_queue(talk: Talk, model: Script) -> None:
    model.plays(says("one two", 2, gate="never"))
    await talk.prompt("One.")
    await talk.first_text()
    await talk.prompt("Queued.", delivery="queue")
    await talk.abort()
    model.plays(says("Answer to steered."), says("Answer to queued."))
    await talk.prompt("Steered.")
    await talk.wait("turn/ended", lambda _: len(talk.seen("turn/ended")) == 3)
    assert (await talk.texts())[1:] == ["Answer to steered.", "Answer to queued."]


async def test_an_abort_can_clear_the_queue(talk: Talk, model: Script) -> None:
    model.plays(says("one two", 2, gate="never"))
    await talk.prompt("One.")
    await talk.first_text()
    queued = talk.send_prompt("Two.", delivery="queue", wait="idle")
    await talk.wait("queue/changed")
    await talk.abort(queue="clear")
    assert (await talk.client.answer(queued))["stopReason"] == "cancelled"
    assert (await talk.ask("queue/list"))["items"] == []


async def test_an_error_holds_the_queue_too(talk: Talk, model: Script) -> None:
    model.plays(calls(("list", {}), gate="half"), Status(400, {"error": {"message": "no such thing"}}))
    await talk.prompt("One.")
    await talk.wait("part/delta", field="raw")
    await talk.prompt("Two.", delivery="queue")
    model.open("half")
    end = await talk.ended()
    assert end["stopReason"] == "error"
    assert "no such thing" in end["error"]["data"]["message"]
    await talk.idle(after=talk.client.place_of(end))
    assert [item["text"] for item in (await talk.ask("queue/list"))["items"]] == ["Two."]
    model.plays(says("Answer to two."))
    await talk.ask("session/continue")
    await talk.wait("turn/ended", lambda _: len(talk.seen("turn/ended")) == 2)
    assert await talk.texts() == ["Answer to two."]


async def test_continue_goes_on_where_the_turn_stopped(talk: Talk, model: Script) -> None:
    model.plays(says("one two", 2, gate="never"))
    await talk.prompt("One.")
    await talk.first_text()
    await talk.abort()
    model.plays(says("And on."))
    accepted = await talk.ask("session/continue")
    assert accepted["state"] == "running"
    assert (await talk.ended(accepted["turnId"]))["stopReason"] == "done"
    [user] = [one for one in await talk.messages() if one["message"]["id"] == accepted["messageId"]]
    assert user["parts"][0]["synthetic"] is True
    assert (await talk.texts())[-1] == "And on."
    model.plays(says("busy", 1, before="half"))
    await talk.prompt("Again.")
    assert (await talk.client.refused("session/continue", {"sessionId": talk.id})).kind == "session_busy"
    model.open("half")
    await talk.ended(after=talk.client.mark())
