"""A client with no code of ours, and its user."""

import asyncio
from pathlib import Path
from typing import Any

from e2e.client import Client, Message, RpcError
from e2e.model import Script

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


def heard(model: Script) -> str:
    return "\n".join(str(message["content"]) for message in model.requests[-1]["messages"])
