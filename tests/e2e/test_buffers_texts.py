"""Texts and names as editors have them: line ends, marks, pairs, links, odd URIs, files that come and go."""

import os
from pathlib import Path

import pytest

from e2e.buffers import ABLE, Desk, edit, options, read, write
from e2e.model import Script, says
from e2e.server import Machine


async def test_a_crlf_buffer_on_an_lf_disk_is_not_dirty_and_keeps_its_line_ends(desk: Desk) -> None:
    path = desk.file("one\ntwo\nthree\n")
    buffer = desk.editor.open(path, "one\r\ntwo\r\nthree\r\n")

    seen, state = await desk.run(read(path), edit(path, "two\nthree", "2\nand\n3"))

    assert "not saved" not in seen["output"]
    assert state["status"] == "completed", state
    assert buffer.text == "one\r\n2\r\nand\r\n3\r\n"


@pytest.mark.parametrize(
    ("disk", "shown", "typed", "edited", "left"),
    [
        pytest.param(
            "one\r\ntwo\r\n",
            None,
            ("two", "user"),
            ("one\nuser", "one\nnew\nuser"),
            "one\r\nnew\r\nuser\r\n",
            id="line ends of a CRLF file",
        ),
        pytest.param(
            "\ufeffone\ntwo\n",
            "\ufeffone\ntwo\n",
            ("two", "user"),
            ("one", "ONE"),
            "\ufeffONE\nuser\n",
            id="a byte order mark that is shown",
        ),
        pytest.param(
            "🙂🙂 first\na 👩‍👩‍👧 b old c\n",
            None,
            ("🙂 first", "🙂 typed 🙂"),
            ("b old c", "b 🙂 c"),
            "🙂🙂 typed 🙂\na 👩‍👩‍👧 b 🙂 c\n",
            id="emoji, which count as two in UTF-16",
        ),
    ],
)
async def test_an_edit_of_a_dirty_buffer_keeps_what_is_there(
    desk: Desk, disk: str, shown: str | None, typed: tuple[str, str], edited: tuple[str, str], left: str
) -> None:
    path = desk.file(disk)
    buffer = desk.editor.open(path, shown)
    desk.editor.type(buffer, *typed)

    state = await desk.one(edit(path, *edited))

    assert state["status"] == "completed", state
    assert buffer.text == left


@pytest.mark.parametrize("shown", ["one\ntwo\n", "\ufeffone\ntwo\n"])
async def test_a_byte_order_mark_makes_no_buffer_dirty(desk: Desk, shown: str) -> None:
    """Most editors take it out of the text; where one does not, it stays at its place."""
    path = desk.file(b"\xef\xbb\xbfone\ntwo\n")
    desk.editor.saves_to = ("utf-8", b"" if shown.startswith("\ufeff") else b"\xef\xbb\xbf")
    buffer = desk.editor.open(path, shown)

    seen, state, again = await desk.run(read(path), edit(path, "one", "ONE"), edit(path, "two", "TWO"))

    assert "not saved" not in seen["output"]
    assert state["metadata"]["saved"] is True
    assert again["status"] == "completed", again
    assert buffer.text == shown.replace("one", "ONE").replace("two", "TWO")
    assert path.read_bytes() == b"\xef\xbb\xbfONE\nTWO\n"


async def test_positions_in_the_encoding_that_was_negotiated(machine: Machine, model: Script) -> None:
    folder = machine.project("utf8")
    able = {**ABLE, "general": {"positionEncodings": ["utf-8", "utf-16"]}}
    async with machine.editor(folder, options(), capabilities=able) as client:
        desk = await Desk.begin(client, folder, model)
        buffer = desk.editor.open(desk.file("é🙂 old end\n"))
        identity = {"uri": buffer.uri, "version": 2}
        end = {"line": 0, "character": len("é🙂 old end".encode())}
        typed = [{"range": {"start": end, "end": end}, "text": "ing"}]
        client.notify("textDocument/didChange", {"textDocument": identity, "contentChanges": typed})
        desk.editor.on_edit = lambda _: {"applied": True}

        seen, _ = await desk.run(read(buffer.at), edit(buffer.at, "old", "new"))

    assert "1: é🙂 old ending\n" in seen["output"]
    (request,) = desk.editor.edits
    (made,) = request["edit"]["documentChanges"][0]["edits"]
    assert made["range"]["start"]["character"] == len("é🙂 ".encode())


