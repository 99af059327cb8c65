"""An LSP client of others: pytest-lsp's, on stock pygls. It knows LSP, and our methods as custom ones."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from lsprotocol import types
from pygls.protocol import default_converter
from pytest_lsp import LanguageClient

from e2e.model import Script, calls, says
from e2e.server import COMMAND, OPTIONS, Machine

TOLD = ("turn/ended", "permission/asked", "part/delta", "part/updated", "session/status")


class Editor(LanguageClient):
    """Keeps what it is told, by method."""

    def __init__(self) -> None:
        super().__init__(converter_factory=default_converter)
        self.told: dict[str, list[Any]] = {method: [] for method in TOLD}
        self.choices: list[str | None] = []
        self.shown: list[types.ShowMessageRequestParams] = []
        self._arrived = asyncio.Condition()
        for method in TOLD:
            self._keep(method)

        @self.feature(types.WINDOW_SHOW_MESSAGE_REQUEST)
        def choose(params: types.ShowMessageRequestParams) -> types.MessageActionItem | None:
            self.shown.append(params)
            title = self.choices.pop(0)
            return None if title is None else types.MessageActionItem(title=title)

    def _keep(self, method: str) -> None:
        async def keep(params: Any) -> None:
            async with self._arrived:
                self.told[method].append(params)
                self._arrived.notify_all()

        self.feature(method)(keep)

    async def hears(self, method: str, count: int = 1, seconds: float = 15) -> Any:
        async with asyncio.timeout(seconds), self._arrived:
            await self._arrived.wait_for(lambda: len(self.told[method]) >= count)
        return self.told[method][count - 1]

    async def ask(self, method: str, params: dict[str, Any]) -> Any:
        return await asyncio.wait_for(self.protocol.send_request_async(method, params), 15)


@asynccontextmanager
async def editor(machine: Machine, folder: Path, options: dict[str, Any] | None) -> AsyncIterator[Editor]:
    client = Editor()
    await client.start_io(*COMMAND, cwd=folder, env=machine.environment())
    params = types.InitializeParams(
        capabilities=types.ClientCapabilities(),
        root_uri=folder.as_uri(),
        workspace_folders=[types.WorkspaceFolder(uri=folder.as_uri(), name=folder.name)],
        initialization_options=None if options is None else {"agentls": options},
    )
    try:
        await asyncio.wait_for(client.initialize_session(params), 15)
        yield client
        await asyncio.wait_for(client.shutdown_session(), 15)
        assert client._server is not None
        assert client._server.returncode == 0
    finally:
        await asyncio.wait_for(client.stop(), 15)


async def test_pytest_lsp_leads_a_turn_to_its_end(machine: Machine, model: Script) -> None:
    folder = machine.project("lsp", {"a.txt": "one\n"})
    path = str(folder / "a.txt")
    edit = {"filePath": path, "oldString": "one", "newString": "two"}
    model.plays(calls(("read", {"filePath": path})), calls(("edit", edit), ids="second"), says("Done at last.", 3))
    async with editor(machine, folder, OPTIONS) as client:
        created = await client.ask("session/create", {"directory": str(folder)})
        session_id = created.session.id
        accepted = await client.ask(
            "session/prompt", {"sessionId": session_id, "parts": [{"type": "text", "text": "Write two."}]}
        )
        asked = await client.hears("permission/asked")
        assert asked.permission == "edit"
        reply = await client.ask("permission/reply", {"permissionId": asked.permissionId, "reply": "once"})
        assert reply.status == "accepted"
        ended = await client.hears("turn/ended")
        assert (ended.turnId, ended.stopReason) == (accepted.turnId, "done")
        assert (folder / "a.txt").read_text() == "two\n"
        said = "".join(delta.delta for delta in client.told["part/delta"] if delta.field == "text")
        assert said == "Done at last."


async def test_a_plain_lsp_client_is_left_alone(machine: Machine, model: Script) -> None:
    """Without our options nothing of ours is sent, and LSP works as in any server."""
    folder = machine.project("plain", {"a.py": "x = 1\n"})
    async with editor(machine, folder, None) as client:
        uri = (folder / "a.py").as_uri()
        document = types.TextDocumentItem(uri=uri, language_id="python", version=1, text="x = 1\n")
        client.text_document_did_open(types.DidOpenTextDocumentParams(text_document=document))
        client.text_document_did_close(types.DidCloseTextDocumentParams(types.TextDocumentIdentifier(uri=uri)))
        result = await client.ask("session/list", {})
        assert result.sessions == []
        assert not any(client.told.values())


async def test_a_client_without_a_dialog_is_asked_by_show_message_request(machine: Machine, model: Script) -> None:
    folder = machine.project("dialogs", {"a.txt": "one\n"})
    model.plays(calls(("bash", {"command": "echo allowed > made.txt"})), says("Done."))
    async with editor(machine, folder, {"protocolVersion": 1, "trusted": True}) as client:
        client.choices = ["Allow once"]
        session_id = (await client.ask("session/create", {"directory": str(folder)})).session.id
        await client.ask("session/prompt", {"sessionId": session_id, "parts": [{"type": "text", "text": "Run it."}]})
        assert (await client.hears("turn/ended")).stopReason == "done"
        [shown] = client.shown
        assert shown.type == types.MessageType.Warning
        assert "echo allowed > made.txt" in shown.message
        assert shown.actions is not None
        assert {action.title for action in shown.actions} >= {"Allow once", "Reject"}
        assert (folder / "made.txt").read_text() == "allowed\n"
