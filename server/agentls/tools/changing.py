"""What the tools that change a file share: the state that a change is made for, the question, the write."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from anyio import to_thread

from agentls.errors import ToolError
from agentls.schema.change import ChangeOrigin
from agentls.schema.permission import Ask
from agentls.tools.access import editing, judged
from agentls.tools.tool import ToolContext
from agentls.workspace.diff import unified
from agentls.workspace.files import ChangedError, FileContent, Files, changed
from agentls.workspace.reads import Reads
from agentls.workspace.resolve import Resolved

_MAX_FILE = 50 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Plan:
    """A change of one file, worked out on `before`. `patch` is what people see of it."""

    path: Resolved
    before: FileContent
    data: bytes
    patch: str

    def metadata(self) -> dict[str, Any]:
        status = "modified" if self.before.exists else "added"
        return {"path": str(self.path.path), "uri": self.path.path.as_uri(), "status": status, "diff": self.patch}


def plan_of(path: Resolved, before: FileContent, data: bytes, old_view: str, new_view: str) -> Plan:
    """Works out the diff too, which takes time for large files: call it in a thread."""
    return Plan(path, before, data, unified(old_view, new_view, path.shown.lstrip("/")))


class Changes:
    """Reads, judges and writes files for the tools that change them."""

    def __init__(self, files: Files, reads: Reads) -> None:
        self._files = files
        self._reads = reads

    async def current(self, path: Resolved, context: ToolContext) -> FileContent:
        """The file as it is. Raises `ChangedError` if it is not what this session last saw of it."""
        found = await self._files.read(path.path)
        if found.data is not None and len(found.data) > _MAX_FILE:
            raise ToolError(f"{path.shown} is too large to be changed so: {len(found.data)} bytes. Use bash for it.")
        seen = self._reads.seen(context.session_id, path.path)
        if seen is not None and found.exists and seen != found.hash:
            raise self._refused(await to_thread.run_sync(lambda: self._changed(found, seen)), context)
        return found

    def seen(self, path: Resolved, context: ToolContext) -> str | None:
        return self._reads.seen(context.session_id, path.path)

    def ask(self, plan: Plan, context: ToolContext, tool: str, title: str) -> Sequence[Ask]:
        context.expected[str(plan.path.path)] = plan.before.hash
        return editing([(plan.path, plan.patch)], tool, title)

    async def put(self, plan: Plan, context: ToolContext) -> None:
        """Writes what was judged: nothing, if the file changed since."""
        origin = ChangeOrigin(context.session_id, context.turn_id, context.message_id, context.part_id)
        try:
            written = await self._files.write(
                plan.path.path,
                plan.data,
                expected=judged(plan.path, context),
                origin=origin,
                check_open=context.check_open,
            )
        except ChangedError as error:
            raise self._refused(error, context) from error
        if written.hash is not None:
            self._reads.note(context.session_id, plan.path.path, written.hash, plan.data)

    def _changed(self, found: FileContent, seen: str) -> ChangedError:
        return changed(found, self._reads.content(seen), existed=True)

    def _refused(self, error: ChangedError, context: ToolContext) -> ChangedError:
        """A refusal that shows all that changed counts as a reading: the next try can pass."""
        if error.whole and error.fresh.hash is not None:
            self._reads.note(context.session_id, error.fresh.path, error.fresh.hash, error.fresh.data)
        return error
