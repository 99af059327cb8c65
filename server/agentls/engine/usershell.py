"""The user's own shell command: no model call, nothing asked; the next turn's model sees it as a call done for it."""

import math
from pathlib import Path

from anyio import to_thread

from agentls.config.prompts import prompt
from agentls.engine.loop import LoopEnd
from agentls.engine.prompt import Chosen, digest_of, store_synthetic
from agentls.engine.run import Run
from agentls.engine.transcript import Writer
from agentls.schema.base import Value, now
from agentls.schema.ids import Prefix, new
from agentls.schema.message import AssistantMessage, Span, Where
from agentls.schema.part import Completed, PartTime, Running, ToolPart
from agentls.tools.output import Outputs
from agentls.tools.ran import ran
from agentls.workspace.buffers import Buffers, names
from agentls.workspace.process import Shell


class ShellRequest(Value):
    """`session/shell`. `timeout_ms` absent: it runs until it ends or is aborted."""

    session_id: str
    command: str
    cwd: str | None = None
    message_id: str | None = None
    timeout_ms: int | None = None


class UserShell:
    def __init__(self, shell: Shell, outputs: Outputs, buffers: Buffers) -> None:
        self._buffers = buffers
        self._shell = shell
        self._outputs = outputs

    def store(
        self, writer: Writer, request: ShellRequest, message_id: str, chosen: Chosen, cwd: Path, root: Path
    ) -> tuple[AssistantMessage, ToolPart]:
        """What stands in the history from the start: the user's word, the answer, and the running call."""
        user = store_synthetic(
            writer, request.session_id, prompt("input/user-shell"), chosen, message_id, digest_of(request)
        )
        message = AssistantMessage(
            id=new(Prefix.MESSAGE),
            session_id=request.session_id,
            pos=writer.place(),
            parent_id=user.id,
            time=Span(created=now()),
            agent=chosen.agent,
            model=chosen.model,
            path=Where(cwd=str(cwd), root=str(root)),
        )
        writer.message(message)
        part = ToolPart(
            **writer.ids(message.id),
            call_id=new(Prefix.CALL),
            tool="bash",
            state=Running(input={"command": request.command}, title=request.command, time=PartTime(start=now())),
        )
        return message, writer.part(part)

    async def work(
        self, run: Run, request: ShellRequest, message: AssistantMessage, part: ToolPart, cwd: Path
    ) -> LoopEnd:
        unsaved = await self._buffers.save_ours((run.root, cwd))
        result = await self._shell.run(
            request.command,
            cwd=cwd,
            timeout=math.inf if request.timeout_ms is None else request.timeout_ms / 1000,
            output=lambda text: run.writer.grow(part.id, "output", text),
        )
        unseen = names(unsaved, cwd)
        output, metadata = await to_thread.run_sync(ran, result, self._outputs, unseen, request.timeout_ms)
        time = PartTime(start=part.state.time.start if isinstance(part.state, Running) else now(), end=now())
        state = Completed(input=part.state.input, output=output, title=request.command, metadata=metadata, time=time)
        with run.journal.transaction():
            run.writer.part(part.but(state=state))
            run.writer.message(message.but(finish="stop", time=message.time.but(completed=now())))
        return LoopEnd("done")
