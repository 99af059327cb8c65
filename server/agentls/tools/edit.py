"""The edit tool: replaces a quoted piece of a file."""

from collections.abc import Sequence
from typing import ClassVar

from anyio import to_thread

from agentls.errors import ToolError
from agentls.schema.permission import Ask
from agentls.schema.text import clean
from agentls.tools.access import going_on, judged, refused, resolved
from agentls.tools.changing import Changes, Plan, plan_of
from agentls.tools.replacers import replace
from agentls.tools.tool import Params, ToolContext, ToolResult
from agentls.workspace.binary import binary_type
from agentls.workspace.buffers import Sight
from agentls.workspace.resolve import Resolved
from agentls.workspace.textfile import decode


class EditParams(Params):
    file_path: str
    old_string: str
    new_string: str
    replace_all: bool = False


class Edit:
    name: ClassVar[str] = "edit"
    read_only: ClassVar[bool] = False
    awaits_user: ClassVar[bool] = False
    params: type[EditParams] = EditParams

    def __init__(self, changes: Changes) -> None:
        self._changes = changes

    async def asks(self, params: EditParams, context: ToolContext) -> Sequence[Ask]:
        path = resolved(params.file_path, context, self._changes.buffers)
        try:
            plan, _ = await self._plan(path, params, context)
        except ToolError as error:
            return refused(error, path, self.name, context)
        verb = "Edit" if plan.before.exists else "Create"
        return self._changes.ask(plan, context, self.name, f"{verb} {path.shown}")

    async def run(self, params: EditParams, context: ToolContext) -> ToolResult:
        path = going_on(params.file_path, context, self._changes.buffers)
        judged(path, context)
        plan, done = await self._plan(path, params, context)
        return await self._changes.put(plan, context, done)

    async def _plan(self, path: Resolved, params: EditParams, context: ToolContext) -> tuple[Plan, str]:
        sight = await self._changes.current(path, context)
        if params.old_string == "":
            return await to_thread.run_sync(_created, path, sight, params)
        data = sight.content.data
        if data is None:
            raise ToolError(
                f"{path.shown} does not exist. To create it, leave oldString empty; else find the file with glob.",
                f"{path.path.name} does not exist",
            )
        return await to_thread.run_sync(_edited, path, sight, data, params)


def _created(path: Resolved, sight: Sight, params: EditParams) -> tuple[Plan, str]:
    if sight.content.data:
        raise ToolError(
            f"{path.shown} exists: an empty oldString only creates a file where none is. Quote the lines to replace, "
            "or use write to replace the whole file.",
            f"{path.path.name} exists",
        )
    text = clean(params.new_string)
    return plan_of(path, sight, text.encode(), "", text), f"Created {path.shown}."


def _edited(path: Resolved, sight: Sight, data: bytes, params: EditParams) -> tuple[Plan, str]:
    kind = binary_type(data)
    if kind is not None:
        raise ToolError(f"{path.shown} is binary ({kind}) and cannot be edited as text.", f"{path.path.name} is binary")
    old = decode(data)
    found = replace(old.view, params.old_string, clean(params.new_string), every=params.replace_all)
    new = old.splice(found.spans)
    count = len(found.spans)
    done = f"Edited {path.shown}: {count} place{'' if count == 1 else 's'} replaced."
    if found.strategy != "exact":
        done += f" oldString was not there word for word; it was matched loosely ({found.strategy})."
    return plan_of(path, sight, new.encode(), old.view, new.view), done
