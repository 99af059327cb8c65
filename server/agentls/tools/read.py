"""The read tool: lines of a file, the entries of a folder, an image or PDF as an attachment."""

import base64
import difflib
import os
import unicodedata
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

from anyio import to_thread
from pydantic import Field

from agentls.config.prompts import prompt
from agentls.errors import ToolError
from agentls.schema.permission import Ask
from agentls.schema.text import clean
from agentls.tools.access import allowed, asked, reading
from agentls.tools.tool import Params, ToolContext, ToolResult
from agentls.workspace.buffers import Buffers, Sight, Standing
from agentls.workspace.files import Files
from agentls.workspace.reads import Reads
from agentls.workspace.resolve import Resolved
from agentls.workspace.scan import Binary, Line, Picker, Window, scan, scan_bytes

_LIMIT = 2000
_WIDTH = 2000
_LONG_WIDTH = 30_000
_MAX_BYTES = 50 * 1024
_MAX_ATTACHMENT = 10 * 1024 * 1024
_MAX_ENTRIES = 1000
_NOTES = {Standing.DIRTY: "results/unsaved", Standing.CONFLICT: "results/conflict"}


class ReadParams(Params):
    file_path: str
    offset: int = Field(default=1, ge=0)
    limit: int = Field(default=_LIMIT, ge=1)
    column: int | None = Field(default=None, ge=1)


class Read:
    name: ClassVar[str] = "read"
    read_only: ClassVar[bool] = True
    awaits_user: ClassVar[bool] = False
    params: type[ReadParams] = ReadParams

    def __init__(self, files: Files, reads: Reads, buffers: Buffers) -> None:
        self._files = files
        self._buffers = buffers
        self._reads = reads

    async def asks(self, params: ReadParams, context: ToolContext) -> Sequence[Ask]:
        return reading(asked(params.file_path, context, self._buffers), self.name)

    async def run(self, params: ReadParams, context: ToolContext) -> ToolResult:
        path = allowed(params.file_path, context, self._buffers)
        if path.kind() == "folder":
            return await to_thread.run_sync(_folder, path, params)
        offset = max(1, params.offset)
        skip, width, limit = 0, _WIDTH, min(params.limit, _LIMIT)
        if params.column is not None:
            skip, width, limit = params.column - 1, _LONG_WIDTH, 1
        picker = Picker(offset, limit, skip, width)
        sight = await self._buffers.see(path.path)
        if sight is not None and sight.in_buffer:
            found = await to_thread.run_sync(scan_bytes, sight.content.data or b"", picker)
        else:
            found = await to_thread.run_sync(scan, path.path, picker)
        match found:
            case None:
                raise ToolError(await to_thread.run_sync(_missing, path), f"{path.path.name} does not exist")
            case Binary():
                return await self._binary(path, found)
            case Window():
                self._reads.note(context.session_id, path.path, found.hash, found.kept)
                return _noted(_text(path, found, offset, skip), sight)

    async def _binary(self, path: Resolved, found: Binary) -> ToolResult:
        if found.mime is None:
            raise ToolError(
                f"{path.shown} is binary ({found.kind}, {found.size} bytes) and cannot be read as text.",
                f"{path.path.name} is binary",
            )
        if found.size > _MAX_ATTACHMENT:
            raise ToolError(
                f"{path.shown} is too large to be shown ({found.kind}, {found.size} bytes; at most {_MAX_ATTACHMENT})."
            )
        content = await self._files.read(path.path)
        encoded = base64.b64encode(content.data or b"").decode()
        attachment = {"mime": found.mime, "url": f"data:{found.mime};base64,{encoded}", "filename": path.path.name}
        output = f"{path.shown} is attached ({found.kind}, {found.size} bytes)."
        return ToolResult(path.shown, output, {"path": str(path.path)}, (attachment,))


def _noted(result: ToolResult, sight: Sight | None) -> ToolResult:
    """Says where a text is from the editor, not from the disk."""
    if sight is None or sight.standing not in _NOTES:
        return result
    note = prompt(_NOTES[sight.standing])
    return replace(result, output=f"{result.output}\n{note}", metadata={**result.metadata, "via": "buffer"})


def _text(path: Resolved, found: Window, offset: int, skip: int) -> ToolResult:
    if found.size == 0 or found.total == 0:
        return ToolResult(path.shown, "(The file is empty.)", {"path": str(path.path), "lines": 0})
    if offset > found.total:
        raise ToolError(f"{path.shown} has {found.total} lines: offset {offset} is behind its end.")
    rows: list[str] = []
    size = 0
    last = offset - 1
    for line in found.lines:
        row = _row(line, skip)
        size += len(row.encode("utf-8", "replace")) + 1
        if rows and size > _MAX_BYTES:
            break
        rows.append(row)
        last = line.number
    if last < found.total:
        rows.append(f"\n(Lines {offset} to {last} of {found.total}. To go on: offset {last + 1}.)")
    else:
        rows.append(f"\n(End of the file: {found.total} lines.)")
    metadata = {"path": str(path.path), "lines": found.total, "cut": last < found.total}
    return ToolResult(path.shown, "\n".join(rows), metadata)


def _row(line: Line, skip: int) -> str:
    end = skip + len(line.text)
    if skip == 0 and end >= line.length:
        return f"{line.number}: {line.text}"
    if not line.text:
        return f"{line.number}: (this line has only {line.length} characters)"
    rest = "" if end >= line.length else f" To go on: offset {line.number}, column {end + 1}."
    return f"{line.number}: {line.text} … (clipped: characters {skip + 1} to {end} of {line.length}.{rest})"


def _folder(path: Resolved, params: ReadParams) -> ToolResult:
    try:
        with os.scandir(path.path) as entries:
            names = sorted(f"{entry.name}/" if entry.is_dir() else entry.name for entry in entries)
    except OSError as error:
        raise ToolError(f"{path.shown} cannot be listed: {error.strerror}.") from error
    first = max(1, params.offset) - 1
    shown = names[first : first + min(params.limit, _MAX_ENTRIES)]
    last = first + len(shown)
    rows = [clean(name) for name in shown] or ["(The folder is empty.)"]
    if last < len(names):
        rows.append(f"\n(Entries {first + 1} to {last} of {len(names)}. To go on: offset {last + 1}.)")
    return ToolResult(path.shown, "\n".join(rows), {"path": str(path.path), "entries": len(names)})


def _missing(path: Resolved) -> str:
    """What to say of a file that is not there: names like it, beside it."""
    folder = path.path.parent
    if not folder.is_dir():
        return f"{path.shown} does not exist, and neither does its folder. Find it with glob."
    try:
        near = _similar(folder, path.path.name)
    except OSError:  # a folder that may not be listed
        near = []
    if not near:
        return f"{path.shown} does not exist. Find it with glob, or list {folder}."
    listed = "\n".join(str(folder / name) for name in near)
    return f"{path.shown} does not exist. Did you mean one of these?\n{listed}"


def _similar(folder: Path, name: str) -> list[str]:
    with os.scandir(folder) as entries:
        names = [entry.name for entry, _ in zip(entries, range(5000), strict=False)]
    wanted = _loose(name)
    same = [one for one in names if _loose(one) == wanted or wanted in _loose(one) or _loose(one) in wanted]
    close = difflib.get_close_matches(name, names, n=3, cutoff=0.6)
    return list(dict.fromkeys([*same, *close]))[:3]


def _loose(name: str) -> str:
    return "".join(unicodedata.normalize("NFKC", name).casefold().split())