async def test_a_document_opened_through_a_link_is_the_file_behind_it(desk: Desk) -> None:
    (desk.folder / "real").mkdir()
    path = desk.file("one\n", "real/a.txt")
    (desk.folder / "link").symlink_to("real")
    buffer = desk.editor.open(path, uri=(desk.folder / "link" / "a.txt").as_uri())
    desk.editor.type(buffer, "one", "user")

    states = await desk.run(read(path), edit(desk.folder / "link" / "a.txt", "user", "agent"))

    assert "1: user\n" in states[0]["output"]
    assert states[1]["status"] == "completed", states[1]
    assert buffer.text == "agent\n"
    assert desk.editor.edits[0]["edit"]["documentChanges"][0]["textDocument"]["uri"] == buffer.uri
    assert path.read_text() == "one\n"


@pytest.mark.parametrize(
    ("name", "uri"),
    [
        ("a b.txt", "a%20b.txt"),
        ("a b.txt", "a b.txt"),
        ("50%.txt", "50%25.txt"),
        ("a%20b.txt", "a%2520b.txt"),
        ("a;b#c?d.txt", "a;b%23c%3Fd.txt"),
        ("ü語🙂.txt", "%C3%BC%E8%AA%9E%F0%9F%99%82.txt"),
        ("[x]+(1).txt", "%5Bx%5D%2B%281%29.txt"),
        ("a:b@c.txt", "a%3Ab%40c.txt"),
    ],
)
async def test_names_in_uris_are_the_files_names(desk: Desk, name: str, uri: str) -> None:
    path = desk.file("one\n", name)
    buffer = desk.editor.open(path, uri=f"{desk.folder.as_uri()}/{uri}")
    desk.editor.type(buffer, "one", "user")

    state = await desk.one(edit(path, "user", "agent"))

    assert state["status"] == "completed", state
    assert buffer.text == "agent\n"
    assert desk.talk.seen("file/edited")[0]["uri"] == buffer.uri


@pytest.mark.parametrize("scheme", ["git:", "output:", "vscode-userdata:", "zipfile:", "file://another.host"])
async def test_documents_of_other_schemes_are_no_files(desk: Desk, scheme: str) -> None:
    path = desk.file("disk\n")
    buffer = desk.editor.open(path, "other\n", uri=f"{scheme}{path}")

    seen, state = await desk.run(read(path), edit(path, "disk", "agent"))

    assert "1: disk\n" in seen["output"]
    assert state["status"] == "completed"
    assert path.read_text() == "agent\n"
    assert buffer.text == "other\n"


async def test_an_untitled_document_can_be_mentioned(desk: Desk) -> None:
    buffer = desk.editor.untitled("Untitled-1", "scribble\n")
    desk.model.plays(says("Seen."))
    await desk.talk.ask("session/prompt", parts=[{"type": "file", "uri": buffer.uri}])
    await desk.talk.ended()

    assert "1: scribble" in str(desk.model.requests[-1])


async def test_an_untitled_document_is_found_by_its_name_as_people_write_it(desk: Desk) -> None:
    buffer = desk.editor.untitled("my%20notes", "scribble\n")

    seen, state = await desk.run(read("untitled:my notes"), edit("untitled:my notes", "scribble", "written"))

    assert "1: scribble" in seen["output"]
    assert state["status"] == "completed", state
    assert buffer.text == "written\n"


async def test_an_empty_untitled_document_can_be_filled(desk: Desk) -> None:
    buffer = desk.editor.untitled("Untitled-2", "")

    state = await desk.one(edit(buffer.uri, "", "hello\n"))

    assert state["status"] == "completed", state
    assert buffer.text == "hello\n"
    assert not (desk.folder / buffer.uri).exists()


async def test_an_untitled_name_that_is_not_open_is_not_made_a_file(desk: Desk) -> None:
    buffer = desk.editor.untitled("Untitled-3", "x\n")
    desk.editor.close(buffer)

    seen = await desk.one(read(buffer.uri))

    assert seen["status"] == "error"
    assert "does not exist" in seen["error"]


