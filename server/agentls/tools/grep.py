"""The grep tool: lines by a regular expression."""

from collections.abc import Sequence
from typing import ClassVar

from pydantic import Field

from agentls.config.prompts import prompt
from agentls.errors import ToolError
from agentls.schema.permission import Ask
from agentls.tools.access import Unreadable, all_readable, allowed, asked, searching
from agentls.tools.found import notes, shown
from agentls.tools.tool import Params, ToolContext, ToolResult
from agentls.workspace.buffers import Buffers, names
from agentls.workspace.search import Hit, Search


class GrepParams(Params):
    pattern: str = Field(min_length=1)
    path: str | None = None
    include: str | None = None


class Grep:
    name: ClassVar[str] = "grep"
    read_only: ClassVar[bool] = True
    awaits_user: ClassVar[bool] = False
    params: type[GrepParams] = GrepParams

    def __init__(self, search: Search, buffers: Buffers, unreadable: Unreadable = all_readable) -> None:
        self._buffers = buffers
        self._search = search
        self._unreadable = unreadable

    async def asks(self, params: GrepParams, context: ToolContext) -> Sequence[Ask]:
        return searching(asked(params.path or str(context.directory), context), self.name, params.pattern)

    async def run(self, params: GrepParams, context: ToolContext) -> ToolResult:
        target = allowed(params.path or str(context.directory), context)
        if target.kind() is None:
            raise ToolError(f"{target.path} does not exist. Give an existing file or folder, or leave path out.")
        unreadable = self._unreadable(context)
        found = await self._search.grep(
            target.path,
            params.pattern,
            include=params.include,
            withheld=lambda path: unreadable(target.beside(path).shown),
        )
        rows = _rows(found.items, context) or ["No line matches."]
        unsaved = await self._buffers.unsaved((target.path,))
        if unsaved:
            rows.append(prompt("results/search-unsaved", names=names(unsaved, context.directory)))
        metadata = {"count": len(found.items), "cut": found.more or found.timed_out}
        return ToolResult(params.pattern, "\n".join([*rows, *notes(found, "lines")]), metadata)


def _rows(hits: Sequence[Hit], context: ToolContext) -> list[str]:
    """The file's name once, then its lines."""
    rows: list[str] = []
    last = None
    for hit in hits:
        if hit.path != last:
            rows.append(f"{shown(hit.path, context)}:")
            last = hit.path
        rows.append(f"  {hit.line}: {hit.text}")
    return rows
