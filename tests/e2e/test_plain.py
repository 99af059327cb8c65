"""A client with no code of ours: commands, code actions, progress, and an answer that it can see."""

import asyncio
import os
import re
import stat
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from e2e.client import Client, Message, RpcError
from e2e.model import Script, calls, says
from e2e.server import OPTIONS, Machine

WINDOW = {"workDoneProgress": True, "showDocument": {"support": True}, "showMessage": {}}
ACTIONS = {
    "codeActionLiteralSupport": {"codeActionKind": {"valueSet": ["quickfix", "refactor"]}},
    "tagSupport": {"valueSet": [1]},
}
CAPABILITIES: Message = {"window": WINDOW, "textDocument": {"codeAction": ACTIONS}}
OURS = ("session/", "turn/", "message/", "part/", "permission/", "question/", "notice", "queue/", "file/", "todo/")
LONG = "# What it does\n\nIt adds two numbers.\n\n```python\nprint(1 + 1)\n```"


class Plain:
    """An editor and its user."""

    def __init__(self, client: Client, folder: Path) -> None:
        self.client = client
        self.folder = folder
        self.began = client.mark()
        self.choices: asyncio.Queue[str | None] = asyncio.Queue()
        client.answers["window/workDoneProgress/create"] = self._null
        client.answers["window/showDocument"] = self._shown
        client.answers["window/showMessageRequest"] = self._choose

    async def _null(self, _: Message) -> None:
        return None

    async def _shown(self, _: Message) -> Message:
        return {"success": True}

    async def _choose(self, _: Message) -> Any:
        title = await self.choices.get()
        return None if title is None else {"title": title}

    def send(self, command: str, *arguments: object, **more: object) -> int:
        return self.client.send("workspace/executeCommand", {"command": command, "arguments": [*arguments], **more})

    async def run(self, command: str, *arguments: object, **more: object) -> Any:
        return await self.client.answer(self.send(command, *arguments, **more))

    async def refused(self, command: str, *arguments: object) -> RpcError:
        params = {"command": command, "arguments": [*arguments]}
        return await self.client.refused("workspace/executeCommand", params)

    async def wait(self, method: str, **more: Any) -> Message:
        return await self.client.wait_for(method, **({"after": self.began} | more))

    def seen(self, method: str, **members: Any) -> list[Message]:
        return self.client.seen(method, after=self.began, **members)

    async def told(self, words: str) -> Message:
        return await self.wait("window/showMessage", where=lambda p: words in p["message"])

    async def progress(self, kind: str, words: str = "", **members: object) -> Message:
        def fits(params: Message) -> bool:
            return params["value"]["kind"] == kind and words in params["value"].get("message", "")

        return await self.wait("$/progress", where=fits, **members)

    def created(self) -> list[Message]:
        return self.seen("window/workDoneProgress/create")

    def kinds(self, token: object) -> list[str]:
        return [params["value"]["kind"] for params in self.seen("$/progress", token=token)]

    def opens(self, name: str, text: str, version: int = 1) -> str:
        uri = (self.folder / name).as_uri()
        document = {"uri": uri, "languageId": "python", "version": version, "text": text}
        self.client.notify("textDocument/didOpen", {"textDocument": document})
        return uri

    async def actions(self, uri: str, where: Message, **context: object) -> list[Message]:
        params = {"textDocument": {"uri": uri}, "range": where, "context": {"diagnostics": [], **context}}
        return await self.client.request("textDocument/codeAction", params)


def range_of(first: int, start: int, last: int, end: int) -> Message:
    return {"start": {"line": first, "character": start}, "end": {"line": last, "character": end}}


@pytest.fixture(scope="module")
async def window(shared_machine: Machine) -> AsyncIterator[Client]:
    folder = shared_machine.project("plain")
    async with shared_machine.editor(folder, None, capabilities=CAPABILITIES) as client:
        yield client
        assert [m["method"] for m in client.log if str(m.get("method", "")).startswith(OURS)] == []


@pytest.fixture
async def plain(window: Client, shared_machine: Machine, model: Script) -> AsyncIterator[Plain]:
    """A user in a session of the test's own; the window is the module's."""
    plain = Plain(window, shared_machine.projects / "plain")
    await plain.run("agentls.newSession")
    yield plain
    await plain.run("agentls.abort")


