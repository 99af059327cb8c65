"""What the tests of tools share."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agentls.schema.change import ChangeOrigin, Content
from agentls.schema.permission import Ask
from agentls.tools.changing import Changes
from agentls.tools.edit import Edit
from agentls.tools.read import Read
from agentls.tools.tool import ToolContext, ToolResult
from agentls.tools.write import Write
from agentls.workspace.buffers import Buffers
from agentls.workspace.files import Files, Recorded
from agentls.workspace.reads import Reads
from agentls.workspace.resolve import Resolved


@dataclass
class Desk:
    """A project folder with the file tools over it."""

    root: Path
    session: str = "ses_1"
    live: list[str] = field(default_factory=list)
    changes: list[tuple[Path, bytes | None, bytes | None]] = field(default_factory=list)

    in_buffers: list[tuple[str, bytes | None, bytes]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.reads = Reads()
        self.files = Files(self._record, self.reads.content)
        self.buffers = Buffers()
        self.way = Changes(self.files, self.reads, self.buffers, self._record_buffer)
        self.read, self.write, self.edit = Read(self.files, self.reads, self.buffers), Write(self.way), Edit(self.way)

    async def _record(
        self,
        origin: ChangeOrigin,
        path: Path,
        before: Content | None,
        after: Content | None,
        check_open: Callable[[], None],
    ) -> Recorded:
        check_open()
        change = (path, before.data if before else None, after.data if after else None)
        self.changes.append(change)

        async def undo() -> None:
            self.changes.remove(change)

        return Recorded(lambda: None, undo)

    def _record_buffer(
        self, origin: ChangeOrigin, path: Resolved, uri: str, before: Content | None, after: Content
    ) -> None:
        self.in_buffers.append((uri, before.data if before else None, after.data))

    def context(self, session: str | None = None) -> ToolContext:
        name = session or self.session
        return ToolContext(
            session_id=name,
            project_id="prj_1",
            turn_id="trn_1",
            message_id="msg_1",
            part_id="prt_1",
            agent="build",
            directory=self.root,
            root=self.root,
            output=self.live.append,
            check_open=lambda: None,
        )

    async def asks(self, tool: Any, **arguments: Any) -> list[Ask]:
        return list(await tool.asks(tool.params.model_validate(arguments), self.context()))

    async def call(self, tool: Any, session: str | None = None, **arguments: Any) -> ToolResult:
        """Asks and runs, as after an allowed question."""
        params, context = tool.params.model_validate(arguments), self.context(session)
        await tool.asks(params, context)
        return await tool.run(params, context)
