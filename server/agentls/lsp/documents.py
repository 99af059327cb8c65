"""The editor's open documents, as its notifications tell of them, each with the state of its file."""

import asyncio
import time
from collections.abc import Callable, Coroutine, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from anyio import to_thread
from lsprotocol import types

from agentls.errors import ToolError
from agentls.lsp.language import AgentServer
from agentls.lsp.pieces import Pieces
from agentls.lsp.text import EditorText
from agentls.workspace.buffers import disk_of, mark_of, text_hash
from agentls.workspace.editor import Document
from agentls.workspace.resolve import real_path

_LARGE = 1_000_000
Spawn = Callable[[Coroutine[Any, Any, object]], None]


class OpenDocument(Document):
    """`live` is pygls's document with all that an edge needs of it."""

    def __init__(self, uri: str, path: Path | None, live: EditorText) -> None:
        super().__init__(uri, path, live)
        self.live = live
        self.looking = False


class Documents:
    def __init__(self, server: AgentServer, spawn: Spawn) -> None:
        self._server = server
        self._spawn = spawn
        self._open: dict[str, OpenDocument] = {}
        self._followers: dict[str, list[asyncio.Queue[str | None]]] = {}
        server.feature(types.TEXT_DOCUMENT_DID_OPEN)(_function(self.opened))
        server.feature(types.TEXT_DOCUMENT_DID_CHANGE)(_function(self.changed))
        server.feature(types.TEXT_DOCUMENT_DID_SAVE)(_function(self.saved))
        server.feature(types.TEXT_DOCUMENT_DID_CLOSE)(_function(self.closed))

    def all(self) -> tuple[OpenDocument, ...]:
        return tuple(self._open.values())

    def get(self, uri: str) -> OpenDocument | None:
        return self._open.get(unquote(uri))

    @contextmanager
    def follow(self, uri: str) -> Generator[asyncio.Queue[str | None]]:
        """Every text of a document from now on; None once it is closed."""
        queue: asyncio.Queue[str | None] = asyncio.Queue()
        name = unquote(uri)
        followers = self._followers.setdefault(name, [])
        followers.append(queue)
        try:
            yield queue
        finally:
            followers.remove(queue)
            if not followers:
                del self._followers[name]

    def opened(self, params: types.DidOpenTextDocumentParams) -> None:
        uri = params.text_document.uri
        live = self._server.language.workspace.get_text_document(uri)
        if not isinstance(live, EditorText):
            return
        document = OpenDocument(uri, real_path(uri), live)
        self._open[unquote(uri)] = document
        self.rebase(document)
        if len(params.text_document.text) > _LARGE:
            self._spawn(_cut(live, params.text_document.text))

    def changed(self, params: types.DidChangeTextDocumentParams) -> None:
        document = self.get(params.text_document.uri)
        if document is None:
            return
        document.touched, document.digest = time.monotonic(), None
        for queue in self._followers.get(unquote(document.uri), ()):
            queue.put_nowait(document.text)
        if document.path is not None and not document.looking:
            document.looking = True
            self._spawn(self._agreeing(document, document.path))

    def saved(self, params: types.DidSaveTextDocumentParams) -> None:
        document = self.get(params.text_document.uri)
        if document is not None:
            self.rebase(document, document.text)

    def closed(self, params: types.DidCloseTextDocumentParams) -> None:
        document = self._open.pop(unquote(params.text_document.uri), None)
        if document is None:
            return
        document.open = False
        for queue in self._followers.get(unquote(document.uri), ()):
            queue.put_nowait(None)

    def rebase(self, document: OpenDocument, saved: str | None = None) -> None:
        """At open a buffer begins from what the disk holds. After a save it begins from what was saved: the disk may
        hold another's text by now.
        """
        ticket = document.begin()
        document.ours = False
        if document.path is None:
            document.settle(ticket, None, None)
            return
        self._spawn(self._rebase(document, document.path, ticket, saved))

    async def _rebase(self, document: OpenDocument, path: Path, ticket: int, saved: str | None) -> None:
        base, mark = None, None
        try:
            base, mark = await to_thread.run_sync(_base, path, saved)
        except ToolError:  # a folder, a pipe, a file that may not be read: no file for us
            base = None
        finally:
            document.settle(ticket, base, mark)

    async def _agreeing(self, document: OpenDocument, path: Path) -> None:
        """An editor that takes over a file which changed on the disk says so by a change of the text alone."""
        try:
            while document.open:
                version, looks = document.version, document.looks
                # The text is put together only if there is something to compare it with: it may be large.
                if await to_thread.run_sync(mark_of, path) != document.mark:
                    text = document.text
                    found = await to_thread.run_sync(_agreement, path, text)
                    if found is not None:
                        document.agree(looks, *found)
                if document.version == version:
                    return
        finally:
            document.looking = False


def _function(method: Callable[[Any], None]) -> Callable[[Any], None]:
    """A function for pygls, which writes on what it registers; a method cannot be written on."""

    def call(params: Any) -> None:
        method(params)

    return call


async def _cut(live: EditorText, text: str) -> None:
    """A large text takes too long to be cut at the first change."""
    live.take(text, await to_thread.run_sync(Pieces, text))


def _base(path: Path, saved: str | None) -> tuple[str, object]:
    _, disk = disk_of(path)
    base = disk.base if saved is None else text_hash(saved)
    return base, disk.mark if base == disk.base else None


def _agreement(path: Path, text: str) -> tuple[str, object] | None:
    try:
        _, disk = disk_of(path)
    except ToolError:
        return None
    return (disk.base, disk.mark) if text_hash(text) == disk.base else None
