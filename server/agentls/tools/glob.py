"""The glob tool: files by a pattern of their path."""

from collections.abc import Sequence
from typing import ClassVar

from pydantic import Field

from agentls.errors import ToolError
from agentls.schema.permission import Ask
from agentls.tools.access import allowed, asked, searching
from agentls.tools.found import notes, shown
from agentls.tools.tool import Params, ToolContext, ToolResult
from agentls.workspace.search import Search


class GlobParams(Params):
    pattern: str = Field(min_length=1)
    path: str | None = None


class Glob:
    name: ClassVar[str] = "glob"
    read_only: ClassVar[bool] = True
    awaits_user: ClassVar[bool] = False
    params: type[GlobParams] = GlobParams

    def __init__(self, search: Search) -> None:
        self._search = search

    async def asks(self, params: GlobParams, context: ToolContext) -> Sequence[Ask]:
        return searching(asked(params.path or str(context.directory), context), self.name, params.pattern)

    async def run(self, params: GlobParams, context: ToolContext) -> ToolResult:
        folder = allowed(params.path or str(context.directory), context)
        if folder.kind() != "folder":
            raise ToolError(f"{folder.path} is no folder. Give an existing folder, or leave path out.")
        found = await self._search.glob(folder.path, params.pattern)
        rows = [shown(path, context) for path in found.items] or ["No file fits the pattern."]
        metadata = {"count": len(found.items), "cut": found.more or found.timed_out}
        return ToolResult(params.pattern, "\n".join([*rows, *notes(found, "files")]), metadata)
