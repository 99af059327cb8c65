"""A client with no code of ours: commands, and an answer that it can see."""

import os
import stat
from pathlib import Path
from typing import Any

import pytest

from e2e.client import Message, RpcError
from e2e.model import Script, calls, says
from e2e.plain import CAPABILITIES, LONG, Plain, heard
from e2e.server import Machine

# -- prompt and its answer


async def test_a_short_answer_is_a_message(plain: Plain, model: Script) -> None:
    model.plays(says("Four."))
    result = await plain.run("agentls.prompt", "What is", "two and two?")
    assert result["state"] == "running"
    assert (await plain.told("Four."))["type"] == 3
    assert "What is two and two?" in heard(model)
    assert plain.seen("window/showDocument") == []


async def test_a_longer_answer_is_a_document_beside(plain: Plain, model: Script, shared_machine: Machine) -> None:
    (plain.folder / "a.py").write_text("print(1 + 1)\n")
    model.plays(calls(("read", {"filePath": str(plain.folder / "a.py")}), words="I look."), says(LONG, 3))
    await plain.run("agentls.prompt", {"text": "What does a.py do?"})
    shown = await plain.wait("window/showDocument")
    assert shown["takeFocus"] is False
    file = Path(shown["uri"].removeprefix("file://"))
    assert file.parent == shared_machine.data / "answers"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    text = file.read_text(encoding="utf-8")
    assert text.startswith("> What does a.py do?\n\nI look.\n\n- ✓ `read ")
    assert text.endswith(LONG + "\n")


