"""The loop of a turn: read the history, decide, act, until the decision is that it is over."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import assert_never

from agentls.config.agents import Agent
from agentls.engine.action import Compact, Finish, Step, Subtask, next_action
from agentls.engine.expand import Expander
from agentls.engine.history import History
from agentls.engine.run import Run
from agentls.engine.step import Steps
from agentls.engine.stores import Stores
from agentls.errors import AgentError, ErrorKind
from agentls.schema.message import ErrorName, MessageError
from agentls.schema.part import ToolPart
from agentls.schema.session import StopReason


@dataclass(frozen=True, slots=True)
class LoopEnd:
    stop: StopReason
    error: MessageError | None = None


class Loop:
    """Holds no conversation: all that it knows it reads from the history."""

    def __init__(self, stores: Stores, steps: Steps, expander: Expander, agent: Callable[[str, str], Agent]) -> None:
        self._stores = stores
        self._steps = steps
        self._expander = expander
        self._agent = agent

    async def run(self, run: Run, history: History, has_read: Callable[[], None]) -> LoopEnd:
        """`has_read` is called, without a pause before the decision, whenever the history was read."""
        while True:
            await self._expander.expand(run, history)
            history.refresh()
            has_read()
            action = next_action(history.entries)
            match action:
                case Finish():
                    return LoopEnd(action.stop, action.error)
                case Subtask() | Compact():
                    return LoopEnd("error", _unsupported())
                case Step():
                    end = await self._step(run, history, action)
                case _:
                    assert_never(action)
            if end is not None:
                return end

    async def resume(self, run: Run, history: History) -> LoopEnd | None:
        """Finish the step that waited for an answer when its process ended. None: the loop goes on."""
        history.refresh()
        message = self._stores.messages.last_assistant(run.scope.session_id)
        if message is None or message.time.completed is not None:
            return None
        tools = [part for part in self._stores.messages.parts(message.id) if isinstance(part, ToolPart)]
        for part in tools:
            run.writer.adopt(part)
        run.steps += 1
        rejected = await self._steps.finish(run, history, message, tools)
        return LoopEnd("rejected") if rejected else None

    async def _step(self, run: Run, history: History, action: Step) -> LoopEnd | None:
        user = action.user
        try:
            agent = self._agent(user.agent, run.scope.directory)
            ready = await self._steps.prepare(run, user, agent)
            history.refresh()
            if next_action(history.entries) != action:
                return None  # a prompt came meanwhile: this step is to answer it, not to stand behind it unread
            last = agent.steps is not None and run.steps + 1 >= agent.steps
            rejected = await self._steps.step(run, history, user, ready, last=last)
        except AgentError as error:
            return LoopEnd("error", MessageError(name=_name(error), data={"message": error.message, **error.data}))
        if rejected:
            return LoopEnd("rejected")
        if last:
            return LoopEnd("max_steps")
        return None


def _name(error: AgentError) -> ErrorName:
    return "ProviderAuthError" if error.kind is ErrorKind.AUTH_REQUIRED else "UnknownError"


def _unsupported() -> MessageError:
    return MessageError(name="UnknownError", data={"message": "This session holds a task that this version cannot do."})