async def test_a_file_deleted_on_disk_while_open_is_written_anew(desk: Desk) -> None:
    path = desk.file("one\n")
    buffer = desk.editor.open(path)
    await desk.settle()
    path.unlink()

    seen, state = await desk.run(read(path), write(path, "new\n"))

    assert "does not exist" in seen["error"]
    assert state["status"] == "completed", state
    assert path.read_text() == "new\n"
    assert buffer.text == "one\n"


async def test_a_file_deleted_on_disk_under_unsaved_text_is_a_conflict(desk: Desk) -> None:
    path = desk.file("one\n")
    buffer = desk.editor.open(path)
    await desk.settle()
    path.unlink()
    desk.editor.type(buffer, "one", "user")

    seen, refused = await desk.run(read(path), edit(path, "user", "agent"))

    assert "1: user\n" in seen["output"]
    assert refused["metadata"]["kind"] == "edit_conflict"
    assert not path.exists()


@pytest.mark.parametrize("shown", ["", "\n"])
async def test_a_new_file_that_only_the_editor_has_is_made_through_it(desk: Desk, shown: str) -> None:
    """As `:e new` does; Neovim shows an empty file as one empty line."""
    path = desk.folder / "new.txt"
    buffer = desk.editor.open(path, shown)

    state = await desk.one(edit(path, "", "hello\n"))

    assert state["status"] == "completed", state
    assert state["metadata"]["saved"] is True
    assert path.read_text() == buffer.text
    assert buffer.text.rstrip("\n") == "hello"


@pytest.mark.parametrize(("disk", "shown"), [("one\ntwo", "one\ntwo\n"), ("one\ntwo\n", "one\ntwo")])
async def test_the_last_line_feed_makes_no_buffer_dirty(desk: Desk, disk: str, shown: str) -> None:
    path = desk.file(disk)
    buffer = desk.editor.open(path, shown)

    seen, state = await desk.run(read(path), edit(path, "one", "ONE"))

    assert "not saved" not in seen["output"]
    assert state["status"] == "completed", state
    assert buffer.text.removesuffix("\n") == "ONE\ntwo"


async def test_text_in_another_encoding_is_saved_by_the_editor_as_it_was(desk: Desk) -> None:
    path = desk.file("Grüße aus Köln, schöne Straße\nold\n".encode("latin-1"))
    desk.editor.saves_to = ("latin-1", b"")
    buffer = desk.editor.open(path, "Grüße aus Köln, schöne Straße\nold\n")

    seen, state = await desk.run(read(path), edit(path, "old", "nöw"))

    assert "Grüße" in seen["output"]
    assert state["status"] == "completed", state
    assert buffer.text == "Grüße aus Köln, schöne Straße\nnöw\n"
    assert path.read_bytes() == "Grüße aus Köln, schöne Straße\nnöw\n".encode("latin-1")


async def test_l14_a_document_of_50_mb_does_not_stall_the_server(machine: Machine, model: Script) -> None:
    folder = machine.project("large")
    path = folder / "large.txt"
    path.write_text(("x" * 99 + "\n") * 500_000)
    async with machine.editor(folder, options(), capabilities=ABLE) as client:
        desk = await Desk.begin(client, folder, model)
        buffer = desk.editor.open(path)
        for number in range(20):
            identity = {"uri": buffer.uri, "version": 2 + number}
            place = {"line": 400_000, "character": 0}
            typed = [{"range": {"start": place, "end": place}, "text": "y"}]
            client.notify("textDocument/didChange", {"textDocument": identity, "contentChanges": typed})
        await client.request("server/status", seconds=10)

        seen = await desk.one(("read", {"filePath": str(path), "offset": 400_001, "limit": 1}))

    assert f"400001: {'y' * 20}{'x' * 99}" in seen["output"]


async def test_a_folder_or_pipe_that_claims_to_be_a_document_hurts_nobody(desk: Desk) -> None:
    os.mkfifo(desk.folder / "pipe")
    desk.editor.open(desk.folder / "pipe", "text\n")
    desk.editor.open(desk.folder, "text\n")
    path: Path = desk.file("one\n")
    desk.editor.open(path)

    state = await desk.one(edit(path, "one", "two"))

    assert state["status"] == "completed", state
