"""The write tool: a whole file, new or anew."""

from collections.abc import Sequence
from typing import ClassVar

from anyio import to_thread

from agentls.errors import ToolError
from agentls.schema.permission import Ask
from agentls.schema.text import clean
from agentls.tools.access import going_on, judged, refused, resolved
from agentls.tools.changing import Changes, Plan, plan_of
from agentls.tools.tool import Params, ToolContext, ToolResult
from agentls.workspace.binary import binary_type
from agentls.workspace.buffers import Sight
from agentls.workspace.resolve import Resolved
from agentls.workspace.textfile import Text, decode


class WriteParams(Params):
    file_path: str
    content: str


class Write:
    name: ClassVar[str] = "write"
    read_only: ClassVar[bool] = False
    awaits_user: ClassVar[bool] = False
    params: type[WriteParams] = WriteParams

    def __init__(self, changes: Changes) -> None:
        self._changes = changes

    async def asks(self, params: WriteParams, context: ToolContext) -> Sequence[Ask]:
        path = resolved(params.file_path, context, self._changes.buffers)
        try:
            plan = await self._plan(path, params, context)
        except ToolError as error:
            return refused(error, path, self.name, context)
        verb = "Overwrite" if plan.before.exists else "Create"
        return self._changes.ask(plan, context, self.name, f"{verb} {path.shown}")

    async def run(self, params: WriteParams, context: ToolContext) -> ToolResult:
        path = going_on(params.file_path, context, self._changes.buffers)
        judged(path, context)
        plan = await self._plan(path, params, context)
        lines = params.content.count("\n") + (not params.content.endswith("\n") and bool(params.content))
        what = "Wrote" if plan.before.exists else "Created"
        return await self._changes.put(plan, context, f"{what} {path.shown} ({lines} lines).")

    async def _plan(self, path: Resolved, params: WriteParams, context: ToolContext) -> Plan:
        sight = await self._changes.current(path, context)
        data = sight.content.data
        if data is None:
            text = clean(params.content)
            return await to_thread.run_sync(plan_of, path, sight, text.encode(), "", text)
        if self._changes.seen(path, context) is None:
            raise ToolError(
                f"{path.shown} exists, and you have not read it in this session. Read it first, so that nothing in it "
                "is lost; for a small change use edit.",
                f"{path.path.name} was not read before",
            )
        return await to_thread.run_sync(_rewritten, path, sight, data, params.content)


def _rewritten(path: Resolved, sight: Sight, data: bytes, content: str) -> Plan:
    kind = binary_type(data)
    old = Text("") if kind else decode(data)
    new = old.rewritten(content)
    return plan_of(path, sight, new.encode(), f"({kind})\n" if kind else old.view, new.view)
