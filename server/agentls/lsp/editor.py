"""The editor behind LSP: edits that count once they are seen, and what else it may be asked."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeVar

import anyio
from anyio import to_thread
from anyio.lowlevel import checkpoint
from lsprotocol import types
from pydantic import ValidationError
from pygls.exceptions import JsonRpcException

from agentls.lsp.documents import Documents, OpenDocument, Spawn
from agentls.lsp.language import AgentServer, MalformedAnswerError
from agentls.protocol import methods as m
from agentls.protocol.options import ClientDocuments
from agentls.protocol.params import NoParams
from agentls.protocol.registry import Request
from agentls.protocol.workspace import (
    ContextResult,
    DiagnosticsParams,
    DiagnosticsResult,
    DocumentDiagnostics,
    SaveParams,
    SaveResult,
)
from agentls.schema.base import Value
from agentls.schema.input import Diagnostic, LineRange
from agentls.workspace.editor import Applied, BufferEdit, Document, FileDiagnostics
from agentls.workspace.hunks import stand

CONFIRM_SECONDS = 2.0
_LATE_SECONDS = 60.0
_SILENCES = 3
_SECONDS: dict[str, float] = {m.SAVE.name: 3.0, m.DIAGNOSTICS.name: 2.0, m.CONTEXT.name: 1.0}
_SMALL = 200_000  # characters that are compared without a thread
_NO_METHOD = -32601
_AT_ONCE = 20  # diagnostics, between which others get on

log = logging.getLogger(__name__)

P = TypeVar("P", bound=Value)
R = TypeVar("R", bound=Value)
T = TypeVar("T")


class LspEditor:
    """The editor that speaks LSP to us."""

    def __init__(self, server: AgentServer, spawn: Spawn) -> None:
        self._server = server
        self._spawn = spawn
        self._documents = Documents(server, spawn)
        self._one = anyio.Lock()
        self._serves = ClientDocuments()
        self._silences: dict[str, int] = {}

    def configure(self, documents: ClientDocuments) -> None:
        """What the client said that it answers."""
        self._serves = documents
        self._silences.clear()

    @property
    def edits(self) -> bool:
        language = self._server.language
        able = language.client_capabilities.workspace
        if able is None or not able.apply_edit:
            return False
        # Neovim takes edits of a version, and does not say so.
        known = language.client is not None and language.client.name == "Neovim"
        return known or bool(able.workspace_edit and able.workspace_edit.document_changes)

    @property
    def saves(self) -> bool:
        return self._serves.save and self._answers(m.SAVE)

    @property
    def diagnoses(self) -> bool:
        return self._serves.diagnostics and self._answers(m.DIAGNOSTICS)

    def documents(self) -> Sequence[Document]:
        return self._documents.all()

    def document(self, uri: str) -> Document | None:
        return self._documents.get(uri)

    # -- edits

    async def apply(self, document: Document, edit: BufferEdit, check_open: Callable[[], None]) -> Applied:
        """One at a time. What was sent is waited for, though the run be stopped meanwhile: it may stand by then."""
        async with self._one:
            found = self._documents.get(document.uri)
            if found is None or found is not document or document.version != edit.version:
                return Applied.MOVED
            if document.text != edit.text:  # a client that gives two texts one version
                return Applied.MOVED
            check_open()
            with self._documents.follow(document.uri) as texts:
                done = await self._sent(_request(found, edit), edit, texts)
            if done is Applied.UNKNOWN:
                self._spawn(self._late(found, edit))
            return done

    async def _late(self, document: OpenDocument, edit: BufferEdit) -> None:
        """What shows only after its time is ours all the same: a command wants it saved."""
        with self._documents.follow(document.uri) as texts, anyio.move_on_after(_LATE_SECONDS):
            texts.put_nowait(document.text)
            if await _seen(edit, texts):
                document.ours = True

    async def _sent(
        self, params: types.ApplyWorkspaceEditParams, edit: BufferEdit, texts: asyncio.Queue[str | None]
    ) -> Applied:
        refused = anyio.Event()
        request = anyio.CancelScope()
        self._spawn(self._request(params, refused, request))
        outcome = [Applied.UNKNOWN]
        with anyio.move_on_after(CONFIRM_SECONDS, shield=True):
            async with anyio.create_task_group() as tasks:

                async def see() -> None:
                    if await _seen(edit, texts):
                        outcome[0] = Applied.CONFIRMED
                    tasks.cancel_scope.cancel()

                async def hear() -> None:
                    await refused.wait()
                    outcome[0] = Applied.REFUSED
                    tasks.cancel_scope.cancel()

                tasks.start_soon(see)
                tasks.start_soon(hear)
        if outcome[0] is Applied.UNKNOWN:
            request.cancel()
        return outcome[0]

    async def _request(
        self, params: types.ApplyWorkspaceEditParams, refused: anyio.Event, scope: anyio.CancelScope
    ) -> None:
        with scope:
            try:
                answer = await self._server.language.ask(types.WORKSPACE_APPLY_EDIT, params)
            except MalformedAnswerError as error:
                log.warning("whether an edit was taken its text will say: %s", error)
                return
            except JsonRpcException as error:
                log.warning("the editor refused an edit: %s", error)
                refused.set()
                return
            if not answer.applied:
                log.info("the editor did not apply an edit: %s", answer.failure_reason)
                refused.set()

    # -- what it may be asked

    async def save(self, document: Document) -> bool:
        text, looks = document.text, document.looks
        params = SaveParams(uri=document.uri, version=document.version)
        if not await self._asked(m.SAVE, params, _saved):
            return False
        found = self._documents.get(document.uri)
        # Else a `didSave` told of it, and of the newest text.
        if found is not None and found is document and found.looks == looks:
            self._documents.rebase(found, text)
        return True

    async def diagnostics(self, uri: str | None) -> tuple[FileDiagnostics, ...] | None:
        params = DiagnosticsParams(uri=uri)
        return await self._asked(m.DIAGNOSTICS, params, self._told)

    async def looking(self) -> str | None:
        if not self._serves.context or not self._answers(m.CONTEXT):
            return None
        return await self._asked(m.CONTEXT, NoParams(), _looked_at)

    async def _told(self, answer: DiagnosticsResult) -> tuple[FileDiagnostics, ...]:
        return tuple([await self._of_document(given) for given in answer.documents])

    async def _of_document(self, given: DocumentDiagnostics) -> FileDiagnostics:
        items: list[Diagnostic] = []
        for number, members in enumerate(given.items):
            if number % _AT_ONCE == 0:  # there may be tens of thousands
                await checkpoint()
            item = Diagnostic.model_validate(members)
            items.append(item if item.range is None else item.but(range=self._counted(given.uri, item.range)))
        return FileDiagnostics(given.uri, tuple(items), given.version)

    def _counted(self, uri: str, place: LineRange) -> LineRange:
        """In characters, if the document is open; else as the editor counts."""
        document = self._documents.get(uri)
        return place if document is None else document.live.counted(place)

    def _answers(self, row: Request[Any, Any]) -> bool:
        return self._silences.get(row.name, 0) < _SILENCES

    async def _asked(self, row: Request[P, R], params: P, take: Callable[[R], Awaitable[T]]) -> T | None:
        """What `take` makes of the answer. None for silence: no answer in time, an error, or a wrong form."""
        try:
            with anyio.fail_after(_SECONDS[row.name]):
                result = await self._server.language.ask(row.name, params.members())
            answer = await take(row.result.model_validate(result))
        except TimeoutError:
            self._silent(row, "no answer in time")
        except ValidationError as error:
            self._silent(row, f"an answer of a wrong form: {error.error_count()} errors")
        except JsonRpcException as error:
            if error.code == _NO_METHOD:
                self._silences[row.name] = _SILENCES
            self._silent(row, str(error))
        else:
            self._silences.pop(row.name, None)
            return answer
        return None

    def _silent(self, row: Request[Any, Any], why: str) -> None:
        count = self._silences[row.name] = self._silences.get(row.name, 0) + 1
        log.warning("%s: %s%s", row.name, why, "; not asked again" if count >= _SILENCES else "")


async def _saved(answer: SaveResult) -> bool:
    return answer.saved


async def _looked_at(answer: ContextResult) -> str | None:
    return answer.uri


def _request(document: OpenDocument, edit: BufferEdit) -> types.ApplyWorkspaceEditParams:
    offsets = [place for span in edit.spans for place in (span.start, span.end)]
    places = document.live.positions(offsets)
    edits = [
        types.TextEdit(types.Range(places[2 * i], places[2 * i + 1]), span.text) for i, span in enumerate(edit.spans)
    ]
    identity = types.OptionalVersionedTextDocumentIdentifier(uri=document.uri, version=edit.version)
    change = types.TextDocumentEdit(text_document=identity, edits=edits)
    return types.ApplyWorkspaceEditParams(types.WorkspaceEdit(document_changes=[change]), edit.label)


async def _seen(edit: BufferEdit, texts: asyncio.Queue[str | None]) -> bool:
    """Waits for the first text in which the edit stands; False if the document is closed before."""
    while (text := await texts.get()) is not None:
        if len(text) + len(edit.text) <= _SMALL:
            if stand(edit.text, edit.spans, text):
                return True
        elif await to_thread.run_sync(stand, edit.text, edit.spans, text):
            return True
    return False
