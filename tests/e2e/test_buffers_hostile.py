"""What an editor may tell by mistake or malice: no text goes to the model unasked, and no other text is changed."""

import asyncio

import pytest

from e2e.buffers import Desk, edit, read
from e2e.client import Message
from e2e.model import calls, says
from e2e.test_buffers_asking import Answers, diagnostics, problem

SECRET = "TOKEN=xyzzy"


@pytest.mark.parametrize("name", [".env", ".env.local", "link.txt"])
async def test_p25_diagnostics_of_all_files_tell_nothing_of_those_whose_reading_asks(desk: Desk, name: str) -> None:
    """Language servers quote the text that they complain of."""
    secret = desk.file(f"{SECRET}\n", ".env" if name == "link.txt" else name)
    path = desk.folder / name
    if path != secret:
        path.symlink_to(secret)
    buffer = desk.editor.open(path)
    plain = desk.editor.open(desk.file("x\n"))
    documents = [
        {"uri": buffer.uri, "items": [problem(f"unexpected {SECRET}")], "version": buffer.version},
        {"uri": plain.uri, "items": [problem("bad")], "version": plain.version},
    ]
    Answers(desk, "editor/diagnostics", {"documents": documents})

    state = await desk.one(diagnostics())

    left_out = "(1 file that may not be read without a question, such as .env, left out.)"
    assert state["output"] == f"a.txt:1:1 error: bad [lint]\n{left_out}"


async def test_p25_diagnostics_that_an_editor_tells_beside_those_of_the_file_are_not_taken_for_its(desk: Desk) -> None:
    secret = desk.editor.open(desk.file(f"{SECRET}\n", ".env"))
    plain = desk.editor.open(desk.file("x\n"))
    documents = [
        {"uri": secret.uri, "items": [problem(f"unexpected {SECRET}")], "version": secret.version},
        {"uri": plain.uri, "items": [problem("bad")], "version": plain.version},
    ]
    Answers(desk, "editor/diagnostics", {"documents": documents})

    state = await desk.one(diagnostics(plain.path))

    assert state["output"] == "a.txt:1:1 error: bad [lint]"


@pytest.mark.parametrize("name", [".env", "%2Fsecrets%2F.env", "/somewhere/.env.local"])
async def test_p25_an_untitled_document_with_a_secret_files_name_asks(desk: Desk, name: str) -> None:
    buffer = desk.editor.untitled(name, f"{SECRET}\n")
    mark = desk.talk.client.mark()
    desk.model.plays(calls(read(buffer.uri)), says("Done."))
    await desk.talk.prompt("Go.")
    asked = await desk.talk.asked(after=mark)
    assert asked["permission"] == "read"
    await desk.talk.reply(asked, "reject")
    await desk.talk.ended(after=mark)
    assert SECRET not in str(desk.model.requests)


async def test_p25_an_edit_that_fails_does_not_quote_the_buffer_of_a_secret_file(desk: Desk) -> None:
    buffer = desk.editor.open(desk.file("TOKEN=old\n", ".env"))
    desk.editor.type(buffer, "old", "xyzzy")
    mark = desk.talk.client.mark()
    desk.model.plays(calls(edit(buffer.at, "TOKEN=xyz\n", "")), says("Done."))
    await desk.talk.prompt("Go.")
    asked = await desk.talk.asked(after=mark)
    assert asked["permission"] == "read"
    await desk.talk.reply(asked, "reject")
    await desk.talk.ended(after=mark)
    assert SECRET not in str(desk.model.requests)


async def test_e18_a_version_that_stays_the_same_does_not_hide_what_is_unsaved(desk: Desk) -> None:
    buffer = desk.editor.open(desk.file("one\n"))
    search = ("grep", {"pattern": "nowhere"})
    assert "a.txt" not in (await desk.one(search))["output"]
    buffer.version -= 1
    desk.editor.type(buffer, "one", "typed")
    assert "a.txt" in (await desk.one(search))["output"]


async def test_tens_of_thousands_of_diagnostics_do_not_stall_the_server(desk: Desk) -> None:
    buffer = desk.editor.open(desk.file("é and some more of a line\n" * 20_000))
    items = [problem(f"of line {number}", number, 3) for number in range(20_000)]
    told = {"documents": [{"uri": buffer.uri, "items": items, "version": buffer.version}]}
    came, answered = asyncio.Event(), asyncio.Event()

    async def answer(_: Message) -> Message:
        came.set()
        await answered.wait()
        return told

    desk.talk.client.answers["editor/diagnostics"] = answer
    running = asyncio.create_task(desk.one(diagnostics()))
    await came.wait()
    answered.set()
    beside = 0
    while not running.done():
        await desk.talk.client.request("server/status")
        beside += 1

    output = (await running)["output"]
    assert output.startswith("a.txt:1:4 error: of line 0 [lint]\n")
    assert output.endswith("\n(19900 more are left out.)")
    assert beside > 20
