"""An edit counts when the document's text shows it: what editors answer is not what they did."""

import asyncio
from typing import Any

import pytest

from e2e.buffers import ABLE, Buffer, Desk, edit, options, read
from e2e.client import Message
from e2e.model import Script, calls, says
from e2e.server import Machine

TEXT = "".join(f"line {number}\n" for number in range(1, 31))


def dirty(desk: Desk, text: str = TEXT) -> Buffer:
    """A document with something of the user's, not saved."""
    buffer = desk.editor.open(desk.file(text))
    desk.editor.type(buffer, "line 1\n", "line 1, the user's\n")
    return buffer


def unknown(state: Message) -> None:
    """Neither done nor failed."""
    assert state["status"] == "completed"
    assert state["metadata"]["unknown"] is True
    assert "not known" in state["output"]
    assert "Read the file again" in state["output"]


async def test_an_edit_thrown_away_with_applied_true_is_unknown(desk: Desk) -> None:
    buffer = dirty(desk)
    desk.editor.on_edit = lambda _: {"applied": True}

    state = await desk.one(edit(buffer.at, "line 20", "AGENT"))

    unknown(state)
    assert desk.talk.seen("file/edited") == []
    assert "AGENT" not in buffer.text


async def test_a_stale_edit_thrown_away_while_the_user_types_is_unknown(desk: Desk) -> None:
    """As Neovim does: the buffer is newer than the edit, so that is dropped, and the answer is `applied: true`."""
    buffer = dirty(desk)

    def throw_away(_: Message) -> Message:
        desk.editor.type(buffer, "line 2\n", "line 2, typed\n")
        return {"applied": True}

    desk.editor.on_edit = throw_away
    state = await desk.one(edit(buffer.at, "line 20", "AGENT"))

    unknown(state)
    desk.editor.on_edit = desk.editor.apply
    _, again = await desk.run(read(buffer.at), edit(buffer.at, "line 20", "AGENT"))
    assert again["status"] == "completed"
    assert "line 2, typed" in buffer.text
    assert "AGENT" in buffer.text


async def test_an_edit_at_the_wrong_place_is_unknown(desk: Desk) -> None:
    """An editor that looks at no version: the user's new line moved all that stands below."""
    buffer = dirty(desk)

    def careless(params: Message) -> Message:
        desk.editor.type(buffer, "line 1,", "a new line\nline 1,")
        params["edit"]["documentChanges"][0]["textDocument"]["version"] = buffer.version
        return desk.editor.apply(params)

    desk.editor.on_edit = careless
    unknown(await desk.one(edit(buffer.at, "line 20", "AGENT 20")))


async def test_the_user_types_on_during_the_edit(desk: Desk) -> None:
    buffer = dirty(desk)

    def apply_and_type(params: Message) -> Message:
        done = desk.editor.apply(params)
        desk.editor.type(buffer, "line 3\n", "line 3, typed on\n")
        return done

    desk.editor.on_edit = apply_and_type
    state = await desk.one(edit(buffer.at, "line 20", "AGENT"))

    assert state["status"] == "completed"
    assert "unknown" not in state["metadata"]
    assert "line 3, typed on" in buffer.text


async def test_edit_and_typing_that_arrive_as_one_change(desk: Desk) -> None:
    """As Neovim sends them: one range from the first changed line to the last."""
    buffer = dirty(desk)

    def merged(params: Message) -> Message:
        edited = buffer.text.replace("line 20", "AGENT").replace("line 25\n", "line 25, typed\n")
        assert params["edit"]["documentChanges"][0]["textDocument"]["version"] == buffer.version
        desk.editor.change(buffer, [(0, len(buffer.text), edited)])
        return {"applied": True}

    desk.editor.on_edit = merged
    state = await desk.one(edit(buffer.at, "line 20", "AGENT"))

    assert "unknown" not in state["metadata"]
    assert [told["via"] for told in desk.talk.seen("file/edited")] == ["buffer"]


async def test_a_slow_confirmation_is_waited_for(desk: Desk) -> None:
    """The answer comes at once, the text later."""
    buffer = dirty(desk)
    came: asyncio.Future[Message] = asyncio.get_running_loop().create_future()

    def later(params: Message) -> Message:
        came.set_result(params)
        return {"applied": True}

    desk.editor.on_edit = later
    mark = desk.talk.client.mark()
    desk.model.plays(calls(edit(buffer.at, "line 20", "AGENT")), says("Done."))
    await desk.talk.prompt("Go.")
    asked = await came
    assert not desk.talk.seen("file/edited")
    desk.editor.apply(asked)
    await desk.talk.ended(after=mark)

    (state,) = [part["state"] for part in await desk.talk.tools()]
    assert "unknown" not in state["metadata"]
    assert buffer.text.count("AGENT") == 1


