"""A command sees what the agent changed: its unsaved edits are saved before, the user's are named."""

from pathlib import Path

from e2e.buffers import ABLE, Buffer, Desk, bash, edit, options, read
from e2e.client import Message
from e2e.model import Script, calls, says
from e2e.server import Machine

FIRST = "one\ntwo\nthree\nfour\n"


def dirty(desk: Desk, name: str) -> Buffer:
    buffer = desk.editor.open(desk.file(FIRST, name))
    desk.editor.type(buffer, "one", "user")
    return buffer


def saves(desk: Desk) -> list[str]:
    return [params["uri"] for method, params in desk.editor.asked if method == "document/save"]


async def test_e18_of_two_dirty_buffers_only_the_agents_is_saved_and_the_users_is_named(desk: Desk) -> None:
    await desk.talk.ask("session/update", mode="auto")
    ours, theirs = dirty(desk, "ours.txt"), dirty(desk, "theirs.txt")

    _, ran = await desk.run(edit(ours.at, "four", "AGENT"), bash("cat ours.txt theirs.txt"))

    assert saves(desk) == [ours.uri]
    assert ran["output"].startswith("user\ntwo\nthree\nAGENT\none\ntwo\nthree\nfour\n")
    assert "theirs.txt" in ran["output"].rpartition("not saved")[2]
    assert "ours.txt" not in ran["output"].rpartition("not saved")[2]
    assert theirs.at.read_text() == FIRST


async def test_e18_an_edit_that_showed_only_after_its_time_is_saved(desk: Desk) -> None:
    """As an editor under load makes it."""
    await desk.talk.ask("session/update", mode="auto")
    ours = desk.editor.open(desk.file(FIRST, "ours.txt"))
    held: list[Message] = []
    desk.editor.on_edit = held.append
    state = await desk.one(edit(ours.at, "four", "AGENT"))
    assert state["metadata"]["unknown"] is True
    desk.editor.apply(held[0])

    ran = await desk.one(bash("cat ours.txt"))

    assert ran["output"].startswith("one\ntwo\nthree\nAGENT\n")
    assert saves(desk) == [ours.uri]


async def test_e18_once_saved_a_buffer_is_not_saved_again(desk: Desk) -> None:
    await desk.talk.ask("session/update", mode="auto")
    ours = dirty(desk, "ours.txt")

    states = await desk.run(edit(ours.at, "four", "AGENT"), bash("true"), bash("true"))

    assert saves(desk) == [ours.uri]
    assert "not saved" not in states[-1]["output"]


async def test_e18_what_is_not_saved_is_named(desk: Desk) -> None:
    await desk.talk.ask("session/update", mode="auto")
    ours = dirty(desk, "ours.txt")
    desk.editor.saves = False

    _, ran = await desk.run(edit(ours.at, "four", "AGENT"), bash("cat ours.txt"))

    assert ran["output"].startswith(FIRST)
    assert "older text on the disk: ours.txt" in ran["output"]


async def test_e18_a_conflict_is_not_saved_over(desk: Desk) -> None:
    await desk.talk.ask("session/update", mode="auto")
    ours = dirty(desk, "ours.txt")
    await desk.one(edit(ours.at, "four", "AGENT"))
    ours.at.write_text("from elsewhere\n")

    ran = await desk.one(bash("cat ours.txt"))

    assert saves(desk) == []
    assert ran["output"].startswith("from elsewhere\n")
    assert "ours.txt" in ran["output"].rpartition("not saved")[2]


async def test_e18_the_users_own_command_sees_the_agents_edits_too(desk: Desk) -> None:
    ours, theirs = dirty(desk, "ours.txt"), dirty(desk, "theirs.txt")
    await desk.one(edit(ours.at, "four", "AGENT"))

    mark = desk.talk.client.mark()
    await desk.talk.ask("session/shell", command="grep -l AGENT *.txt")
    await desk.talk.ended(after=mark)

    state = (await desk.talk.tools())[-1]["state"]
    assert state["output"].startswith("ours.txt\n")
    assert "theirs.txt" in state["output"].rpartition("not saved")[2]
    assert theirs.at.read_text() == FIRST


async def test_unsaved_files_out_of_the_project_are_nobodys_business(desk: Desk, tmp_path: Path) -> None:
    await desk.talk.ask("session/update", mode="auto")
    private = tmp_path / "diary.txt"
    private.write_text("dear\n")
    desk.editor.type(desk.editor.open(private), "dear", "diary")

    ran = await desk.one(bash("true"))

    assert "diary" not in ran["output"]


async def test_e18_without_save_the_agents_edits_are_named(machine: Machine, model: Script) -> None:
    folder = machine.project("unsaving")
    async with machine.editor(folder, options(save=False), capabilities=ABLE) as client:
        desk = await Desk.begin(client, folder, model, mode="auto")
        ours = dirty(desk, "ours.txt")

        _, ran = await desk.run(edit(ours.at, "four", "AGENT"), bash("cat ours.txt"))

    assert ran["output"].startswith(FIRST)
    assert "ours.txt" in ran["output"].rpartition("not saved")[2]
    assert desk.editor.edits
    assert saves(desk) == []


async def test_grep_says_where_the_editor_holds_other_text(desk: Desk) -> None:
    user = dirty(desk, "user.txt")
    desk.file("user elsewhere\n", "b.txt")

    everywhere, there, other = await desk.run(
        ("grep", {"pattern": "user"}),
        ("grep", {"pattern": "user", "path": str(user.at)}),
        ("grep", {"pattern": "user", "path": str(desk.folder / "b.txt")}),
    )

    assert "b.txt" in everywhere["output"]
    assert "not saved" in everywhere["output"]
    assert "user.txt" in there["output"].rpartition("not saved")[2]
    assert "not saved" not in other["output"]


async def test_the_question_shows_the_buffers_diff_and_typing_meanwhile_refuses_the_edit(desk: Desk) -> None:
    await desk.talk.ask("session/update", mode="ask")
    buffer = dirty(desk, "a.txt")
    mark = desk.talk.client.mark()
    desk.model.plays(calls(read(buffer.at)), calls(edit(buffer.at, "user", "AGENT")), says("Done."))
    await desk.talk.prompt("Go.")
    asked = await desk.talk.asked(after=mark, permission="edit")
    (file,) = asked["metadata"]["files"]
    assert "-user\n+AGENT\n" in file["patch"]

    desk.editor.type(buffer, "four", "FOUR, typed")
    await desk.talk.reply(asked)
    await desk.talk.ended(after=mark)

    state = (await desk.talk.tools())[-1]["state"]
    assert state["status"] == "error"
    assert "+FOUR, typed" in state["error"]
    assert desk.editor.edits == []
    assert buffer.text == "user\ntwo\nthree\nFOUR, typed\n"


async def test_a_buffer_saved_between_question_and_answer_is_still_the_text_that_was_judged(desk: Desk) -> None:
    await desk.talk.ask("session/update", mode="ask")
    buffer = dirty(desk, "a.txt")
    mark = desk.talk.client.mark()
    desk.model.plays(calls(edit(buffer.at, "user", "AGENT")), says("Done."))
    await desk.talk.prompt("Go.")
    asked = await desk.talk.asked(after=mark, permission="edit")

    desk.editor.save(buffer)
    await desk.talk.reply(asked)
    await desk.talk.ended(after=mark)

    state = (await desk.talk.tools())[-1]["state"]
    assert state["status"] == "completed", state
    assert buffer.at.read_text() == "AGENT\ntwo\nthree\nfour\n"
