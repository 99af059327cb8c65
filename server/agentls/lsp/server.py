"""The front door: the app behind LSP and our own methods."""

from typing import Any, cast

from lsprotocol import types

from agentls import __version__
from agentls.app.app import App
from agentls.lsp.editor import LspEditor
from agentls.lsp.handlers import HANDLERS
from agentls.lsp.handling import Beside, Routes
from agentls.lsp.language import AgentServer, agent_server
from agentls.lsp.notifications import Outlet
from agentls.lsp.serving import Engine, Spawn, of_agentls, serve_connection
from agentls.lsp.surfaces.surfaces import Surfaces
from agentls.protocol.options import ClientOptions


async def serve(app: App, fd_in: int, fd_out: int) -> int:
    """Serves one editor until it is gone; returns the code to exit with. Closes the app."""
    server = agent_server(__version__)
    front = _Front(app, server)
    engine = Engine(
        app=app,
        routes=Routes(HANDLERS),
        server=server,
        bus=app.bus,
        part=app.sessions.part,
        position=app.sessions.position,
        connect=front.connect,
        extend=front.extend,
        close=app.close,
    )
    return await serve_connection(engine, fd_in, fd_out)


class _Front:
    """What stands beside the methods: the facts about the client, and the surfaces for one without code of ours."""

    def __init__(self, app: App, server: AgentServer) -> None:
        self._app = app
        self._server = server
        self._options = ClientOptions()
        self._surfaces: Surfaces | None = None
        self._editor: LspEditor | None = None

    def extend(self, outlet: Outlet, spawn: Spawn) -> Beside[App]:
        editor = LspEditor(self._server, spawn)
        self._editor = editor
        self._app.toolbox.buffers.connect(editor)
        surfaces = Surfaces(self._app, self._server, outlet, spawn)
        self._surfaces = surfaces

        def folders_changed(_: types.DidChangeWorkspaceFoldersParams) -> None:
            self._tell()

        def settings_changed(params: types.DidChangeConfigurationParams) -> None:
            ours = of_agentls(params.settings)
            if isinstance(ours, dict):
                self._options = self._options.but(settings=cast("dict[str, Any]", ours))
                self._tell()

        self._server.feature(types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS)(folders_changed)
        self._server.feature(types.WORKSPACE_DID_CHANGE_CONFIGURATION)(settings_changed)
        return surfaces.beside()

    def connect(self, options: ClientOptions | None) -> None:
        self._options = options or ClientOptions()
        if self._surfaces is not None:
            self._surfaces.configure(options)
        if self._editor is not None:
            self._editor.configure(self._options.documents)
        self._tell()

    def _tell(self) -> None:
        self._app.connect(
            can_ask=True,
            trusted=self._options.trusted,
            settings=self._options.settings,
            folders=self._server.language.folders(),
        )
