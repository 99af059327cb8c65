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
from agentls.tools.tool import Params, ToolContext, ToolResult
from agentls.workspace.process import Finished, Shell
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


class Bash:
    name: ClassVar[str] = "bash"
    read_only: ClassVar[bool] = False
    awaits_user: ClassVar[bool] = False
    params: type[BashParams] = BashParams

    def __init__(self, shell: Shell, outputs: Outputs) -> None:
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
            title=params.description or params.command.partition("\n")[0],
            metadata=AskMetadata(command=params.command, cwd=str(folder.path)),
        )
        away = await to_thread.run_sync(_led_away, params.command, folder.path, context.root)
        return [*outside(folder, self.name, folder=True), *_through_links(away, params.command), command]

    async def run(self, params: BashParams, context: ToolContext) -> ToolResult:
        folder = _folder(params, context)
        context.check_open()
        finished = await self._shell.run(
            params.command, cwd=folder.path, timeout=params.limit / 1000, output=context.output
        )
        cut = await to_thread.run_sync(lambda: self._outputs.cut(finished.output.rstrip("\n"), tail=True))
        output = "\n".join([cut.text or "(no output)", "", *_notes(finished, params)])
        metadata = {
            "exitCode": finished.exit_code,
            "cwd": str(folder.path),
            "timedOut": finished.timed_out,
            "outputFile": None if cut.file is None else str(cut.file),
        }
        title = params.description or params.command.partition("\n")[0]
        return ToolResult(title, output, {key: value for key, value in metadata.items() if value is not None})


def _led_away(command: str, folder: Path, root: Path) -> tuple[str, ...]:
    """Paths outside the project to which links of the project lead; those that are outside by name are the rules'."""
    plan = analyse(command, Place(root=str(root), cwd=str(folder)))
    return tuple(path for path in places.outside(plan.operands, folder, root) if path not in plan.outside)


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


def _notes(finished: Finished, params: BashParams) -> list[str]:
    notes: list[str] = []
    if finished.timed_out:
        longer = "" if params.limit >= MAX_TIMEOUT_MS else f" A longer timeout can be given, up to {MAX_TIMEOUT_MS} ms."
        notes.append(f"The command did not end within {params.limit} ms and was stopped.{longer}")
    elif finished.flooded:
        notes.append(f"The command was stopped: it printed over {finished.total // 2**20} MiB. Print less.")
    else:
        notes.append(_code(finished.exit_code))
        if finished.ended:
            names = ", ".join(f"{one.name} (pid {one.pid})" for one in finished.ended[:5])
            notes.append(f"Processes that it left running in the background were ended with it: {names}.")
    return notes


def _code(code: int | None) -> str:
    if code is not None and code < 0:
        return f"The shell was ended by signal {-code}."
    return f"Exit code: {code}"
