"""All surfaces of one connection, put together."""

from contextlib import suppress
from functools import partial
from typing import Any
from urllib.parse import unquote

from lsprotocol import types

from agentls.app.app import App
from agentls.errors import AgentError
from agentls.lsp.handling import Beside
from agentls.lsp.language import AgentServer
from agentls.lsp.notifications import Outlet, Told
from agentls.lsp.serving import Spawn
from agentls.lsp.surfaces import names
from agentls.lsp.surfaces.actions import KINDS, code_actions
from agentls.lsp.surfaces.commands import Commands
from agentls.lsp.surfaces.current import Current
from agentls.lsp.surfaces.ending import Answers, Ending
from agentls.lsp.surfaces.fallback import Fallback
from agentls.lsp.surfaces.following import Ended, Following
from agentls.lsp.surfaces.window import Window
from agentls.lsp.text import EditorText
from agentls.protocol.options import ClientOptions
from agentls.schema.event import FileEdited
from agentls.schema.input import LineRange


class Surfaces:
    """A client that gave options of ours has surfaces of its own: it gets dialogs if it wants them, and the progress
    that it asks for, and else nothing.
    """

    def __init__(self, app: App, server: AgentServer, outlet: Outlet, spawn: Spawn) -> None:
        self._app = app
        self._language = server.language
        self._spawn = spawn
        self._plain = True
        self._tags: tuple[types.CodeActionTag, ...] = ()
        self._fallback = Fallback(app.permissions, app.questions, server.language, spawn, app.journal)
        self._current = Current()
        self._window = Window(server.language)
        self._ending = Ending(self._window, Answers(app.paths.data / "answers"), app.sessions.messages)
        self._following = Following(
            server.language,
            spawn,
            app.stores.turns.get,
            lambda: self._plain and not outlet.is_open,
            self._ended,
        )
        outlet.watch(self._watch)
        self._register(server)

    def _register(self, server: AgentServer) -> None:
        def code_action(params: types.CodeActionParams) -> list[types.CodeAction]:
            return code_actions(params, tags=self._tags) if self._plain else []

        async def cancelled(params: types.WorkDoneProgressCancelParams) -> None:
            followed = self._following.followed(params.token)
            if followed is not None:
                with suppress(AgentError):  # the turn ended meanwhile
                    await self._app.turns.abort(*followed)

        server.feature(types.TEXT_DOCUMENT_CODE_ACTION)(code_action)
        server.feature(types.WINDOW_WORK_DONE_PROGRESS_CANCEL)(cancelled)

    def beside(self) -> Beside[App]:
        return Beside(
            commands=Commands(self._current, self._text_at, self._fallback.offer_again).table(),
            offer=self._offer,
            took=partial(self._took, commanded=False),
            commanded=partial(self._took, commanded=True),
        )

    def configure(self, options: ClientOptions | None) -> None:
        """After the client's capabilities are known."""
        self._plain = options is None
        self._fallback.configure((options or ClientOptions()).ui)
        window = self._language.client_capabilities.window
        self._window.shows_documents = bool(window and window.show_document and window.show_document.support)
        self._following.creates_progress = self._plain and bool(window and window.work_done_progress)
        action = self._action_support()
        tags = action.tag_support.value_set if action and action.tag_support else ()
        self._tags = tuple(tag for tag in (types.CodeActionTag.LlmGenerated,) if tag in tags)

    def _offer(self, capabilities: dict[str, Any]) -> None:
        """A client with code of ours has these names for commands of its own, which must not collide."""
        capabilities.pop("codeActionProvider", None)
        offered = [*names.ALL] if self._plain else [names.PERMISSIONS]
        capabilities["executeCommandProvider"] = {"commands": offered, "workDoneProgress": True}
        action = self._action_support()
        if self._plain and action and action.code_action_literal_support:
            capabilities["codeActionProvider"] = {"codeActionKinds": [*KINDS]}

    def _action_support(self) -> types.CodeActionClientCapabilities | None:
        text_document = self._language.client_capabilities.text_document
        return text_document.code_action if text_document else None

    def _text_at(self, uri: str, where: Any) -> str | None:
        given = LineRange.model_validate(where)
        document = self._language.workspace.text_documents.get(unquote(uri))  # so pygls keeps them
        return document.part(given) if isinstance(document, EditorText) else None

    def _took(
        self, session_id: str, message_id: str, turn_id: str | None, token: int | str | None, *, commanded: bool
    ) -> None:
        self._following.took(session_id, message_id, turn_id, token, shown=commanded and self._plain)

    def _watch(self, event: Told) -> None:
        self._current.watch(event)
        self._fallback.changed(event)
        self._following.watch(event)
        if isinstance(event, FileEdited) and self._following.is_shown(event.scope.session_id):
            self._follow_edit(event)

    def _follow_edit(self, event: FileEdited) -> None:
        if self._app.configuration.loaded(event.scope.directory).settings.editor.follow:
            self._spawn(self._window.show(event.uri))

    def _ended(self, ended: Ended) -> None:
        self._spawn(self._ending.tell(ended))
