"""The buffer, its base and the disk: every row of the table, for read, edit and write, through the real server."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from e2e.buffers import ABLE, ScriptedEditor, options
from e2e.client import Message
from e2e.model import Script, calls, says
from e2e.server import Machine
from e2e.talk import Talk

Call = tuple[str, dict[str, object]]


class Desk:
    """An editor, a session that may edit without asking, and a folder."""

    def __init__(self, editor: ScriptedEditor, talk: Talk, model: Script) -> None:
        self.editor = editor
        self.talk = talk
        self.model = model
        self.folder = talk.folder

    def file(self, text: str | bytes, name: str = "a.txt") -> Path:
        path = self.folder / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    async def run(self, *made: Call) -> list[Message]:
        """A turn with these calls, one a step; the states of their parts."""
        before = {part["id"] for part in await self.talk.tools()}
        self.model.plays(*(calls(one, ids=f"c{number}") for number, one in enumerate(made)), says("Done."))
        mark = self.talk.client.mark()
        await self.talk.prompt("Go.")
        await self.talk.ended(after=mark)
        return [part["state"] for part in await self.talk.tools() if part["id"] not in before]

    async def one(self, *made: Call) -> Message:
        """The last of the calls."""
        return (await self.run(*made))[-1]


def read(path: Path | str) -> Call:
    return "read", {"filePath": str(path)}


def edit(path: Path | str, old: str, new: str) -> Call:
    return "edit", {"filePath": str(path), "oldString": old, "newString": new}


def write(path: Path | str, content: str) -> Call:
    return "write", {"filePath": str(path), "content": content}


@pytest.fixture
async def desk(machine: Machine, model: Script) -> AsyncIterator[Desk]:
    folder = machine.project("buffers")
    async with machine.editor(folder, options(), capabilities=ABLE) as client:
        yield Desk(ScriptedEditor(client), await Talk.begin(client, folder, mode="acceptEdits"), model)


async def test_e17_unsaved_text_is_what_is_read_and_edited(desk: Desk) -> None:
    path = desk.file("one\ntwo\n")
    buffer = desk.editor.open(path)
    desk.editor.type(buffer, "two", "USER")

    seen, changed = await desk.run(read(path), edit(path, "USER", "USER AND AGENT"))

    assert "2: USER" in seen["output"]
    assert "not saved" in seen["output"]
    assert changed["status"] == "completed", changed
    assert buffer.text == "one\nUSER AND AGENT\n"
    assert path.read_text() == "one\ntwo\n"
    (request,) = desk.editor.edits
    (change,) = request["edit"]["documentChanges"]
    assert change["textDocument"]["version"] == 2
    assert change["edits"] == [
        {"range": {"start": {"line": 1, "character": 4}, "end": {"line": 1, "character": 4}}, "newText": " AND AGENT"}
    ]
    (told,) = desk.talk.seen("file/edited")
    assert (told["uri"], told["via"]) == (buffer.uri, "buffer")
