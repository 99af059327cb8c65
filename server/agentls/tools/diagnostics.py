"""The diagnostics tool: what the editor's language servers say of the text as it is now."""

import heapq
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import anyio
from anyio.lowlevel import checkpoint

from agentls.config.prompts import prompt
from agentls.errors import ToolError
from agentls.schema.input import Diagnostic, LinePosition
from agentls.schema.permission import Ask
from agentls.schema.text import one_line
from agentls.tools.access import Unreadable, all_readable, allowed, asked, reading
from agentls.tools.found import left_out
from agentls.tools.tool import Params, ToolContext, ToolResult
from agentls.workspace.buffers import Buffers, names
from agentls.workspace.editor import Document, FileDiagnostics
from agentls.workspace.resolve import Resolved

_WAIT_SECONDS = 6.0
_POLL_SECONDS = 0.3
_QUIET_SECONDS = 3.0
_MOST = 100
_AT_ONCE = 20  # files, between which others get on
_SEVERITIES = {1: "error", 2: "warning", 3: "information", 4: "hint"}


class DiagnosticsParams(Params):
    file_path: str | None = None


_Placed = tuple[Path, FileDiagnostics]
"""With the real path that it is about."""


@dataclass(frozen=True, slots=True)
class _Found:
    """`late` are the files whose newest text the editor has not judged yet, `unsure` whether it says no versions,
    `withheld` how many files were left out.
    """

    rows: tuple[str, ...]
    late: tuple[Path, ...]
    unsure: bool
    count: int
    withheld: int


class Diagnostics:
    name: ClassVar[str] = "diagnostics"
    read_only: ClassVar[bool] = True
    awaits_user: ClassVar[bool] = False
    params: type[DiagnosticsParams] = DiagnosticsParams

    def __init__(self, buffers: Buffers, unreadable: Unreadable = all_readable) -> None:
        self._buffers = buffers
        self._unreadable = unreadable

    async def asks(self, params: DiagnosticsParams, context: ToolContext) -> Sequence[Ask]:
        if params.file_path is None:
            return ()
        return reading(asked(params.file_path, context, self._buffers), self.name)

    async def run(self, params: DiagnosticsParams, context: ToolContext) -> ToolResult:
        path = None if params.file_path is None else allowed(params.file_path, context, self._buffers)
        if not self._buffers.editor.diagnoses:
            raise ToolError(prompt("results/diagnostics-not-offered"), "no diagnostics")
        wanted = {document.uri: document.version for document in self._buffers.editor.documents()}
        deadline = time.monotonic() + _WAIT_SECONDS
        while True:
            told = await self._told(path)
            found = None if told is None else await self._found(told, wanted, path, context)
            if found is not None and not found.late:
                break
            if time.monotonic() > deadline or not self._buffers.editor.diagnoses:
                break
            await anyio.sleep(_POLL_SECONDS)
        if found is None:
            raise ToolError(prompt("results/diagnostics-no-answer"), "no answer")
        return _result(path, found, context)

    async def _told(self, path: Resolved | None) -> tuple[FileDiagnostics, ...] | None:
        if path is None:
            return await self._buffers.editor.diagnostics(None)
        told: list[FileDiagnostics] = []
        for uri in [one.uri for one in self._buffers.of(path.path)] or [path.uri]:
            answer = await self._buffers.editor.diagnostics(uri)
            if answer is None:
                return None
            # Only that file was judged, whatever the editor tells beside.
            of_it = [replace(one, uri=uri) for place, one in await self._placed(answer) if place == path.path]
            told += of_it or [FileDiagnostics(uri, (), None)]
        return tuple(told)

    async def _found(
        self, told: Sequence[FileDiagnostics], wanted: dict[str, int], path: Resolved | None, context: ToolContext
    ) -> _Found:
        rows: list[str] = []
        late: list[Path] = []
        unsure, count = False, 0
        readable, withheld = await self._readable(told, path, context)
        for number, (place, one) in enumerate(await self._in_order(readable)):
            if number % _AT_ONCE == 0:
                await checkpoint()
            document = next((open_one for open_one in self._buffers.of(place)), None)
            if not self._fresh(one, document, wanted, place):
                late.append(place)
                continue
            unsure = unsure or (one.version is None and document is not None and bool(one.items))
            count += len(one.items)
            name, first = names([place], context.root), heapq.nsmallest(_MOST, one.items, key=_weight)
            rows += [f"{name}:{diagnostic_row(item)}" for item in first]
        return _Found(tuple(rows), tuple(late), unsure, count, withheld)

    async def _placed(self, told: Sequence[FileDiagnostics]) -> list[_Placed]:
        """Without those that are of no file."""
        places = await self._buffers.places([one.uri for one in told])
        return [(place, one) for place, one in zip(places, told, strict=True) if place is not None]

    async def _readable(
        self, told: Sequence[FileDiagnostics], path: Resolved | None, context: ToolContext
    ) -> tuple[list[_Placed], int]:
        """Those that may be told, and how many files are kept back: messages quote the text that they are about."""
        placed = await self._placed(told)
        if path is not None:
            return placed, 0
        kept_back = self._unreadable(context)
        readable: list[_Placed] = []
        secret: set[Path] = set()
        for number, (place, one) in enumerate(placed):
            if number % _AT_ONCE == 0:
                await checkpoint()
            if not place.is_relative_to(context.root):
                continue
            if kept_back(place.relative_to(context.root).as_posix()):
                secret.add(place)
            else:
                readable.append((place, one))
        return readable, len(secret)

    async def _in_order(self, told: list[_Placed]) -> list[_Placed]:
        """What the user is looking at comes first."""
        if len({one.uri for _, one in told}) < 2:
            return told
        current = await self._buffers.editor.looking()
        return sorted(told, key=lambda row: (row[1].uri != current, row[1].uri))

    def _fresh(self, one: FileDiagnostics, document: Document | None, wanted: dict[str, int], place: Path) -> bool:
        """Whether these are of the text that stood at the call, or a later one. Where no version is told, some quiet
        time after the last change has to do.
        """
        if document is not None and one.version is not None:
            return one.version >= wanted.get(document.uri, 0)
        changed = document.touched if document is not None else self._buffers.written(place)
        return time.monotonic() - changed > _QUIET_SECONDS


def _result(path: Resolved | None, found: _Found, context: ToolContext) -> ToolResult:
    title = path.shown if path is not None else "all files"
    rows = list(found.rows[:_MOST])
    if found.count > len(rows):
        rows.append(prompt("results/diagnostics-more", count=found.count - len(rows)))
    if not rows and not found.late:
        rows.append(prompt("results/diagnostics-none"))
    if found.withheld:
        rows.append(left_out(found.withheld))
    if found.unsure:
        rows.append(prompt("results/diagnostics-unsure"))
    if found.late:
        rows.append(prompt("results/diagnostics-late", names=names(found.late, context.root)))
    return ToolResult(title, "\n".join(rows), {"count": found.count, "late": bool(found.late)})


def diagnostic_row(item: Diagnostic) -> str:
    """`line:column severity: message [source code]`, from 1."""
    start = item.range.start if item.range else LinePosition(line=0)
    origin = [one_line(str(word)) for word in (item.source, item.code) if word not in {None, ""}]
    source = f" [{' '.join(origin)}]" if origin else ""
    return f"{start.line + 1}:{start.character + 1} {_SEVERITIES[item.severity or 1]}: {one_line(item.message)}{source}"


def _weight(item: Diagnostic) -> tuple[int, int]:
    return item.severity or 1, item.range.start.line if item.range else 0