@pytest.mark.parametrize("answer", [{"success": False}, None])
async def test_a_document_that_cannot_be_shown_is_named(
    plain: Plain, model: Script, answer: Message | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def answers(_: Message) -> Any:
        return answer

    monkeypatch.setitem(plain.client.answers, "window/showDocument", answers)
    model.plays(says(LONG))
    await plain.run("agentls.prompt", "Explain")
    told = await plain.told("The answer is in ")
    assert Path(told["message"].removeprefix("The answer is in ")).read_text().endswith(LONG + "\n")
    [logged] = plain.seen("window/logMessage")
    assert LONG in logged["message"]


async def test_answers_older_than_a_week_go(plain: Plain, model: Script, shared_machine: Machine) -> None:
    folder = shared_machine.data / "answers"
    folder.mkdir(exist_ok=True)
    for name in ("answer-old.md", "mine.md"):
        (folder / name).write_text("old")
        os.utime(folder / name, (0, 0))
    model.plays(says(LONG))
    await plain.run("agentls.prompt", "Explain")
    await plain.wait("window/showDocument")
    assert not (folder / "answer-old.md").exists()
    assert (folder / "mine.md").exists()


async def test_one_session_until_a_new_one_is_asked_for(plain: Plain, model: Script) -> None:
    model.plays(says("First."), says("Second."), says("Third."))
    await plain.run("agentls.prompt", "one")
    await plain.told("First.")
    await plain.run("agentls.prompt", "two")
    await plain.told("Second.")
    assert "one" in heard(model)
    session = (await plain.run("agentls.newSession", "Another"))["session"]
    assert (session["title"], session["directory"]) == ("Another", str(plain.folder))
    await plain.run("agentls.prompt", "three")
    await plain.told("Third.")
    assert "First." not in heard(model)


async def test_a_session_that_there_is_not_does_not_become_the_one_that_is_meant(plain: Plain, model: Script) -> None:
    model.plays(says("First."), says("Second."))
    await plain.run("agentls.prompt", "one")
    await plain.told("First.")
    for command in ("agentls.prompt", "agentls.shell"):
        error = await plain.refused(command, "two", {"sessionId": "ses_00000000000000000000000000"})
        assert error.kind == "session_not_found"
    await plain.run("agentls.prompt", "three")
    await plain.told("Second.")
    assert "one" in heard(model)


async def test_wait_idle_answers_at_the_end_and_its_cancel_aborts(plain: Plain, model: Script) -> None:
    model.plays(says("Done."), says("Never whole", 2, gate="never"))
    result = await plain.run("agentls.prompt", {"text": "Go", "wait": "idle"})
    assert result["stopReason"] == "done"
    request = plain.send("agentls.prompt", {"text": "Again", "wait": "idle"})
    await plain.progress("report", "writing")
    plain.client.notify("$/cancelRequest", {"id": request})
    with pytest.raises(RpcError) as caught:
        await plain.client.answer(request)
    assert caught.value.kind == "cancelled"
    await plain.told("The turn was aborted.")


async def test_a_failed_turn_says_why(plain: Plain, model: Script) -> None:
    model.plays()
    await plain.run("agentls.prompt", "Go")
    assert (await plain.told("the script of the test has ended"))["type"] == 1


@pytest.mark.parametrize("follow", [True, False])
async def test_edited_files_are_shown_where_the_setting_says_so(machine: Machine, model: Script, follow: bool) -> None:
    machine.settings(model.url, **({"editor": {"follow": True}} if follow else {}))
    folder = machine.project("follow", {"a.txt": "one\n"})
    edit = {"filePath": str(folder / "a.txt"), "oldString": "one", "newString": "two"}
    model.plays(calls(("read", {"filePath": edit["filePath"]})), calls(("edit", edit), ids="edit"), says("Done."))
    async with machine.editor(folder, None, capabilities=CAPABILITIES) as client:
        plain = Plain(client, folder)
        plain.choices.put_nowait("Allow once")
        await plain.run("agentls.prompt", "Edit it")
        await plain.told("Done.")
        shown = [(one["uri"], one["takeFocus"]) for one in plain.seen("window/showDocument")]
        assert shown == ([((folder / "a.txt").as_uri(), False)] if follow else [])


# -- arguments


@pytest.mark.parametrize(
    ("command", "arguments", "words"),
    [
        ("agentls.prompt", [], "there is no text to send"),
        ("agentls.prompt", ["  "], "there is no text to send"),
        ("agentls.prompt", [None, {}], "there is no text to send"),
        ("agentls.prompt", [7], "7 is neither a string nor an object"),
        ("agentls.prompt", [{"text": 7}], "`text` is not a string"),
        ("agentls.prompt", [{"parts": {"type": "text"}}], "`parts` is not a list"),
        ("agentls.prompt", [{"parts": [{"type": "text"}]}], "parts.0.text.text"),
        ("agentls.prompt", [{"parts": [{"type": "selection", "uri": "file:///x", "range": 1}]}], "not a range"),
        ("agentls.shell", [], "command"),
        ("agentls.abort", [{"queue": "burn"}], "queue"),
        ("agentls.reply", [], "there is no reply"),
        ("agentls.reply", ["yes"], "'yes' is no reply"),
        ("agentls.newSession", [{"mode": "wild"}], "mode"),
    ],
)
async def test_what_a_command_cannot_use_is_refused_with_what_it_wants(
    plain: Plain, command: str, arguments: list[object], words: str
) -> None:
    error = await plain.refused(command, *arguments)
    assert error.kind == "invalid_params"
    assert error.message.startswith(f"{command}: ")
    assert words in error.message
    assert "Give " in error.message


@pytest.mark.parametrize("arguments", ["Say it", {"text": "Say it"}, [{"parts": [{"type": "text", "text": "Say it"}]}]])
async def test_arguments_need_no_list(plain: Plain, model: Script, arguments: object) -> None:
    model.plays(says("Said."))
    params = {"command": "agentls.prompt", "arguments": arguments}
    await plain.client.request("workspace/executeCommand", params)
    await plain.told("Said.")
    assert "Say it" in heard(model)


async def test_nothing_to_abort_and_nothing_to_answer(fresh: Plain) -> None:
    assert await fresh.run("agentls.abort") == {"aborted": False}
    error = await fresh.refused("agentls.reply", "once")
    assert error.kind == "permission_not_found"
    assert error.message.endswith("agentls.permissions lists what is open.")
    assert await fresh.run("agentls.permissions") == {"permissions": [], "questions": []}


# -- shell


async def test_shell_shows_what_the_command_printed(plain: Plain) -> None:
    result = await plain.run("agentls.shell", "echo out; exit 3")
    assert set(result) == {"messageId", "partId", "turnId"}
    shown = await plain.wait("window/showDocument")
    text = Path(shown["uri"].removeprefix("file://")).read_text()
    assert text == "```\n$ echo out; exit 3\nout\n\nExit code: 3\n```\n"


async def test_abort_ends_a_shell_command(plain: Plain) -> None:
    await plain.run("agentls.shell", "sleep 1000")
    await plain.progress("begin")
    assert (await plain.run("agentls.abort"))["aborted"] is True
    await plain.told("The turn was aborted.")
    await plain.progress("end", "aborted")
