"""A scripted editor on the wire: documents with versions and unsaved text, edits that it takes or throws away."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from e2e.client import Client, Message
from e2e.model import Script, calls, says
from e2e.server import OPTIONS
from e2e.talk import Talk

DOCUMENTS: Message = {"save": True, "diagnostics": True, "context": True}
ABLE: Message = {"workspace": {"applyEdit": True, "workspaceEdit": {"documentChanges": True}}}


def options(**documents: bool) -> Message:
    return {**OPTIONS, "documents": documents or DOCUMENTS}


@dataclass
class Buffer:
    """A document as the editor holds it; its own line ends, positions in UTF-16."""

    uri: str
    path: Path | None
    text: str
    version: int = 1
    undo: list[str] = field(default_factory=list[str])

    @property
    def at(self) -> Path:
        assert self.path
        return self.path

    def place(self, position: Message) -> int:
        lines = self.text.split("\n")
        line = lines[position["line"]].removesuffix("\r")
        units = line.encode("utf-16-le")[: 2 * position["character"]]
        return sum(len(one) + 1 for one in lines[: position["line"]]) + len(units.decode("utf-16-le"))

    def position(self, place: int) -> Message:
        before = self.text[:place].split("\n")
        return {"line": len(before) - 1, "character": len(before[-1].encode("utf-16-le")) // 2}


class ScriptedEditor:
    """Says what happens to the documents, and does what it is asked. `on_edit` replaces how edits are answered."""

    def __init__(self, client: Client, encoding: str = "utf-8", bom: bytes = b"") -> None:
        self.client = client
        self.buffers: dict[str, Buffer] = {}
        self.asked: list[tuple[str, Message]] = []
        self.edits: list[Message] = []
        self.saves_to = (encoding, bom)
        self.on_edit: Callable[[Message], Message | None] = self.apply
        self.saves = True
        self.answer_on(client)

    def answer_on(self, client: Client) -> None:
        client.answers["workspace/applyEdit"] = self._edit
        client.answers["document/save"] = self._save

    # -- what the user does

    def open(self, path: Path, text: str | None = None, uri: str | None = None) -> Buffer:
        """A file; `text` is what the buffer shows if not what the disk holds."""
        if text is None:
            text = path.read_bytes().decode("utf-8-sig") if path.exists() else ""
        return self._opened(Buffer(uri or path.as_uri(), path, text))

    def untitled(self, name: str, text: str) -> Buffer:
        return self._opened(Buffer(f"untitled:{name}", None, text))

    def _opened(self, buffer: Buffer) -> Buffer:
        self.buffers[buffer.uri] = buffer
        item = {"uri": buffer.uri, "languageId": "text", "version": buffer.version, "text": buffer.text}
        self.client.notify("textDocument/didOpen", {"textDocument": item})
        return buffer

    def type(self, buffer: Buffer, old: str, new: str) -> None:
        """Replaces the first `old` by `new`; an empty `old` is the end."""
        start = buffer.text.index(old) if old else len(buffer.text)
        self.change(buffer, [(start, start + len(old), new)])

    def change(self, buffer: Buffer, replaced: list[tuple[int, int, str]]) -> None:
        """One step of the undo history, told as one change."""
        buffer.undo.append(buffer.text)
        told: list[Message] = []
        for start, end, text in sorted(replaced, reverse=True):
            told.append({"range": {"start": buffer.position(start), "end": buffer.position(end)}, "text": text})
            buffer.text = buffer.text[:start] + text + buffer.text[end:]
        buffer.version += 1
        identity = {"uri": buffer.uri, "version": buffer.version}
        self.client.notify("textDocument/didChange", {"textDocument": identity, "contentChanges": told})

    def save(self, buffer: Buffer, then: str | None = None, *, told: bool = True) -> None:
        """`then` is what another program writes over it at once."""
        encoding, bom = self.saves_to
        buffer.at.write_bytes(bom + buffer.text.encode(encoding))
        if then is not None:
            buffer.at.write_text(then)
        if told:
            self.client.notify("textDocument/didSave", {"textDocument": {"uri": buffer.uri}})

    def close(self, buffer: Buffer) -> None:
        del self.buffers[buffer.uri]
        self.client.notify("textDocument/didClose", {"textDocument": {"uri": buffer.uri}})

    # -- what it is asked

    def apply(self, params: Message) -> Message:
        """As an editor does that looks at versions."""
        changes = params["edit"]["documentChanges"]
        for change in changes:
            buffer = self.buffers[change["textDocument"]["uri"]]
            if change["textDocument"]["version"] != buffer.version:
                return {"applied": False, "failureReason": "the document changed"}
        for change in changes:
            buffer = self.buffers[change["textDocument"]["uri"]]
            self.change(
                buffer,
                [
                    (buffer.place(edit["range"]["start"]), buffer.place(edit["range"]["end"]), edit["newText"])
                    for edit in change["edits"]
                ],
            )
        return {"applied": True}

    async def _edit(self, params: Message) -> Message:
        self.asked.append(("workspace/applyEdit", params))
        self.edits.append(params)
        answer = self.on_edit(params)
        return answer if answer is not None else await asyncio.Event().wait()

    async def _save(self, params: Message) -> Message:
        self.asked.append(("document/save", params))
        buffer = self.buffers[params["uri"]]
        if not self.saves or params["version"] != buffer.version:
            return {"saved": False}
        self.save(buffer)
        return {"saved": True}


Call = tuple[str, dict[str, object]]


def read(path: Path | str) -> Call:
    return "read", {"filePath": str(path)}


def edit(path: Path | str, old: str, new: str) -> Call:
    return "edit", {"filePath": str(path), "oldString": old, "newString": new}


def write(path: Path | str, content: str) -> Call:
    return "write", {"filePath": str(path), "content": content}


def bash(command: str) -> Call:
    return "bash", {"command": command}


class Desk:
    """A user at an editor, a session that may edit without asking, and its folder."""

    def __init__(self, editor: ScriptedEditor, talk: Talk, model: Script) -> None:
        self.editor = editor
        self.talk = talk
        self.model = model
        self.folder = talk.folder

    @classmethod
    async def begin(cls, client: Client, folder: Path, model: Script, mode: str = "acceptEdits") -> "Desk":
        talk = await Talk.begin(client, folder)
        await talk.ask("session/update", mode=mode)
        return cls(ScriptedEditor(client), talk, model)

    def file(self, text: str | bytes, name: str = "a.txt") -> Path:
        path = self.folder / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    async def run(self, *made: Call) -> list[Message]:
        """A turn with these calls, one a step; the states of their parts."""
        before = {part["id"] for part in await self.talk.tools()}
        self.model.plays(*(calls(one, ids=f"c{number}") for number, one in enumerate(made)), says("Done."))
        mark = self.talk.client.mark()
        await self.talk.prompt("Go.")
        await self.talk.ended(after=mark)
        return [part["state"] for part in await self.talk.tools() if part["id"] not in before]

    async def one(self, *made: Call) -> Message:
        """The last of the calls."""
        return (await self.run(*made))[-1]

    async def settle(self) -> None:
        """The server has looked at the file of every open document: a read waits for that."""
        other = Desk(self.editor, await Talk.begin(self.talk.client, self.folder), self.model)
        for buffer in list(self.editor.buffers.values()):
            if buffer.path is not None:
                await other.run(read(buffer.path))
