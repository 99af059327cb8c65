"""One session as a client sees it: short words for what tests do with it."""

from pathlib import Path
from typing import Any

from e2e.client import SECONDS, Client, Message, Where, anything


class Talk:
    def __init__(self, client: Client, session: Message) -> None:
        self.client = client
        self.session = session
        self.id: str = session["id"]
        self.folder = Path(session["directory"])

    @classmethod
    async def begin(cls, client: Client, folder: Path, **params: Any) -> "Talk":
        result = await client.request("session/create", {"directory": str(folder), **params})
        return cls(client, result["session"])

    def on(self, client: Client) -> "Talk":
        """The same session, by way of another process."""
        return Talk(client, self.session)

    async def ask(self, method: str, **params: Any) -> Any:
        return await self.client.request(method, {"sessionId": self.id, **params})

    async def prompt(self, text: str, **params: Any) -> Message:
        return await self.ask("session/prompt", parts=[{"type": "text", "text": text}], **params)

    def send_prompt(self, text: str, **params: Any) -> int:
        parts = [{"type": "text", "text": text}]
        return self.client.send("session/prompt", {"sessionId": self.id, "parts": parts, **params})

    async def abort(self, **params: Any) -> Message:
        return await self.ask("session/abort", **params)

    async def wait(
        self, method: str, where: Where = anything, *, after: int = 0, seconds: float = SECONDS, **members: Any
    ) -> Message:
        return await self.client.wait_for(method, where, after=after, seconds=seconds, sessionId=self.id, **members)

    async def ended(self, turn_id: str | None = None, *, after: int = 0, seconds: float = SECONDS) -> Message:
        members = {} if turn_id is None else {"turnId": turn_id}
        return await self.wait("turn/ended", after=after, seconds=seconds, **members)

    async def asked(self, *, after: int = 0, **members: Any) -> Message:
        return await self.wait("permission/asked", after=after, **members)

    async def questioned(self, *, after: int = 0) -> Message:
        return await self.wait("question/asked", after=after)

    async def idle(self, *, after: int = 0) -> None:
        await self.wait("session/status", lambda p: p["status"]["type"] == "idle", after=after)

    async def reply(self, asked: Message, reply: str = "once", **params: Any) -> Message:
        return await self.client.request(
            "permission/reply", {"permissionId": asked["permissionId"], "reply": reply, **params}
        )

    async def first_text(self, *, after: int = 0) -> Message:
        return await self.wait("part/delta", lambda p: p["field"] == "text", after=after)

    async def output(self, words: str, *, after: int = 0) -> Message:
        """The delta of a command's output that brings `words`."""
        return await self.wait("part/delta", lambda p: p["field"] == "output" and words in p["delta"], after=after)

    def seen(self, method: str, *, after: int = 0, **members: Any) -> list[Message]:
        return self.client.seen(method, after=after, sessionId=self.id, **members)

    async def messages(self) -> list[Message]:
        """All of them, page by page."""
        page = await self.ask("session/messages", limit=500)
        found = page["messages"]
        while before := page.get("nextCursor"):
            page = await self.ask("session/messages", limit=500, before=before)
            found = page["messages"] + found
        return found

    async def parts(self, kind: str | None = None) -> list[Message]:
        return [part for one in await self.messages() for part in one["parts"] if kind in (None, part["type"])]

    async def texts(self) -> list[str]:
        """What was said by the model."""
        return [
            part["text"]
            for one in await self.messages()
            if one["message"]["role"] == "assistant"
            for part in one["parts"]
            if part["type"] == "text"
        ]

    async def tools(self) -> list[Message]:
        return await self.parts("tool")
