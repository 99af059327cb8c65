"""Tool calls: prepare, permit, run, finish. In the order of the calls; a run of read-only ones together."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import anyio

from agentls.config.prompts import prompt
from agentls.engine import doom
from agentls.engine.run import Run
from agentls.errors import AgentError, RunClosedError, ToolError
from agentls.permission.broker import Broker, RejectedError
from agentls.permission.ledger import Asker
from agentls.schema.base import now
from agentls.schema.message import AssistantMessage
from agentls.schema.part import Completed, Failed, PartTime, Pending, Running, ToolPart
from agentls.schema.permission import Ask
from agentls.schema.session import PlainStatus
from agentls.tools.registry import Registry
from agentls.tools.tool import Params, Tool, ToolContext, ToolResult

log = logging.getLogger(__name__)


@dataclass(slots=True)
class _Group:
    """Calls that run at once. Their turn waits for the user when all that are still at work do."""

    run: Run
    working: int
    waiting: int = 0

    def wait(self, begins: object, /) -> None:
        self.waiting += 1 if begins else -1
        self.show()

    def end(self) -> None:
        self.working -= 1
        self.show()

    def show(self) -> None:
        waits = self.waiting > 0 and self.waiting == self.working
        self.run.show(PlainStatus(type="waiting" if waits else "busy"))


@dataclass(slots=True)
class Calls:
    """The calls of one step. `blocked` is set once the user stopped the turn by a plain reject."""

    run: Run
    message: AssistantMessage
    parts: Sequence[ToolPart]
    problems: Mapping[str, str] = field(default_factory=dict[str, str])
    before: list[doom.Deed] = field(default_factory=list[doom.Deed])
    blocked: bool = False


class ToolCalls:
    def __init__(self, registry: Registry, broker: Broker) -> None:
        self._registry = registry
        self._broker = broker

    async def execute(self, calls: Calls) -> None:
        """Run every pending call; all have their result afterwards."""
        for parts in self._groups(calls.parts):
            if calls.blocked:
                for part in parts:
                    await self._skip(calls, part)
                continue
            group = _Group(calls.run, len(parts))
            async with anyio.create_task_group() as tasks:
                for part in parts:
                    tasks.start_soon(self._call, calls, group, part, tasks.cancel_scope)
            for part in parts:
                self._remember(calls, part)

    def _groups(self, parts: Sequence[ToolPart]) -> list[list[ToolPart]]:
        groups: list[list[ToolPart]] = []
        joins = False
        for part in parts:
            tool = self._registry.get(part.tool)
            read_only = tool is not None and tool.read_only
            if read_only and joins:
                groups[-1].append(part)
            else:
                groups.append([part])
            joins = read_only
        return groups

    async def _call(self, calls: Calls, group: _Group, part: ToolPart, all_of_group: anyio.CancelScope) -> None:
        try:
            await self._one(calls, group, part)
        except RejectedError:
            calls.blocked = True
            await self._fail(calls, part, prompt("results/rejected-plain"), {"rejected": True})
            all_of_group.cancel()
        except anyio.get_cancelled_exc_class():
            if calls.blocked:
                with anyio.CancelScope(shield=True):
                    await self._skip(calls, part)
            raise
        finally:
            group.end()

    async def _one(self, calls: Calls, group: _Group, part: ToolPart) -> None:
        run = calls.run
        try:
            tool, params = self._prepare(calls, part)
            context = self._context(run, calls.message, part)
            await self._permit(calls, group, part, tool, params, context)
            result = await self._run(run, part, tool, params, context)
        except ToolError as error:
            kind = {} if error.kind is None else {"kind": error.kind.value}
            await self._fail(calls, part, error.message, {"brief": error.brief, **kind})
        except AgentError as error:
            await self._fail(calls, part, error.message, {"brief": error.message})
        except (RejectedError, RunClosedError):
            raise
        except Exception:
            log.exception("tool %s failed", part.tool)
            await self._fail(calls, part, prompt("results/broken-tool", tool=part.tool), {"brief": "the tool broke"})
        else:
            await run.journal.patiently(partial(self._complete, run, part, result))

    def _prepare(self, calls: Calls, part: ToolPart) -> tuple[Tool[Any], Params]:
        problem = calls.problems.get(part.id)
        if problem is not None:
            raise ToolError(prompt("results/unparsable", problem=problem, raw=_clip(_raw(part))), problem)
        return self._registry.parse(part.tool, part.state.input)

    async def _permit(
        self, calls: Calls, group: _Group, part: ToolPart, tool: Tool[Any], params: Params, context: ToolContext
    ) -> None:
        run = calls.run
        asker = asker_of(run, calls.message, part.id)
        asks = [*self._doom(calls, part), *(await tool.asks(params, context))]
        for ask in asks:
            expected = await self._broker.authorize(asker, ask, context.expected, group.wait)
            context.expected.update(expected)
        context.waiting = group.wait

    def _doom(self, calls: Calls, part: ToolPart) -> list[Ask]:
        if not doom.in_circles(calls.before, doom.deed(part)):
            return []
        return [
            Ask(
                permission="doom_loop",
                patterns=(part.tool,),
                always=(part.tool,),
                title=f"Go on? The model repeats the same `{part.tool}` call with the same result.",
            )
        ]

    async def _run(self, run: Run, part: ToolPart, tool: Tool[Any], params: Params, context: ToolContext) -> ToolResult:
        if not tool.awaits_user:
            begun = part.but(state=Running(input=part.state.input, time=PartTime(start=now())))
            await run.journal.patiently(partial(run.writer.part, begun))
        return await tool.run(params, context)

    def _context(self, run: Run, message: AssistantMessage, part: ToolPart) -> ToolContext:
        def output(text: str) -> None:
            run.writer.grow(part.id, "output", text)

        return ToolContext(
            session_id=run.scope.session_id,
            project_id=run.project_id,
            turn_id=run.turn.id,
            message_id=message.id,
            part_id=part.id,
            agent=message.agent,
            directory=run.directory,
            root=run.root,
            output=output,
            check_open=run.token.check,
        )

    def _complete(self, run: Run, part: ToolPart, result: ToolResult) -> None:
        run.writer.part(
            part.but(
                state=Completed(
                    input=part.state.input,
                    output=result.output,
                    title=result.title,
                    metadata=result.metadata,
                    attachments=result.attachments or None,
                    time=PartTime(start=self._started(run, part), end=now()),
                )
            )
        )

    async def _fail(self, calls: Calls, part: ToolPart, error: str, metadata: dict[str, Any]) -> None:
        time = PartTime(start=self._started(calls.run, part), end=now())
        state = Failed(input=part.state.input, error=error, metadata=metadata, time=time)
        await calls.run.journal.patiently(partial(calls.run.writer.part, part.but(state=state)))

    async def _skip(self, calls: Calls, part: ToolPart) -> None:
        await self._fail(calls, part, prompt("results/not-run"), {"interrupted": True})

    def _started(self, run: Run, part: ToolPart) -> int:
        match run.writer.current(part.id):
            case ToolPart(state=Running() as state):
                return state.time.start
            case _:
                return now()

    def _remember(self, calls: Calls, part: ToolPart) -> None:
        stored = calls.run.writer.stored(part.id)
        if isinstance(stored, ToolPart):
            calls.before.append(doom.deed(stored))


def asker_of(run: Run, message: AssistantMessage, part_id: str) -> Asker:
    return Asker(run.scope, run.project_id, message.agent, run.turn.id, message.id, part_id)


def _raw(part: ToolPart) -> str:
    return part.state.raw if isinstance(part.state, Pending) else ""


def _clip(text: str, limit: int = 2_000) -> str:
    return text if len(text) <= limit else f"{text[:limit]}…"
