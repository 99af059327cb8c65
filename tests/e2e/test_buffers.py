"""The buffer, its base and the disk: each row of the table for read, edit and write, through the real server."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from e2e.buffers import Buffer, Desk, edit, read, write
from e2e.client import Message

DISK, USER, ELSEWHERE = "one\ndisk\nlast\n", "one\nuser\nlast\n", "one\nelsewhere\nlast\n"


@dataclass
class Row:
    """What stands where; `word` is the line that counts, `via` how a change goes."""

    target: Path | str
    buffer: Buffer | None
    word: str
    via: str | None

    @property
    def disk(self) -> str | None:
        return self.target.read_text() if isinstance(self.target, Path) else None


async def same(desk: Desk) -> Row:
    path = desk.file(DISK)
    return Row(path, desk.editor.open(path), "disk", "buffer")


async def disk_moved_on(desk: Desk) -> Row:
    path = desk.file(DISK)
    buffer = desk.editor.open(path)
    await desk.settle()
    path.write_text(ELSEWHERE)
    return Row(path, buffer, "elsewhere", "disk")


async def dirty(desk: Desk) -> Row:
    path = desk.file(DISK)
    buffer = desk.editor.open(path)
    desk.editor.type(buffer, "disk", "user")
    return Row(path, buffer, "user", "buffer")


async def conflict(desk: Desk) -> Row:
    row = await disk_moved_on(desk)
    assert row.buffer
    desk.editor.type(row.buffer, "disk", "user")
    return Row(row.target, row.buffer, "user", None)


async def not_open(desk: Desk) -> Row:
    path = desk.file(DISK)
    desk.editor.close(desk.editor.open(path))
    return Row(path, None, "disk", "disk")


async def untitled(desk: Desk) -> Row:
    buffer = desk.editor.untitled("Untitled-1", USER)
    return Row(buffer.uri, buffer, "user", "buffer")


CHANGED = [same, disk_moved_on, dirty, not_open, untitled]
ROWS = pytest.mark.parametrize("standing", [*CHANGED, conflict])
Standing = Callable[[Desk], Awaitable[Row]]


@ROWS
async def test_e17_reading(desk: Desk, standing: Standing) -> None:
    row = await standing(desk)

    seen = await desk.one(read(row.target))

    assert f"2: {row.word}\n" in seen["output"]
    told = {dirty: "not saved on the disk yet", conflict: "do not agree"}
    for which, words in told.items():
        assert (words in seen["output"]) == (standing is which)
    assert desk.editor.edits == []


def told_once(desk: Desk, row: Row) -> Message:
    (told,) = desk.talk.seen("file/edited")
    assert told["via"] == row.via
    assert told["uri"] == (row.buffer.uri if row.buffer else Path(row.target).as_uri())
    return told


def stands(desk: Desk, row: Row, state: Message, new: str, old: str) -> None:
    """The new text is where it belongs, and nowhere else."""
    if row.via is None:
        assert state["status"] == "error"
        assert state["metadata"]["kind"] == "edit_conflict"
        assert "save" in state["error"]
        assert (row.disk, row.buffer and row.buffer.text) == (ELSEWHERE, USER)
        assert desk.editor.edits == desk.talk.seen("file/edited") == []
        return
    assert state["status"] == "completed", state
    told_once(desk, row)
    if row.via == "disk":
        assert row.disk == new
        assert row.buffer is None or row.buffer.text == DISK
        assert desk.editor.asked == []
        return
    assert row.buffer
    assert (row.buffer.text, row.buffer.undo[-1]) == (new, old)
    assert len(desk.editor.edits) == 1


@ROWS
async def test_e17_editing(desk: Desk, standing: Standing) -> None:
    row = await standing(desk)
    old = f"one\n{row.word}\nlast\n"

    state = await desk.one(edit(row.target, f"{row.word}\n", "agent\nline\n"))

    stands(desk, row, state, "one\nagent\nline\nlast\n", old)
    if standing is same:
        assert row.disk == "one\nagent\nline\nlast\n"
        assert [method for method, _ in desk.editor.asked] == ["workspace/applyEdit", "document/save"]
        assert "not saved" not in state["output"]
    if standing is dirty:
        assert row.disk == DISK
        assert "not saved" in state["output"]


@ROWS
async def test_e17_writing(desk: Desk, standing: Standing) -> None:
    row = await standing(desk)
    old = f"one\n{row.word}\nlast\n"

    _, state = await desk.run(read(row.target), write(row.target, "zero\none\nlast"))

    stands(desk, row, state, "zero\none\nlast", old)
    if standing is same:
        assert row.disk == "zero\none\nlast"


@pytest.mark.parametrize("standing", CHANGED)
async def test_a_second_edit_finds_the_first(desk: Desk, standing: Standing) -> None:
    row = await standing(desk)

    states = await desk.run(
        read(row.target), edit(row.target, row.word, "first"), edit(row.target, "first", "second"), read(row.target)
    )

    assert [state["status"] for state in states] == ["completed"] * 4
    assert "2: second\n" in states[-1]["output"]


async def test_e15_what_the_user_typed_since_the_reading_refuses_an_edit_and_is_shown(desk: Desk) -> None:
    row = await dirty(desk)
    await desk.run(read(row.target))
    assert row.buffer
    desk.editor.type(row.buffer, "last", "LATER")

    refused = await desk.one(edit(row.target, "user", "agent"))
    again = await desk.one(edit(row.target, "user", "agent"))

    assert refused["status"] == "error"
    assert "+LATER" in refused["error"]
    assert again["status"] == "completed"
    assert row.buffer.text == "one\nagent\nLATER\n"


async def test_a_buffer_that_takes_over_the_disk_is_no_conflict_when_typed_in(desk: Desk) -> None:
    row = await disk_moved_on(desk)
    assert row.buffer
    desk.editor.type(row.buffer, DISK, ELSEWHERE)  # as an editor reloads a file: a change, and no save
    await desk.settle()
    desk.editor.type(row.buffer, "elsewhere", "user")

    state = await desk.one(edit(row.target, "user", "agent"))

    assert state["status"] == "completed", state
    assert row.buffer.text == "one\nagent\nlast\n"
    assert row.disk == ELSEWHERE


async def test_a_saved_buffer_is_no_longer_dirty(desk: Desk) -> None:
    row = await dirty(desk)
    assert row.buffer
    desk.editor.save(row.buffer)

    seen, state = await desk.run(read(row.target), edit(row.target, "user", "agent"))

    assert "not saved" not in seen["output"]
    assert state["metadata"]["saved"] is True
    assert row.disk == "one\nagent\nlast\n"


async def test_e17_what_another_wrote_right_after_a_save_is_a_conflict_once_the_user_types(desk: Desk) -> None:
    row = await dirty(desk)
    assert row.buffer
    desk.editor.save(row.buffer, then=ELSEWHERE)
    await desk.settle()
    desk.editor.type(row.buffer, "last", "LAST")

    state = await desk.one(edit(row.target, "user", "agent"))

    assert state["metadata"]["kind"] == "edit_conflict"
    assert (row.disk, row.buffer.text) == (ELSEWHERE, "one\nuser\nLAST\n")


@pytest.mark.parametrize("told", [True, False])
async def test_e17_so_is_what_another_wrote_right_after_a_save_for_the_agent(desk: Desk, told: bool) -> None:
    """With a `didSave` before the answer, and without."""
    row = await same(desk)
    assert row.buffer

    async def save(_: Message) -> Message:
        assert row.buffer
        desk.editor.save(row.buffer, then=ELSEWHERE, told=told)
        return {"saved": True}

    desk.editor.client.answers["document/save"] = save
    first = await desk.one(edit(row.target, "disk", "agent"))
    assert first["metadata"]["saved"] is False
    desk.editor.type(row.buffer, "last", "LAST")

    state = await desk.one(edit(row.target, "agent", "agent again"))

    assert state["metadata"]["kind"] == "edit_conflict"
    assert (row.disk, row.buffer.text) == (ELSEWHERE, "one\nagent\nLAST\n")


async def test_a_closed_buffer_leaves_the_disk(desk: Desk) -> None:
    row = await dirty(desk)
    assert row.buffer
    desk.editor.close(row.buffer)

    state = await desk.one(edit(row.target, "disk", "agent"))

    assert state["status"] == "completed"
    assert row.disk == "one\nagent\nlast\n"
    assert desk.editor.edits == []
