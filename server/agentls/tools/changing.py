"""What the tools that change a file share: the state that a change is made for, the question, the write."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from anyio import to_thread

from agentls.config.prompts import prompt
from agentls.errors import ErrorKind, ToolError
from agentls.schema.change import ChangeOrigin, Content, content_hash
from agentls.schema.permission import Ask
from agentls.tools.access import editing, judged
from agentls.tools.tool import ToolContext, ToolResult
from agentls.workspace.buffers import Buffers, Sight, Standing, text_hash
from agentls.workspace.diff import unified
from agentls.workspace.editor import Applied
from agentls.workspace.files import ChangedError, FileContent, Files, changed
from agentls.workspace.reads import Reads
from agentls.workspace.resolve import Resolved
from agentls.workspace.textfile import decode

_MAX_FILE = 50 * 1024 * 1024

RecordBuffer = Callable[[ChangeOrigin, Resolved, str, Content | None, Content], None]
"""Of a change in a buffer: the file, the document's URI, what counted before and after."""


@dataclass(frozen=True, slots=True)
class Plan:
    """A change of one file, worked out on what was in `sight`. `patch` is what people see of it."""

    path: Resolved
    sight: Sight
    data: bytes
    patch: str

    @property
    def before(self) -> FileContent:
        return self.sight.content

    def metadata(self) -> dict[str, Any]:
        status = "modified" if self.before.exists else "added"
        return {"path": str(self.path.path), "uri": self.path.uri, "status": status, "diff": self.patch}


def plan_of(path: Resolved, sight: Sight, data: bytes, old_view: str, new_view: str) -> Plan:
    """Works out the diff too, which takes time for large files: call it in a thread."""
    return Plan(path, sight, data, unified(old_view, new_view, path.shown.lstrip("/")))


class _TouchedError(Exception):
    """The editor's document is another than the one that the change was made for."""


