"""What the editor is asked beside edits: diagnostics of the newest text, what the user looks at; three silences."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from e2e.buffers import ABLE, Desk, edit, options, read
from e2e.client import Message
from e2e.model import Script, calls, says
from e2e.server import Machine


def problem(message: str, line: int = 0, character: int = 0, severity: int = 1) -> Message:
    place = {"line": line, "character": character}
    return {"message": message, "severity": severity, "range": {"start": place, "end": place}, "source": "lint"}


class Answers:
    """Answers a request of the server as it is told, and counts."""

    def __init__(self, desk: Desk, method: str, result: Any = None) -> None:
        self.result = result
        self.asked: list[Message] = []
        self.silent = False
        desk.talk.client.answers[method] = self._answer

    async def _answer(self, params: Message) -> Any:
        self.asked.append(params)
        if self.silent:
            await asyncio.Event().wait()
        return self.result(params) if callable(self.result) else self.result


def diagnostics(path: object = None) -> tuple[str, dict[str, object]]:
    return "diagnostics", {} if path is None else {"filePath": str(path)}


@asynccontextmanager
async def own_desk(machine: Machine, model: Script, **documents: bool) -> AsyncIterator[Desk]:
    """A server of the test's own: what it learned of an editor's silence stays."""
    folder = machine.project("own")
    async with machine.editor(folder, options(**documents), capabilities=ABLE) as client:
        yield await Desk.begin(client, folder, model)


async def test_l16_diagnostics_of_the_text_as_it_is(desk: Desk) -> None:
    buffer = desk.editor.open(desk.file("🙂 bad\nworse\n"))
    items = [problem("smells", 1, severity=2), problem("broken", 0, 3)]
    told = Answers(
        desk, "editor/diagnostics", {"documents": [{"uri": buffer.uri, "items": items, "version": buffer.version}]}
    )

    state = await desk.one(diagnostics(buffer.path))

    assert state["output"] == "a.txt:1:3 error: broken [lint]\na.txt:2:1 warning: smells [lint]"
    assert told.asked == [{"uri": buffer.uri}]


async def test_l16_older_diagnostics_are_waited_for(desk: Desk) -> None:
    buffer = desk.editor.open(desk.file("bad\n"))
    version = buffer.version

    def catching_up(_: Message) -> Message:
        late = len(told.asked) < 3
        items = [problem("of the old text")] if late else []
        return {"documents": [{"uri": buffer.uri, "items": items, "version": version if late else buffer.version}]}

    told = Answers(desk, "editor/diagnostics", catching_up)
    _, state = await desk.run(edit(buffer.at, "bad", "good"), diagnostics(buffer.path))

    assert len(told.asked) == 3
    assert state["output"] == "The editor shows no problems."


async def test_l16_what_does_not_come_in_time_is_not_available_yet(desk: Desk) -> None:
    buffer = desk.editor.open(desk.file("bad\n"))
    old = {"uri": buffer.uri, "items": [problem("of the old text")], "version": buffer.version}
    Answers(desk, "editor/diagnostics", {"documents": [old]})

    _, state = await desk.run(edit(buffer.at, "bad", "good"), diagnostics(buffer.path))

    assert "Not available yet for a.txt" in state["output"]
    assert "of the old text" not in state["output"]
    assert "no problems" not in state["output"]


async def test_l16_without_versions_some_quiet_time_is_waited_and_said(desk: Desk) -> None:
    buffer = desk.editor.open(desk.file("bad\n"))
    told = Answers(desk, "editor/diagnostics", {"documents": [{"uri": buffer.uri, "items": [problem("bad")]}]})

    _, state = await desk.run(edit(buffer.at, "bad", "good"), diagnostics(buffer.path))

    assert len(told.asked) > 2
    assert "a.txt:1:1 error: bad [lint]" in state["output"]
    assert "does not say which text" in state["output"]


async def test_diagnostics_of_all_files_stay_in_the_project_and_begin_where_the_user_is(desk: Desk) -> None:
    names = {name: desk.file("x\n", name).as_uri() for name in ("a.txt", "b.txt")}
    documents = [{"uri": uri, "items": [problem(f"in {name}")]} for name, uri in names.items()]
    Answers(desk, "editor/diagnostics", {"documents": [*documents, {"uri": "file:///etc/x", "items": [problem("no")]}]})
    looked = Answers(desk, "editor/context", {"uri": names["b.txt"], "open": [names["b.txt"]]})

    state = await desk.one(diagnostics())

    assert state["output"] == "b.txt:1:1 error: in b.txt [lint]\na.txt:1:1 error: in a.txt [lint]"
    assert looked.asked == [{}]


async def test_the_tool_is_offered_only_where_the_editor_serves_it(machine: Machine, model: Script) -> None:
    async with own_desk(machine, model, save=True) as desk:
        await desk.run()
        offered = [tool["function"]["name"] for tool in desk.model.requests[-1]["tools"]]
        assert "read" in offered
        assert "diagnostics" not in offered
        state = await desk.one(diagnostics())
        assert "gives no diagnostics" in state["error"]


async def test_the_tool_is_offered_where_the_editor_serves_it(desk: Desk) -> None:
    await desk.run()
    assert "diagnostics" in [tool["function"]["name"] for tool in desk.model.requests[-1]["tools"]]


@pytest.mark.parametrize(
    "answer",
    [
        None,
        [],
        {"documents": None},
        {"documents": [{"items": []}]},
        {"documents": [{"uri": "file:///a", "items": 3}]},
        {"documents": [{"uri": "file:///a", "items": [{"severity": "high"}]}]},
        {"documents": [{"uri": "file:///a", "items": [{"message": "a", "range": {"start": 1}}]}]},
    ],
)
async def test_three_malformed_answers_are_three_silences(machine: Machine, model: Script, answer: Any) -> None:
    async with own_desk(machine, model) as desk:
        told = Answers(desk, "editor/diagnostics", answer)

        first, second = await desk.run(diagnostics(), diagnostics())
        await desk.run()

    assert len(told.asked) == 3
    assert first["status"] == second["status"] == "error"
    assert "diagnostics" not in [tool["function"]["name"] for tool in desk.model.requests[-1]["tools"]]
    assert machine.log().count("editor/diagnostics:") == 3


async def test_silent_three_times_diagnostics_are_not_asked_for_again(machine: Machine, model: Script) -> None:
    async with own_desk(machine, model) as desk:
        told = Answers(desk, "editor/diagnostics")
        told.silent = True

        first, second = await desk.run(diagnostics(), diagnostics())

        assert len(told.asked) == 3
        assert first["status"] == second["status"] == "error"
        assert len(desk.talk.client.seen("$/cancelRequest")) == 3


async def test_silent_three_times_the_context_is_not_asked_for_again(machine: Machine, model: Script) -> None:
    async with own_desk(machine, model) as desk:
        documents = [{"uri": desk.file("x\n", name).as_uri(), "items": []} for name in ("a.txt", "b.txt")]
        Answers(desk, "editor/diagnostics", {"documents": documents})
        looked = Answers(desk, "editor/context")
        looked.silent = True

        states: list[Message] = []
        for _ in range(4):  # in sessions of their own: the same call again and again would be asked about
            other = await Desk.begin(desk.talk.client, desk.folder, model)
            states.append(await other.one(diagnostics()))

        assert len(looked.asked) == 3
    assert {state["output"] for state in states} == {"The editor shows no problems."}


async def test_silent_three_times_documents_are_not_saved_by_the_editor_again(machine: Machine, model: Script) -> None:
    """From then on a clean document is changed on the disk, as without `save`."""
    async with own_desk(machine, model) as desk:
        buffers = [desk.editor.open(desk.file("old\n", f"{number}.txt")) for number in range(4)]
        asked = Answers(desk, "document/save")
        asked.silent = True
        states = [await desk.one(edit(buffer.at, "old", "new")) for buffer in buffers]

        assert len(asked.asked) == 3
        assert [state["metadata"].get("saved") for state in states] == [False, False, False, None]
        assert [buffer.text for buffer in buffers] == ["new\n"] * 3 + ["old\n"]
        assert [buffer.at.read_text() for buffer in buffers] == ["old\n"] * 3 + ["new\n"]


async def test_one_answer_ends_a_row_of_silences(machine: Machine, model: Script) -> None:
    async with own_desk(machine, model) as desk:
        good: Message = {"documents": []}
        told = Answers(desk, "editor/diagnostics", lambda _: None if len(told.asked) % 3 else good)

        states = await desk.run(diagnostics(), diagnostics())

        assert [state["status"] for state in states] == ["completed", "completed"]
        assert len(told.asked) == 6


async def test_r21_a_selection_that_moved_or_changed_is_said(desk: Desk) -> None:
    buffer = desk.editor.open(desk.file("one\ntwo 🙂\nthree\nfour\n"))
    place = {"start": {"line": 1, "character": 0}, "end": {"line": 2, "character": 5}}
    selection = {"type": "selection", "uri": buffer.uri, "range": place, "text": "two 🙂\nthree", "version": 1}

    async def told() -> str:
        desk.model.plays(says("Seen."))
        mark = desk.talk.client.mark()
        await desk.talk.ask("session/prompt", parts=[selection])
        await desk.talk.ended(after=mark)
        return str(desk.model.requests[-1]["messages"][-1]["content"])

    as_it_was = await told()
    desk.editor.type(buffer, "four", "FOUR")
    elsewhere = await told()
    desk.editor.type(buffer, "one", "zero\none")
    moved = await told()
    desk.editor.type(buffer, "three", "3")
    changed = await told()

    for words in (as_it_was, elsewhere):
        assert "lines 2 to 3" in words
        assert "edited since" not in words
    assert "this text stands at lines 3 to 4 now" in moved
    assert "does not stand in it any more" in changed


async def test_r21_attached_diagnostics_are_told_in_lines_and_characters(desk: Desk) -> None:
    buffer = desk.editor.open(desk.file("🙂 bad\n"))
    desk.model.plays(calls(read(buffer.at)), says("Seen."))

    parts = [{"type": "diagnostics", "uri": buffer.uri, "items": [problem("broken", 0, 3)]}]
    await desk.talk.ask("session/prompt", parts=parts)
    await desk.talk.ended()

    assert "1:3 error: broken [lint]" in str(desk.model.requests[0]["messages"])