@pytest.fixture
async def fresh(machine: Machine) -> AsyncIterator[Plain]:
    """A user whose editor was opened just now."""
    folder = machine.project("fresh")
    async with machine.editor(folder, None, capabilities=CAPABILITIES) as client:
        yield Plain(client, folder)


def heard(model: Script) -> str:
    return "\n".join(str(message["content"]) for message in model.requests[-1]["messages"])


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


# -- progress


async def test_progress_says_what_is_done_and_ends_once(plain: Plain, model: Script) -> None:
    model.plays(
        calls(("bash", {"command": "echo a > a"}), words="I write."),
        says("Written.", 2, gate="more", before="last"),
    )
    await plain.run("agentls.prompt", "Write")
    begun = await plain.progress("begin")
    assert begun["value"]["title"] == "agentls"
    assert begun["value"]["cancellable"] is True
    created = await plain.wait("window/workDoneProgress/create")
    assert created["token"] == begun["token"]
    await plain.progress("report", "waiting for your answer")
    plain.choices.put_nowait("Allow once")
    await plain.progress("report", "bash echo a > a")
    model.open("last")
    await plain.progress("report", "writing")
    model.open("more")
    await plain.progress("end", "done")
    await plain.told("Written.")
    kinds = plain.kinds(begun["token"])
    assert (kinds[0], kinds[-1]) == ("begin", "end")
    assert kinds.count("begin") == kinds.count("end") == 1


async def test_cancelling_the_progress_aborts_the_turn(plain: Plain, model: Script) -> None:
    model.plays(says("Never whole", 2, gate="never"))
    await plain.run("agentls.prompt", "Go", workDoneToken="mine")
    await plain.progress("report", "writing", token="mine")
    plain.client.notify("window/workDoneProgress/cancel", {"token": "mine"})
    await plain.progress("end", "aborted", token="mine")
    await plain.told("The turn was aborted.")
    plain.client.notify("window/workDoneProgress/cancel", {"token": "mine"})
    model.plays(says("Here."))
    await plain.run("agentls.prompt", "Still there?")
    await plain.told("Here.")
    assert plain.kinds("mine").count("end") == 1
    assert len(plain.created()) == 1


async def test_a_queued_prompt_has_its_progress_when_its_turn_comes(plain: Plain, model: Script) -> None:
    model.plays(says("First, long", 2, gate="go"), says("Second."))
    await plain.run("agentls.prompt", "one")
    await plain.progress("report", "writing")
    queued = await plain.run("agentls.prompt", {"text": "two", "delivery": "queue"}, workDoneToken="second")
    assert queued["state"] == "queued"
    assert plain.kinds("second") == []
    model.open("go")
    await plain.progress("end", "done", token="second")
    await plain.told("Second.")


async def test_a_steered_prompt_joins_the_turn_and_its_answer_is_told_once(plain: Plain, model: Script) -> None:
    model.plays(says("First", 2, gate="go"), says("Both."))
    await plain.run("agentls.prompt", "one")
    await plain.progress("report", "writing")
    await plain.run("agentls.prompt", "two", workDoneToken="joined")
    model.open("go")
    await plain.progress("end", "done", token="joined")
    await plain.told("Both.")
    assert plain.kinds("joined")[0] == "begin"
    model.plays(says("Fin."))
    await plain.run("agentls.prompt", "three")
    await plain.told("Fin.")
    assert [p["message"] for p in plain.seen("window/showMessage")].count("Both.") == 1


async def test_a_client_without_progress_gets_none(machine: Machine, model: Script) -> None:
    model.plays(says(LONG))
    folder = machine.project("bare")
    async with machine.editor(folder, None) as client:
        plain = Plain(client, folder)
        await plain.run("agentls.prompt", "Go")
        await plain.told("The answer is in ")
        assert client.seen("$/progress") == client.seen("window/workDoneProgress/create") == []
        assert client.seen("window/showDocument") == []


# -- permission


