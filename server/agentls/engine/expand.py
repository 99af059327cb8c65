"""The first act of a turn: the files that a prompt names become text for the model."""

import json
import re
from collections.abc import Callable
from functools import partial
from typing import Any

import anyio

from agentls.config.prompts import prompt
from agentls.engine.history import Entry, History
from agentls.engine.run import Run
from agentls.errors import ToolError
from agentls.permission.rules import Verdict
from agentls.schema.message import UserMessage
from agentls.schema.part import AgentPart, FilePart, TextPart
from agentls.schema.permission import Ask
from agentls.tools.registry import Registry
from agentls.tools.tool import ToolContext, ToolResult

SECONDS = 10
_LINES = re.compile(r"\?start=(?P<start>[1-9]\d{0,8})(?:&end=(?P<end>\d{1,9}))?\Z", re.ASCII)

Judge = Callable[[str, str, Ask], Verdict]


class Expander:
    """Runs the real `read` tool on each mentioned file, without asking unless it is denied. Failures become text."""

    def __init__(self, registry: Registry, judge: Judge) -> None:
        self._registry = registry
        self._judge = judge

    async def expand(self, run: Run, history: History) -> None:
        """Until nothing in the newest user messages waits for it."""
        while True:
            history.refresh()
            waiting = [(entry, part) for entry in _newest(history) for part in entry.parts if _waits(part, entry)]
            if not waiting:
                return
            for entry, part in waiting:
                await self._expand(run, entry, part)

    async def _expand(self, run: Run, entry: Entry, part: object) -> None:
        match part:
            case FilePart():
                texts, files = await self._read(run, entry, part)
                await run.journal.patiently(partial(self._store, run, entry, part, texts, files))
            case AgentPart():
                text = prompt("input/agent", name=part.name)
                await run.journal.patiently(partial(self._add_text, run, entry, text))
            case _:
                return

    def _store(self, run: Run, entry: Entry, part: FilePart, texts: list[str], files: list[dict[str, Any]]) -> None:
        for text in texts:
            self._add_text(run, entry, text)
        for file in files:
            run.writer.part(FilePart(**run.writer.ids(entry.message.id), **file))
        run.writer.part(part.but(source={**(part.source or {}), "expanded": True}))

    async def _read(self, run: Run, entry: Entry, part: FilePart) -> tuple[list[str], list[dict[str, Any]]]:
        arguments = _arguments(part)
        called = prompt("input/read", arguments=json.dumps(arguments, ensure_ascii=False))
        try:
            with anyio.fail_after(SECONDS):
                result = await self._run_read(run, entry, part, arguments)
        except ToolError as error:
            return [called, error.message], []
        except TimeoutError:
            return [called, prompt("input/read-late", seconds=SECONDS)], []
        files = [
            {key: str(file[key]) for key in ("mime", "filename", "url") if key in file} for file in result.attachments
        ]
        return [called, result.output], files

    async def _run_read(self, run: Run, entry: Entry, part: FilePart, arguments: dict[str, object]) -> ToolResult:
        tool, params = self._registry.parse("read", arguments)
        context = ToolContext(
            session_id=run.scope.session_id,
            project_id=run.project_id,
            turn_id=run.turn.id,
            message_id=entry.message.id,
            part_id=part.id,
            agent=entry.message.agent,
            directory=run.directory,
            root=run.root,
            output=lambda _: None,
            check_open=run.token.check,
        )
        for ask in await tool.asks(params, context):
            verdict = self._judge(run.scope.session_id, entry.message.agent, ask)
            if verdict.action == "deny":
                raise ToolError(prompt("input/read-denied", path=arguments["filePath"]))
        return await tool.run(params, context)

    def _add_text(self, run: Run, entry: Entry, text: str) -> None:
        run.writer.part(TextPart(**run.writer.ids(entry.message.id), text=text, synthetic=True))


def _newest(history: History) -> list[Entry]:
    """The user messages that no answer follows yet."""
    found: list[Entry] = []
    for entry in reversed(history.entries):
        if not isinstance(entry.message, UserMessage):
            break
        found.append(entry)
    return found[::-1]


def _waits(part: object, entry: Entry) -> bool:
    match part:
        case FilePart():
            return (part.source or {}).get("expanded") is False
        case AgentPart():
            text = prompt("input/agent", name=part.name)
            return not any(isinstance(other, TextPart) and other.text == text for other in entry.parts)
        case _:
            return False


def _arguments(part: FilePart) -> dict[str, object]:
    path = str((part.source or {}).get("path", part.url))
    lines = _LINES.search(part.url)
    if lines is None:
        return {"filePath": path}
    start = int(lines["start"])
    end = int(lines["end"] or start)
    return {"filePath": path, "offset": start, "limit": max(1, end - start + 1)}
