"""Several folders of an editor, and their coming and going."""

from pathlib import Path

import pytest

from e2e.buffers import Desk, edit, read
from e2e.client import Client
from e2e.model import Script, calls, says
from e2e.server import OPTIONS, Machine


def folder_of(path: Path) -> dict[str, str]:
    return {"uri": path.as_uri(), "name": path.name}


def change(client: Client, added: list[Path], removed: list[Path]) -> None:
    event = {"added": [folder_of(path) for path in added], "removed": [folder_of(path) for path in removed]}
    client.notify("workspace/didChangeWorkspaceFolders", {"event": event})


async def directory(client: Client) -> str:
    """Where a session begins that names no folder."""
    return (await client.request("session/create"))["session"]["directory"]


async def trust(client: Client, folder: Path) -> str:
    return (await client.request("config/get", {"directory": str(folder)}))["config"]["trust"]["state"]


async def test_the_server_says_that_it_follows_the_folders(machine: Machine) -> None:
    async with machine.process(machine.project("one")) as client:
        offered = await client.initialize(OPTIONS)
    assert offered["capabilities"]["workspace"]["workspaceFolders"] == {
        "supported": True,
        "changeNotifications": True,
    }


async def test_a_folder_is_added_and_another_removed(machine: Machine) -> None:
    settings = {"agentls.json": '{"permission": {"read": "allow"}}'}
    first, second = machine.project("first", settings), machine.project("second", settings)
    async with machine.editor(first) as client:
        assert await directory(client) == str(first)
        assert (await trust(client, first), await trust(client, second)) == ("trusted", "untrusted")

        change(client, [second], [])
        assert await directory(client) == str(first)
        assert (await trust(client, first), await trust(client, second)) == ("trusted", "trusted")

        change(client, [], [first])
        assert await directory(client) == str(second)
        assert (await trust(client, first), await trust(client, second)) == ("untrusted", "trusted")


@pytest.mark.parametrize("name", ["a b", "50%41", "a#b", "c;d", "ü🙂"])
async def test_a_folders_name_may_hold_anything(machine: Machine, name: str) -> None:
    folder = machine.project(name)
    async with machine.editor(folder) as client:
        assert await directory(client) == str(folder)
        other = machine.project(f"other {name}")
        change(client, [other], [folder])
        assert await directory(client) == str(other)


async def test_sessions_of_two_folders_live_side_by_side(machine: Machine, model: Script) -> None:
    first, second = machine.project("first"), machine.project("second")
    async with machine.editor(first) as client:
        change(client, [second], [])
        one, two = await Desk.begin(client, first, model), await Desk.begin(client, second, model)
        here, there = one.file("one\n"), two.file("two\n")

        (mine,), (theirs,) = await one.run(read(here)), await two.run(edit(there, "two", "2"))

        assert "1: one" in mine["output"]
        assert theirs["status"] == "completed"


async def test_the_other_folder_is_outside_of_a_sessions_project(machine: Machine, model: Script) -> None:
    """A session's tools work in its own project; another folder of the editor is asked for as any other place."""
    first, second = machine.project("first"), machine.project("second", {"b.txt": "two\n"})
    async with machine.editor(first) as client:
        change(client, [second], [])
        desk = await Desk.begin(client, first, model)
        mark = client.mark()
        model.plays(calls(read(second / "b.txt")), says("Done."))
        await desk.talk.prompt("Go.")
        asked = await desk.talk.asked(after=mark)
        assert asked["permission"] == "external_directory"
        await desk.talk.reply(asked)
        await desk.talk.ended(after=mark)
        assert "1: two" in (await desk.talk.tools())[-1]["state"]["output"]
