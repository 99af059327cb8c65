"""Dialogs by LSP's own message, with the engine's own broker behind them."""

import asyncio
import json
from collections.abc import AsyncIterator, Coroutine
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from agentls.cli.asking import show_deed
from agentls.cli.screen import Screen as TerminalScreen
from agentls.lsp.decode import ResponseMessage, decode
from agentls.lsp.language import agent_server
from agentls.lsp.surfaces.fallback import Fallback
from agentls.protocol.options import ClientUi
from agentls.schema.event import Changed
from agentls.schema.permission import Ask, AskMetadata, FileDiff, Permission
from agentls.schema.question import QuestionItem, QuestionOption
from agentls.storage.journal import Journal
from engine.builders import World
from storage.clock import clocked
from storage.holder import held


class Screen:
    """What the client was sent; its user answers by hand."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.sent: list[dict[str, Any]] = []
        self.language = agent_server("1").language
        self.language.send_with(lambda body: self.sent.append(json.loads(body)))
        self.tasks: set[asyncio.Task[object]] = set()
        self.fallback = Fallback(world.broker, world.questions, self.language, self.spawn, world.journal)
        self._read = 0
        self.scope = world.session()

    def spawn(self, work: Coroutine[Any, Any, object]) -> None:
        self.tasks.add(asyncio.create_task(work))

    async def settle(self) -> None:
        """Everything that can go on has gone on, and the screen has seen what was published."""
        for _ in range(10):
            for event in self.world.events[self._read :]:
                self._read += 1
                if isinstance(event, Changed):
                    self.fallback.changed(event)
            await asyncio.sleep(0)

    def asks(self, deed: str, part_id: str = "") -> None:
        ask = Ask(permission="bash", patterns=(deed,), always=(deed,), title=deed)
        waiting = self.world.broker.authorize(self.world.asker(self.scope, part_id), ask, {}, lambda _: None)
        self.spawn(waiting)

    def asks_of(self, ask: Ask) -> None:
        self.spawn(self.world.broker.authorize(self.world.asker(self.scope, ""), ask, {}, lambda _: None))

    def questions(self, *items: QuestionItem) -> None:
        self.spawn(self.world.questions.ask(self.world.asker(self.scope, ""), items, lambda _: None))

    def shown(self) -> list[str]:
        return [m["params"]["message"] for m in self.sent if m["method"] == "window/showMessageRequest"]

    def answer(self, title: str | None, error: object = None) -> None:
        request = next(m for m in reversed(self.sent) if m["method"] == "window/showMessageRequest")
        body = {"jsonrpc": "2.0", "id": request["id"], "result": title and {"title": title}}
        if error is not None:
            body = {"jsonrpc": "2.0", "id": request["id"], "error": error}
        message = decode(json.dumps(body).encode())
        assert isinstance(message, ResponseMessage)
        self.language.take_response(message)

    def resolutions(self) -> list[str]:
        return [
            json.loads(b"{%b}" % event.params)["outcome"]
            for event in self.world.events
            if isinstance(event, Changed) and event.method.endswith("/resolved")
        ]


@pytest.fixture
async def screen(tmp_path: Path) -> AsyncIterator[Screen]:
    world = World(tmp_path)
    screen = Screen(world)
    yield screen
    for task in screen.tasks:
        task.cancel()
    await asyncio.gather(*screen.tasks, return_exceptions=True)
    world.close()


async def test_one_at_a_time_in_the_order_of_asking(screen: Screen) -> None:
    screen.asks("first")
    screen.asks("second")
    await screen.settle()
    [text] = screen.shown()
    assert text.startswith("first\n")
    assert text.endswith('"Always" allows in this session: first')
    screen.answer("Allow once")
    await screen.settle()
    assert len(screen.shown()) == 2
    screen.answer("Reject")
    await screen.settle()
    assert screen.resolutions() == ["allowed", "rejected"]


async def test_p17_what_is_answered_elsewhere_is_withdrawn_and_the_late_click_ignored(screen: Screen) -> None:
    screen.asks("first")
    await screen.settle()
    screen.asks("second")
    await screen.settle()
    open_first = json.loads(screen.world.broker.listing(None)[0])["permissionId"]
    shown = screen.sent[-1]
    screen.world.broker.reply(open_first, "once")
    await screen.settle()
    assert {"id": shown["id"]} in [m["params"] for m in screen.sent if m["method"] == "$/cancelRequest"]
    assert len(screen.shown()) == 2
    late = ResponseMessage(shown["id"], {"title": "Reject"}, None)
    screen.language.take_response(late)
    await screen.settle()
    assert screen.resolutions() == ["allowed"]


@pytest.mark.parametrize("answer", [{"title": None}, {"title": None, "error": {"code": -32601, "message": "no"}}])
async def test_dismissed_or_not_shown_stays_open_until_asked_for(screen: Screen, answer: dict[str, Any]) -> None:
    screen.asks("first")
    await screen.settle()
    screen.answer(**answer)
    await screen.settle()
    assert screen.resolutions() == []
    assert len(screen.shown()) == 1
    screen.fallback.offer_again()
    await screen.settle()
    assert len(screen.shown()) == 2
    screen.answer("Always")
    await screen.settle()
    assert screen.resolutions() == ["allowed"]


async def test_an_unknown_answer_allows_nothing(screen: Screen) -> None:
    screen.asks("first")
    await screen.settle()
    screen.answer("Yes, all of it")
    await screen.settle()
    assert screen.resolutions() == []


async def test_a_client_with_dialogs_of_its_own_is_left_alone(screen: Screen) -> None:
    screen.fallback.configure(ClientUi(permission=True, question=True))
    screen.asks("first")
    await screen.settle()
    assert screen.shown() == []


RED_OR_BLUE = QuestionItem(header="Colour", question="Which?", options=(QuestionOption(label="Red"),))


async def test_questions_come_one_after_another_and_dismissing_one_rejects_all(screen: Screen) -> None:
    screen.questions(RED_OR_BLUE, RED_OR_BLUE)
    await screen.settle()
    screen.answer("Red")
    await screen.settle()
    assert screen.shown() == ["Colour: Which?", "Colour: Which?"]
    screen.answer(None)
    await screen.settle()
    assert screen.resolutions() == ["rejected"]


async def test_what_a_question_hides_is_seen_and_the_answer_is_the_label_itself(screen: Screen) -> None:
    option = QuestionOption(label="Yes\u202e", description="no\nreally\x1b")
    screen.questions(QuestionItem(header="Go", question="Sure\x07?", options=(option,)))
    await screen.settle()
    assert screen.shown() == ["Go: Sure\\x07?\nYes\\x202e: no really\\x1b"]
    screen.answer("Yes\\x202e")
    await screen.settle()
    [event] = [e for e in screen.world.events if isinstance(e, Changed) and e.method == "question/resolved"]
    assert json.loads(b"{%b}" % event.params)["answers"] == [["Yes\u202e"]]


async def test_a_question_without_options_could_be_answered_by_nobody(screen: Screen) -> None:
    screen.questions(RED_OR_BLUE, QuestionItem(header="Name", question="Which?"))
    await screen.settle()
    assert screen.shown() == []
    assert screen.resolutions() == ["expired"]


async def test_the_dialog_shows_the_command_itself_and_not_only_what_the_model_says_of_it(screen: Screen) -> None:
    screen.asks_of(
        Ask(
            permission="bash",
            patterns=("rm -r build",),
            title="Harmless\n$ ls",
            metadata=AskMetadata(command="rm -r build\u202e", cwd="/p"),
        )
    )
    await screen.settle()
    [shown] = screen.shown()
    rows = shown.splitlines()
    assert rows[0] == "Harmless $ ls"
    assert "$ rm -r build\\x202e" in rows
    assert "in /p" in rows


async def test_the_dialog_shows_the_diff_and_how_much_of_it_is_left_out(screen: Screen) -> None:
    patch = "\n".join(["--- a", "+++ b", *(f"+line {number}" for number in range(100))])
    ask = Ask(
        permission="edit",
        patterns=("a",),
        title="Edit a",
        metadata=AskMetadata(files=(FileDiff(uri="file:///a", patch=patch),)),
    )
    screen.asks_of(ask)
    await screen.settle()
    [shown] = screen.shown()
    assert "+line 37" in shown
    assert "+line 38" not in shown
    assert "… 62 more lines" in shown


async def test_a_dialog_that_the_user_never_sees_is_shown_anew_when_asked_for(screen: Screen) -> None:
    """Some clients lose a message without an answer: a toast that went by."""
    screen.asks("first")
    screen.asks("second")
    await screen.settle()
    screen.fallback.offer_again()
    await screen.settle()
    assert [message.partition("\n")[0] for message in screen.shown()] == ["first", "first"]
    assert [m["method"] for m in screen.sent].count("$/cancelRequest") == 1
    screen.answer("Allow once")
    await screen.settle()
    screen.answer("Reject")
    await screen.settle()
    assert screen.resolutions() == ["allowed", "rejected"]


async def test_p21_a_deed_of_two_files_shows_both_with_their_changes(screen: Screen) -> None:
    """What is asked, the broker's question on the wire, the dialog and the terminal: each has every path and diff."""
    names = ("a.py", "b.py")
    files = tuple(
        FileDiff(uri=f"file:///p/{name}", patch=f"--- {name}\n+++ {name}\n@@ -1 +1 @@\n-old {name}\n+new {name}")
        for name in names
    )
    screen.asks_of(Ask(permission="edit", patterns=names, title="Patch 2 files", metadata=AskMetadata(files=files)))
    await screen.settle()
    [wire] = screen.world.broker.listing(screen.scope.session_id)
    asked = Permission.model_validate_json(wire)
    assert asked.patterns == names
    assert asked.metadata.files == files
    [shown] = screen.shown()
    terminal = StringIO()
    show_deed(TerminalScreen(terminal), asked, "/p")
    for text in (shown, terminal.getvalue()):
        for name in names:
            assert f"-old {name}" in text
            assert f"+new {name}" in text
    screen.answer("Allow once")
    await screen.settle()
    assert screen.resolutions() == ["allowed"]