async def test_reply_by_command_takes_the_dialog_back(plain: Plain, model: Script) -> None:
    model.plays(calls(("bash", {"command": "echo a > a"})), says("Not done."))
    await plain.run("agentls.prompt", "Run it")
    await plain.wait("window/showMessageRequest")
    replied = await plain.run("agentls.reply", "reject", "use", "b instead")
    assert replied["status"] == "accepted"
    await plain.wait("$/cancelRequest")
    await plain.told("Not done.")
    assert "use b instead" in heard(model)


async def test_a_dismissed_dialog_comes_back_by_command(plain: Plain, model: Script) -> None:
    model.plays(calls(("bash", {"command": "echo a > a"})), says("Done."))
    plain.choices.put_nowait(None)
    await plain.run("agentls.prompt", "Run it")
    await plain.wait("window/showMessageRequest")
    mark = plain.client.mark()
    listed = await plain.run("agentls.permissions")
    assert [one["permission"] for one in listed["permissions"]] == ["bash"]
    plain.choices.put_nowait("Allow once")
    await plain.wait("window/showMessageRequest", after=mark)
    await plain.told("Done.")
    assert (plain.folder / "a").exists()


async def test_after_a_restart_turns_go_on_and_several_questions_must_be_named(machine: Machine, model: Script) -> None:
    folder = machine.project("restart")
    model.plays(*(calls(("bash", {"command": f"echo {name} > {name}"})) for name in "ab"), says("One."), says("Two."))
    async with machine.editor(folder, None, capabilities=CAPABILITIES) as client:
        plain = Plain(client, folder)
        for name in "ab":
            await plain.run("agentls.newSession", name)
            await plain.run("agentls.prompt", "Run it", workDoneToken=name)
            await plain.progress("report", "waiting for your answer", token=name)
        await client.kill()
    async with machine.editor(folder, None, capabilities=CAPABILITIES) as client:
        plain = Plain(client, folder)
        asked = (await plain.run("agentls.permissions"))["permissions"]
        assert len(asked) == 2
        error = await plain.refused("agentls.reply", "once")
        assert all(one["permissionId"] in error.message for one in asked)
        await plain.run("agentls.reply", {"permissionId": asked[0]["permissionId"], "reply": "once"})
        await plain.told("One.")
        for _ in asked:  # the first is a late click on the dialog that was taken back
            plain.choices.put_nowait("Allow once")
        await plain.told("Two.")


async def test_a_question_is_answered_by_command(plain: Plain, model: Script) -> None:
    options = [{"label": "Red"}, {"label": "Blue"}]
    question = {"questions": [{"header": "Colour", "question": "Which?", "options": options}]}
    model.plays(calls(("question", question)), says("Green it is."))
    await plain.run("agentls.prompt", "Ask me")
    await plain.wait("window/showMessageRequest")
    assert (await plain.run("agentls.reply", {"answers": "Green"}))["status"] == "accepted"
    await plain.told("Green it is.")
    assert "Green" in heard(model)


# -- code actions


async def test_asking_about_the_selection_sends_its_text_as_it_stands_in_the_editor(
    plain: Plain, model: Script
) -> None:
    uri = plain.opens("a.py", "x = '🙂' + old\ny = 2\n")
    change = {"range": range_of(0, 11, 0, 14), "text": "fresh"}
    versioned = {"textDocument": {"uri": uri, "version": 2}, "contentChanges": [change]}
    plain.client.notify("textDocument/didChange", versioned)
    [action] = await plain.actions(uri, range_of(0, 5, 1, 0))
    assert action["title"] == "Ask about the selection"
    assert action["tags"] == [1]
    model.plays(says("A face."))
    await plain.run(action["command"]["command"], *action["command"]["arguments"])
    await plain.told("A face.")
    assert f"lines 1 to 1 of {plain.folder}/a.py" in heard(model)
    assert "🙂' + fresh\n" in heard(model)
    assert "Explain this." in heard(model)