class Changes:
    """Reads, judges and writes files for the tools that change them, in the editor where they are open there."""

    def __init__(self, files: Files, reads: Reads, buffers: Buffers, record: RecordBuffer) -> None:
        self._files = files
        self._reads = reads
        self.buffers = buffers
        self._record = record

    async def current(self, path: Resolved, context: ToolContext) -> Sight:
        """The file as it is, from where it counts. Raises `ChangedError` if it is not what this session last saw of
        it, and refuses what cannot be changed without losing somebody's text.
        """
        sight = await self.buffers.content(path.path)
        found = sight.content
        if path.untitled is not None and sight.document is None:
            raise ToolError(prompt("results/edit-not-open", path=path.shown), f"{path.shown} is not open any more")
        if sight.standing is Standing.CONFLICT:
            raise _conflict(path)
        if sight.in_buffer and not self.buffers.editor.edits:
            brief = f"{path.path.name} has unsaved changes"
            raise ToolError(prompt("results/edit-not-possible", path=path.shown), brief, ErrorKind.EDIT_CONFLICT)
        if found.data is not None and len(found.data) > _MAX_FILE:
            raise ToolError(f"{path.shown} is too large to be changed so: {len(found.data)} bytes. Use bash for it.")
        seen = self._reads.seen(context.session_id, path.path)
        if seen is not None and found.exists and not sight.is_seen(seen):
            raise self._refused(await self._changed(found, seen), context)
        return sight

    def seen(self, path: Resolved, context: ToolContext) -> str | None:
        return self._reads.seen(context.session_id, path.path)

    def ask(self, plan: Plan, context: ToolContext, tool: str, title: str) -> Sequence[Ask]:
        context.expected[str(plan.path.path)] = plan.before.hash
        return editing([(plan.path, plan.patch)], tool, title)

    async def put(self, plan: Plan, context: ToolContext, done: str) -> ToolResult:
        """Writes what was judged: nothing, if the file changed since. `done` is what to say of it."""
        match plan.sight.standing:
            case Standing.CONFLICT:
                raise _conflict(plan.path)
            case Standing.CLOSED | Standing.STALE:
                return await self._to_disk(plan, context, done)
            case Standing.SAME if not (self.buffers.editor.edits and self.buffers.editor.saves):
                return await self._to_disk(plan, context, done)
            case Standing.SAME | Standing.DIRTY | Standing.UNTITLED:
                return await self._to_buffer(plan, context, done)

    async def _to_disk(self, plan: Plan, context: ToolContext, done: str) -> ToolResult:
        expected = judged(plan.path, context)
        try:
            written = await self._files.write(
                plan.path.path,
                plan.data,
                expected=plan.before.hash if plan.sight.is_seen(expected) else expected,
                origin=_origin(context),
                check_open=partial(self._check, plan, context),
            )
        except ChangedError as error:
            raise self._refused(error, context) from error
        except _TouchedError as error:
            raise await self._moved(plan, context) from error
        self.buffers.wrote(plan.path.path)
        if written.hash is not None:
            self._reads.note(context.session_id, plan.path.path, written.hash, plan.data)
        return ToolResult(plan.path.shown, done, plan.metadata())

    async def _to_buffer(self, plan: Plan, context: ToolContext, done: str) -> ToolResult:
        expected = judged(plan.path, context)
        if not plan.sight.is_seen(expected):
            raise self._refused(await self._changed(plan.before, expected), context)
        before = plan.before.data
        old = None if before is None else await to_thread.run_sync(Content.of, before)
        new = await to_thread.run_sync(Content.of, plan.data)
        match await self.buffers.change(plan.sight, plan.data, f"agent: {plan.path.path.name}", context.check_open):
            case Applied.CONFIRMED:
                self._record(_origin(context), plan.path, _uri(plan), old, new)
                return await self._confirmed(plan, context, done)
            case Applied.UNKNOWN:
                self._reads.lose(context.session_id, plan.path.path)
                words = prompt("results/edit-unknown", path=plan.path.shown)
                return ToolResult(plan.path.shown, words, {**plan.metadata(), "via": "buffer", "unknown": True})
            case Applied.REFUSED:
                raise ToolError(prompt("results/edit-refused", path=plan.path.shown), "the editor did not take it")
            case Applied.MOVED:
                raise await self._moved(plan, context)

    async def _confirmed(self, plan: Plan, context: ToolContext, done: str) -> ToolResult:
        """Saves what was saved before. What the user typed meanwhile is not ours to save."""
        document = plan.sight.document
        wanted = await to_thread.run_sync(lambda: text_hash(decode(plan.data).view))
        saved = False
        if plan.sight.standing is Standing.SAME and document is not None:
            alone = await to_thread.run_sync(text_hash, document.text) == wanted
            saved = alone and await self.buffers.save(document)
        now = (await self.buffers.content(plan.path.path)).content
        same = now.data is not None and await to_thread.run_sync(partial(_is_text, now.data, wanted))
        if same and now.hash is not None:
            self._reads.note(context.session_id, plan.path.path, now.hash, now.data)
        else:
            self._reads.note(context.session_id, plan.path.path, content_hash(plan.data), plan.data)
        words = done if saved else f"{done} {prompt('results/edit-unsaved')}"
        return ToolResult(plan.path.shown, words, {**plan.metadata(), "via": "buffer", "saved": saved})

    def _check(self, plan: Plan, context: ToolContext) -> None:
        """The last look before the disk is written: what the user typed just now is nobody's to write beside."""
        context.check_open()
        if self.buffers.touched(plan.sight):
            raise _TouchedError

    async def _moved(self, plan: Plan, context: ToolContext) -> ChangedError:
        now = await self.buffers.content(plan.path.path)
        before = plan.before
        return self._refused(await self._changed(now.content, before.hash, before.data), context)

    async def _changed(self, found: FileContent, seen: str | None, old: bytes | None = None) -> ChangedError:
        known = old if old is not None or seen is None else self._reads.content(seen)
        return await to_thread.run_sync(lambda: changed(found, known, existed=seen is not None))

    def _refused(self, error: ChangedError, context: ToolContext) -> ChangedError:
        """A refusal that shows all that changed counts as a reading: the next try can pass."""
        if error.whole and error.fresh.hash is not None:
            self._reads.note(context.session_id, error.fresh.path, error.fresh.hash, error.fresh.data)
        return error


def _conflict(path: Resolved) -> ToolError:
    brief = f"{path.path.name} has unsaved changes and changed on the disk"
    return ToolError(prompt("results/edit-conflict", path=path.shown), brief, ErrorKind.EDIT_CONFLICT)


def _uri(plan: Plan) -> str:
    return plan.sight.document.uri if plan.sight.document is not None else plan.path.uri


def _is_text(data: bytes, digest: str) -> bool:
    return text_hash(decode(data).view) == digest


def _origin(context: ToolContext) -> ChangeOrigin:
    return ChangeOrigin(context.session_id, context.turn_id, context.message_id, context.part_id)