async def test_p21_where_the_first_files_changes_fill_the_dialog_the_other_is_still_named(screen: Screen) -> None:
    long = "\n".join(["--- a.py", "+++ a.py", *(f"+line {number}" for number in range(100))])
    files = (FileDiff(uri="file:///p/a.py", patch=long), FileDiff(uri="file:///p/b.py", patch="--- b.py\n+++ b.py\n+x"))
    screen.asks_of(Ask(permission="edit", patterns=("a.py", "b.py"), title="Patch", metadata=AskMetadata(files=files)))
    await screen.settle()
    [shown] = screen.shown()
    assert "b.py" in shown


async def test_p20_an_answer_while_another_process_writes_is_stored_once_it_has_ended(screen: Screen) -> None:
    screen.asks("first")
    await screen.settle()
    with held(screen.world.database.path):
        async with clocked() as clock:
            screen.answer("Allow once")
            await screen.settle()
        assert screen.resolutions() == []
        assert clock.worst < 0.5
    async with asyncio.timeout(10):
        while not screen.resolutions():
            await asyncio.sleep(0.01)
    assert screen.resolutions() == ["allowed"]


async def test_p20_where_the_other_does_not_end_the_question_stays_and_is_shown_again(
    screen: Screen, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Journal.patiently, "__defaults__", (0.2,))
    screen.asks("first")
    await screen.settle()
    with held(screen.world.database.path):
        screen.answer("Allow once")
        await asyncio.sleep(0.5)
        await screen.settle()
        assert screen.resolutions() == []
    screen.fallback.offer_again()
    await screen.settle()
    screen.answer("Allow once")
    await screen.settle()
    assert screen.resolutions() == ["allowed"]
