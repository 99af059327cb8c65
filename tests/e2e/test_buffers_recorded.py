"""What is kept of a change in a buffer, and what an abort leaves of it."""

import asyncio
import sqlite3
import zlib

from e2e.buffers import ABLE, Desk, edit, options, write
from e2e.client import Message
from e2e.model import Script, calls, says
from e2e.server import Machine


def changes(machine: Machine) -> list[tuple[str, str | None, str | None]]:
    """Path, text before, text after."""
    with sqlite3.connect(f"file:{machine.data / 'agentls.db'}?mode=ro", uri=True) as database:
        contents = {key: zlib.decompress(data).decode() for key, data in database.execute("SELECT * FROM contents")}
        rows = database.execute("SELECT path, before, after FROM changes ORDER BY id").fetchall()
    return [(path, contents.get(before), contents.get(after)) for path, before, after in rows]


async def test_changes_are_recorded_as_the_text_that_counted(machine: Machine, model: Script) -> None:
    folder = machine.project("recorded")
    async with machine.editor(folder, options(), capabilities=ABLE) as client:
        desk = await Desk.begin(client, folder, model)
        clean = desk.editor.open(desk.file("clean\n", "clean.txt"))
        dirty = desk.editor.open(desk.file("disk\n", "dirty.txt"))
        desk.editor.type(dirty, "disk", "user")
        untitled = desk.editor.untitled("Untitled-1", "")
        lost = desk.editor.open(desk.file("lost\n", "lost.txt"))
        desk.editor.type(lost, "lost", "kept")

        await desk.run(
            edit(clean.at, "clean", "agent"),
            edit(dirty.at, "user", "agent"),
            edit(untitled.uri, "", "agent\n"),
            write(folder / "new.txt", "agent\n"),
        )
        desk.editor.on_edit = lambda _: {"applied": True}
        await desk.run(edit(lost.at, "kept", "agent"))

        patches = [part["files"] for part in await desk.talk.parts("patch")]

    assert changes(machine) == [
        (str(clean.at), "clean\n", "agent\n"),
        (str(dirty.at), "user\n", "agent\n"),
        (untitled.uri, "", "agent\n"),
        (str(folder / "new.txt"), None, "agent\n"),
    ]
    assert patches == [[str(clean.at)], [str(dirty.at)], [untitled.uri], [str(folder / "new.txt")]]
    assert [(told["uri"], told["via"]) for told in desk.talk.seen("file/edited")] == [
        (clean.uri, "buffer"),
        (dirty.uri, "buffer"),
        (untitled.uri, "buffer"),
        ((folder / "new.txt").as_uri(), "disk"),
    ]


async def test_an_edit_that_an_abort_meets_on_its_way_is_recorded_if_it_came_through(
    machine: Machine, model: Script
) -> None:
    folder = machine.project("aborted")
    async with machine.editor(folder, options(), capabilities=ABLE) as client:
        desk = await Desk.begin(client, folder, model)
        buffer = desk.editor.open(desk.file("disk\n"))
        desk.editor.type(buffer, "disk", "user")
        came: asyncio.Future[Message] = asyncio.get_running_loop().create_future()

        def later(params: Message) -> Message:
            came.set_result(params)
            return {"applied": True}

        desk.editor.on_edit = later
        model.plays(calls(edit(buffer.at, "user", "agent")), says("Never."))
        mark = client.mark()
        await desk.talk.prompt("Go.")
        asked = await came
        abort = client.send("session/abort", {"sessionId": desk.talk.id})
        desk.editor.apply(asked)
        assert (await client.answer(abort))["aborted"] is True
        ended = await desk.talk.ended(after=mark)

    assert ended["stopReason"] == "cancelled"
    assert changes(machine) == [(str(buffer.at), "user\n", "agent\n")]


async def test_after_an_abort_no_edit_is_sent(machine: Machine, model: Script) -> None:
    folder = machine.project("stopped")
    async with machine.editor(folder, options(), capabilities=ABLE) as client:
        desk = await Desk.begin(client, folder, model, mode="ask")
        buffer = desk.editor.open(desk.file("disk\n"))
        desk.editor.type(buffer, "disk", "user")
        model.plays(calls(edit(buffer.at, "user", "agent")), says("Never."))
        mark = client.mark()
        await desk.talk.prompt("Go.")
        asked = await desk.talk.asked(after=mark)
        await desk.talk.abort()
        await desk.talk.reply(asked)
        await client.request("server/status")

    assert desk.editor.asked == []
    assert buffer.text == "user\n"
