"""The list tool: the files below a folder as a tree."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

from anyio import to_thread

from agentls.errors import ToolError
from agentls.schema.permission import Ask
from agentls.schema.text import clean
from agentls.tools.access import allowed, asked, searching
from agentls.tools.found import notes
from agentls.tools.tool import Params, ToolContext, ToolResult
from agentls.workspace.search import Search

_MOST_FILES = 20_000
_MOST_ROWS = 300


class ListParams(Params):
    path: str | None = None


class List:
    name: ClassVar[str] = "list"
    read_only: ClassVar[bool] = True
    awaits_user: ClassVar[bool] = False
    params: type[ListParams] = ListParams

    def __init__(self, search: Search) -> None:
        self._search = search

    async def asks(self, params: ListParams, context: ToolContext) -> Sequence[Ask]:
        folder = asked(params.path or str(context.directory), context)
        return searching(folder, self.name, folder.shown)

    async def run(self, params: ListParams, context: ToolContext) -> ToolResult:
        folder = allowed(params.path or str(context.directory), context)
        if folder.kind() != "folder":
            raise ToolError(f"{folder.path} is no folder. Give an existing folder, or leave path out.")
        found = await self._search.glob(folder.path, "**", limit=_MOST_FILES)
        rows = await to_thread.run_sync(_tree, folder.path, found.items)
        metadata = {"path": str(folder.path), "files": len(found.items), "cut": found.more or found.timed_out}
        text = "\n".join([f"{folder.path}/", *rows, *notes(found, "files")])
        return ToolResult(folder.shown, text, metadata)


def _tree(root: Path, files: Sequence[Path]) -> list[str]:
    """As many levels as fit; what lies deeper is counted."""
    paths = sorted(file.relative_to(root).parts for file in files)
    if not paths:
        return ["  (no files)"]
    depth = 1
    while depth < max(map(len, paths)) and len(_rows(paths, depth + 1)) <= _MOST_ROWS:
        depth += 1
    rows = _rows(paths, depth)
    if len(rows) > _MOST_ROWS:
        rows = [*rows[:_MOST_ROWS], f"  … {len(rows) - _MOST_ROWS} more entries"]
    return [clean(row) for row in rows]


def _rows(paths: Sequence[tuple[str, ...]], depth: int) -> list[str]:
    below = Counter(path[:depth] for path in paths if len(path) > depth)
    rows: dict[tuple[str, ...], str] = {}
    for path in paths:
        for level in range(1, min(len(path), depth) + 1):
            head, indent = path[:level], "  " * level
            if level == len(path):
                rows[head] = f"{indent}{head[-1]}"
            elif level == depth:
                rows[head] = f"{indent}{head[-1]}/ ({below[head]} files)"
            else:
                rows[head] = f"{indent}{head[-1]}/"
    return list(rows.values())
