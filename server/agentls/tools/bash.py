"""The bash tool: one shell command."""

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

from anyio import to_thread
from pydantic import Field

from agentls.errors import ToolError
from agentls.permission import places
from agentls.permission.shell import Place, analyse
from agentls.schema.permission import Ask, AskMetadata
from agentls.tools.access import outside, resolved
from agentls.tools.output import Outputs
from agentls.tools.ran import ran
from agentls.tools.tool import Params, ToolContext, ToolResult
from agentls.workspace.buffers import Buffers, names
from agentls.workspace.process import Shell
from agentls.workspace.resolve import Resolved

DEFAULT_TIMEOUT_MS = 120_000
MAX_TIMEOUT_MS = 600_000


class BashParams(Params):
    command: str = Field(min_length=1)
    description: str | None = None
    timeout: int | None = Field(default=None, ge=1)
    workdir: str | None = None

    @property
    def limit(self) -> int:
        """In milliseconds."""
        return min(self.timeout or DEFAULT_TIMEOUT_MS, MAX_TIMEOUT_MS)

    @property
    def title(self) -> str:
        return self.description or self.command.partition("\n")[0]


class Bash:
    name: ClassVar[str] = "bash"
    read_only: ClassVar[bool] = False
    awaits_user: ClassVar[bool] = False
    params: type[BashParams] = BashParams

    def __init__(self, shell: Shell, outputs: Outputs, home: Path, buffers: Buffers) -> None:
        self._buffers = buffers
        self._home = home
        self._shell = shell
        self._outputs = outputs

    async def asks(self, params: BashParams, context: ToolContext) -> Sequence[Ask]:
        """The whole command is the pattern: which of its parts may run, and what an "always" would store, is judged by
        the rules' own reading of shell commands.
        """
        folder = _folder(params, context)
        command = Ask(
            permission="bash",
            patterns=(params.command,),
            title=params.title,
            metadata=AskMetadata(command=params.command, cwd=str(folder.path)),
        )
        away = await self._away(params, folder, context)
        context.places.update({folder.path, *map(Path, away)})
        return [*outside(folder, self.name, folder=True), *_through_links(away, params.command), command]

    async def run(self, params: BashParams, context: ToolContext) -> ToolResult:
        folder = _folder(params, context)
        if not {folder.path, *map(Path, await self._away(params, folder, context))} <= context.places:
            raise ToolError(
                "A path of this command leads to another place than when it was judged. Look at it and call again.",
                "a path changed",
            )
        unsaved = await self._buffers.save_ours((context.root, folder.path))
        context.check_open()
        finished = await self._shell.run(
            params.command, cwd=folder.path, timeout=params.limit / 1000, output=context.output
        )
        unseen = names(unsaved, folder.path)
        output, facts = await to_thread.run_sync(ran, finished, self._outputs, unseen, params.limit, MAX_TIMEOUT_MS)
        return ToolResult(params.title, output, {"cwd": str(folder.path), **facts})

    async def _away(self, params: BashParams, folder: Resolved, context: ToolContext) -> tuple[str, ...]:
        place = Place(root=str(context.root), cwd=str(folder.path), home=str(self._home))
        return await to_thread.run_sync(_led_away, params.command, place)


def _led_away(command: str, place: Place) -> tuple[str, ...]:
    """Paths outside the project to which links of the project lead; those that are outside by name are the rules'."""
    plan = analyse(command, place)
    found = places.outside(plan.operands, place, known=plan.outside)
    return tuple(path for path in found if path not in plan.outside)


def _through_links(paths: Sequence[str], command: str) -> list[Ask]:
    return [
        Ask(
            permission="external_directory",
            patterns=(path,),
            title=f"Use {path}, outside the project",
            description="A link in the project leads there.",
            metadata=AskMetadata(command=command),
        )
        for path in paths
    ]


def _folder(params: BashParams, context: ToolContext) -> Resolved:
    folder = resolved(params.workdir or str(context.directory), context)
    if folder.kind() != "folder":
        raise ToolError(f"The workdir {folder.path} is no folder. Give an existing folder, or leave workdir out.")
    return folder
