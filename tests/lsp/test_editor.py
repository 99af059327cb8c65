"""Edits of the editor's documents at the door itself: what no client can see the server wait for."""

import asyncio
import json
from collections.abc import Coroutine
from typing import Any

import anyio
from anyio import wait_all_tasks_blocked
from lsprotocol import types

from agentls.lsp.editor import LspEditor
from agentls.lsp.language import agent_server
from agentls.lsp.text import EditorWorkspace
from agentls.workspace.editor import Applied, BufferEdit, Document
from agentls.workspace.textfile import Span


class Door:
    """Our side of a connection; the test says what the client tells, and sees what it is asked."""

    def __init__(self) -> None:
        self.server = agent_server("1")
        self.workspace = EditorWorkspace(None, types.TextDocumentSyncKind.Incremental, [])
        self.server.language._workspace = self.workspace
        self.server.language.send_with(lambda body: self.asked.append(json.loads(body)))
        self.asked: list[dict[str, Any]] = []
        self.tasks: set[asyncio.Task[object]] = set()
        self.editor = LspEditor(self.server, self._spawn)

    def _spawn(self, job: Coroutine[Any, Any, object]) -> None:
        self.tasks.add(asyncio.ensure_future(job))

    def open(self, name: str, text: str) -> Document:
        item = types.TextDocumentItem(f"untitled:{name}", "text", 1, text)
        self.workspace.put_text_document(item)
        self.editor._documents.opened(types.DidOpenTextDocumentParams(item))
        found = self.editor.document(item.uri)
        assert found
        return found

    def change(self, document: Document, text: str, version: int) -> None:
        identity = types.VersionedTextDocumentIdentifier(version, document.uri)
        whole = types.TextDocumentContentChangeWholeDocument(text)
        self.workspace.update_text_document(identity, whole)
        self.editor._documents.changed(types.DidChangeTextDocumentParams(identity, [whole]))


def replacing(document: Document, old: str, new: str) -> BufferEdit:
    start = document.text.index(old)
    return BufferEdit(document.version, document.text, (Span(start, start + len(old), new),), "edit")


def nothing() -> None:
    """The run goes on."""


async def test_a_version_that_stays_the_same_hides_no_change() -> None:
    """An edit waits for another, and the user types meanwhile in an editor that counts nothing."""
    door = Door()
    first, second = door.open("1", "one\ntwo\n"), door.open("2", "three\n")
    outcomes: dict[str, Applied] = {}

    async def apply(document: Document, edit: BufferEdit) -> None:
        outcomes[document.uri] = await door.editor.apply(document, edit, nothing)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(apply, second, replacing(second, "three", "3"))
        await wait_all_tasks_blocked()
        tasks.start_soon(apply, first, replacing(first, "two", "2"))
        await wait_all_tasks_blocked()
        door.change(first, "one\ntyped\n", version=1)
        door.change(second, "3\n", version=2)

    assert outcomes == {first.uri: Applied.MOVED, second.uri: Applied.CONFIRMED}
    assert [one["method"] for one in door.asked] == ["workspace/applyEdit"]
    assert first.text == "one\ntyped\n"


async def test_a_document_that_was_waited_for_leaves_nothing_behind() -> None:
    door = Door()
    document = door.open("1", "one\n")

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(door.editor.apply, document, replacing(document, "one", "1"), nothing)
        await wait_all_tasks_blocked()
        door.change(document, "1\n", version=2)

    assert door.editor._documents._followers == {}