async def test_no_answer_and_no_text_is_unknown_and_the_request_is_taken_back(desk: Desk) -> None:
    buffer = dirty(desk)
    desk.editor.on_edit = lambda _: None

    state = await desk.one(edit(buffer.at, "line 20", "AGENT"))

    unknown(state)
    assert await desk.talk.client.wait_for("$/cancelRequest")


async def test_an_edit_that_the_editor_refuses_is_refused(desk: Desk) -> None:
    buffer = dirty(desk)
    desk.editor.on_edit = lambda _: {"applied": False, "failureReason": "read-only"}

    state = await desk.one(edit(buffer.at, "line 20", "AGENT"))

    assert state["status"] == "error"
    assert "did not take" in state["error"]
    assert "AGENT" not in buffer.text


@pytest.mark.parametrize("answer", [{}, [], "no", 7])
async def test_an_answer_that_nobody_understands_does_not_undo_what_the_text_shows(desk: Desk, answer: Any) -> None:
    buffer = dirty(desk)
    applying: list[asyncio.Task[None]] = []

    async def later(params: Message) -> None:
        await desk.talk.client.request("server/status")  # the answer was read by then
        desk.editor.apply(params)

    def mumble(params: Message) -> Any:
        applying.append(asyncio.create_task(later(params)))
        return answer

    desk.editor.on_edit = mumble
    state = await desk.one(edit(buffer.at, "line 20", "AGENT"))

    assert state["status"] == "completed", state
    assert "unknown" not in state["metadata"]
    assert "AGENT" in buffer.text


async def test_an_answer_that_nobody_understands_alone_is_unknown(desk: Desk) -> None:
    buffer = dirty(desk)
    desk.editor.on_edit = lambda _: {}

    unknown(await desk.one(edit(buffer.at, "line 20", "AGENT")))


async def test_what_the_user_types_during_a_clean_edit_is_not_saved_for_them(desk: Desk) -> None:
    buffer = desk.editor.open(desk.file(TEXT))

    def apply_and_type(params: Message) -> Message:
        done = desk.editor.apply(params)
        desk.editor.type(buffer, "line 3\n", "line 3, half\n")
        return done

    desk.editor.on_edit = apply_and_type
    state = await desk.one(edit(buffer.at, "line 20", "AGENT"))

    assert state["metadata"]["saved"] is False
    assert "not saved" in state["output"]
    assert buffer.at.read_text() == TEXT


async def test_several_places_are_one_request_with_small_edits(desk: Desk) -> None:
    buffer = dirty(desk)

    arguments = {"filePath": str(buffer.at), "oldString": "line 2", "newString": "LINE 2", "replaceAll": True}
    state = await desk.one(("edit", arguments))

    assert state["status"] == "completed"
    (request,) = desk.editor.edits
    (change,) = request["edit"]["documentChanges"]
    assert len(change["edits"]) == TEXT.count("line 2")
    assert max(len(one["newText"]) for one in change["edits"]) <= len("LINE 2")
    assert len(buffer.undo) == 2  # the user's own step, and one for the edit
    assert buffer.text.count("LINE 2") == TEXT.count("line 2")


@pytest.mark.parametrize("capabilities", [{}, {"workspace": {"applyEdit": True}}])
async def test_an_editor_that_cannot_be_edited_in(machine: Machine, model: Script, capabilities: Message) -> None:
    """Clean documents go by the disk, dirty ones are refused in words that help."""
    folder = machine.project("unable")
    async with machine.editor(folder, options(), capabilities=capabilities) as client:
        desk = await Desk.begin(client, folder, model)
        clean = desk.editor.open(desk.file("one\n", "clean.txt"))
        user = desk.editor.open(desk.file("one\n", "user.txt"))
        desk.editor.type(user, "one", "two")

        done, refused = await desk.run(edit(clean.at, "one", "agent"), edit(user.at, "two", "agent"))

    assert done["status"] == "completed"
    assert clean.at.read_text() == "agent\n"
    assert refused["metadata"]["kind"] == "edit_conflict"
    assert "Ask the user to save" in refused["error"]
    assert user.text == "two\n"
    assert desk.editor.asked == []


async def test_without_save_a_clean_document_goes_by_the_disk(machine: Machine, model: Script) -> None:
    folder = machine.project("unsaving")
    async with machine.editor(folder, options(save=False), capabilities=ABLE) as client:
        desk = await Desk.begin(client, folder, model)
        clean = desk.editor.open(desk.file("one\n", "clean.txt"))

        state = await desk.one(edit(clean.at, "one", "agent"))

    assert state["status"] == "completed"
    assert clean.at.read_text() == "agent\n"
    assert clean.text == "one\n"
    assert desk.editor.asked == []