async def test_fixing_a_diagnostic_sends_it_with_its_lines(plain: Plain, model: Script) -> None:
    uri = plain.opens("a.py", "import os\nprint(undefined_name)\n")
    where = range_of(1, 6, 1, 20)
    diagnostic = {"range": where, "severity": 1, "source": "lint", "message": "undefined\nname " + "x" * 80}
    actions = await plain.actions(uri, range_of(1, 6, 1, 6), diagnostics=[diagnostic])
    assert [action["kind"] for action in actions] == ["quickfix"]
    [action] = actions
    assert action["title"].startswith("Fix this diagnostic: undefined name xxx")
    assert len(action["title"]) <= 85
    assert action["diagnostics"][0]["message"] == diagnostic["message"]
    model.plays(says("Fixed."))
    await plain.run(action["command"]["command"], *action["command"]["arguments"])
    await plain.told("Fixed.")
    assert re.search(r"2:7 error: undefined\sname xxx", heard(model))
    assert "[lint]" in heard(model)
    assert "lines 2 to 2" in heard(model)
    assert "print(undefined_name)" in heard(model)


async def test_a_selection_in_a_document_that_is_not_open_is_refused(plain: Plain) -> None:
    part = {"type": "selection", "uri": "file:///nowhere.py", "range": range_of(0, 0, 1, 0)}
    error = await plain.refused("agentls.prompt", {"text": "Explain", "parts": [part]})
    assert "file:///nowhere.py is not open" in error.message


# -- who gets what


async def test_a_client_with_our_options_has_its_own_surfaces(machine: Machine, model: Script) -> None:
    folder = machine.project("ours")
    async with machine.process(folder) as client:
        root = [{"uri": folder.as_uri(), "name": "ours"}]
        answer = await client.initialize(OPTIONS, workspaceFolders=root, capabilities=CAPABILITIES)
        capabilities = answer["capabilities"]
        assert "codeActionProvider" not in capabilities
        assert capabilities["executeCommandProvider"]["commands"] == ["agentls.permissions"]
        plain = Plain(client, folder)
        model.plays(says(LONG), says("Short."))
        await plain.run("agentls.prompt", {"text": "Go", "wait": "idle"})
        session = await client.request("session/create", {"directory": str(folder)})
        params = {"sessionId": session["session"]["id"], "parts": [{"type": "text", "text": "Go"}]}
        await client.request("session/prompt", {**params, "workDoneToken": 7, "wait": "idle"})
        await plain.progress("end", "done", token=7)
        assert plain.kinds(7)[0] == "begin"
        await client.shut_down()
        assert [m["method"] for m in client.log if str(m.get("method", "")).startswith("window/")] == []


async def test_a_plain_client_is_offered_commands_and_actions(machine: Machine) -> None:
    folder = machine.project("offer")
    async with machine.process(folder) as client:
        capabilities = (await client.initialize(None, capabilities=CAPABILITIES))["capabilities"]
        names = ["prompt", "abort", "shell", "permissions", "reply", "newSession"]
        assert capabilities["executeCommandProvider"]["commands"] == [f"agentls.{name}" for name in names]
        assert capabilities["codeActionProvider"] == {"codeActionKinds": ["quickfix", "agentls.ask"]}
    async with machine.process(folder) as client:
        capabilities = (await client.initialize(None))["capabilities"]
        assert "codeActionProvider" not in capabilities


async def test_a_plain_client_with_methods_of_its_own_is_shown_nothing_unasked(machine: Machine, model: Script) -> None:
    folder = machine.project("methods")
    async with machine.editor(folder, None, capabilities=CAPABILITIES) as client:
        plain = Plain(client, folder)
        session = await client.request("session/create", {"directory": str(folder)})
        params = {"sessionId": session["session"]["id"], "parts": [{"type": "text", "text": "Go"}], "wait": "idle"}
        model.plays(says(LONG), says("By command."))
        assert (await client.request("session/prompt", params))["stopReason"] == "done"
        await plain.run("agentls.prompt", "Go")
        await plain.told("By command.")
        assert client.seen("window/showDocument") == []


async def test_the_end_of_the_process_ends_the_progress(fresh: Plain, model: Script) -> None:
    model.plays(says("Never whole", 2, gate="never"))
    await fresh.run("agentls.prompt", "Go", workDoneToken="last")
    await fresh.progress("report", "writing", token="last")
    assert await fresh.client.shut_down() == 0
    assert fresh.kinds("last")[-1] == "end"
    assert fresh.kinds("last").count("end") == 1
