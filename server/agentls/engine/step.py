"""One step: one request to the model, the calls that it makes, and the account of both."""

from collections.abc import Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from functools import partial

from pydantic_core import to_json

from agentls.config.agents import Agent
from agentls.config.prompts import prompt
from agentls.engine import doom
from agentls.engine.frame import Frame, Frames
from agentls.engine.history import History
from agentls.engine.processor import Processor
from agentls.engine.run import Run
from agentls.engine.stores import Stores
from agentls.engine.toolcalls import Calls, ToolCalls
from agentls.model.catalog import Model
from agentls.model.client import ModelClient, ModelRequest
from agentls.model.failures import ModelFailure
from agentls.model.limits import max_output
from agentls.model.messages import system_element
from agentls.model.providers import Providers
from agentls.model.retry import attempts
from agentls.model.usage import cost
from agentls.schema.base import now
from agentls.schema.event import UsageChanged
from agentls.schema.ids import Prefix, new
from agentls.schema.message import AssistantMessage, MessageError, Span, UserMessage, Where
from agentls.schema.model import ModelRef, Tokens, Usage
from agentls.schema.part import Failed, PartTime, PatchPart, Pending, StepFinishPart, StepStartPart, ToolPart
from agentls.schema.session import PlainStatus, RetryStatus
from agentls.storage.changes import ChangeStore

_FILTERED = MessageError(
    name="ContentFilterError", data={"message": "The provider's content filter stopped the answer."}
)
_RUNAWAY = MessageError(
    name="UnknownError",
    data={"message": "The model repeated the same text over and over, so it was cut. Try again, or another model."},
)
OfferedTools = Callable[[Run, Agent], str]


@dataclass(frozen=True, slots=True)
class Ready:
    """What a step needs beside the history."""

    agent: Agent
    client: ModelClient
    model: Model
    frame: Frame


class Steps:
    def __init__(
        self,
        stores: Stores,
        providers: Callable[[str], Providers],
        frames: Frames,
        calls: ToolCalls,
        changes: ChangeStore,
        offered: OfferedTools,
    ) -> None:
        self._stores = stores
        self._providers = providers
        self._frames = frames
        self._calls = calls
        self._changes = changes
        self._offered = offered

    async def prepare(self, run: Run, user: UserMessage, agent: Agent) -> Ready:
        """May take its time: prompts that come meanwhile are not in a history that was read before."""
        providers = self._providers(run.scope.directory)
        client, model = await providers.client(user.model), providers.model(user.model)
        tools = self._offered(run, agent) if run.steps == 0 else None
        frame = await self._frames.current(run.scope.session_id, run.directory, agent, user.model, tools)
        return Ready(agent, client, model, frame)

    async def step(self, run: Run, history: History, user: UserMessage, ready: Ready, *, last: bool) -> bool:
        """Returns whether the user stopped the turn.

        `last`: the limit of steps is reached, so the model is asked for a closing word and no call is run.
        """
        run.steps += 1
        model = ready.model
        request = self._request(ready.frame, history, ready.agent, model, last=last)
        patiently = run.journal.patiently
        message = await patiently(partial(self._start, run, user, ready.agent))
        processor = Processor(run.writer, message)
        try:
            await self._stream(run, ready.client, request, processor)
        except ModelFailure as failure:
            error = failure.to_message_error()
            finish = "content-filter" if error.name == "ContentFilterError" else "error"
            failed = message.but(finish=finish, error=error, time=message.time.but(completed=now()))
            await patiently(partial(run.writer.message, failed))
            return False
        if processor.runaway:
            await patiently(partial(self._cut, run, message, processor))
            return False
        message = await patiently(partial(self._account, run, message, processor, model))
        if last:
            await patiently(partial(self._refuse_calls, run, processor))
            return await self.finish(run, history, message, ())
        return await self.finish(run, history, message, processor.tools, processor.problems)

    async def finish(
        self,
        run: Run,
        history: History,
        message: AssistantMessage,
        tools: Sequence[ToolPart],
        problems: dict[str, str] | None = None,
    ) -> bool:
        """Run the calls of a step whose stream has ended, then close it. Also for a step from before a restart.

        Returns whether the user stopped the turn.
        """
        pending = [part for part in tools if isinstance(part.state, Pending)]
        before = doom.deeds(history.entries) if pending else []
        calls = Calls(run, message, pending, problems or {}, before)
        await self._calls.execute(calls)
        await run.journal.patiently(partial(self._close, run, message))
        return calls.blocked

    def _request(self, frame: Frame, history: History, agent: Agent, model: Model, *, last: bool) -> ModelRequest:
        messages = [system_element(frame.system), *history.elements(model.ref, model.traits)]
        if last:
            messages.append(to_json({"role": "user", "content": prompt("max-steps")}))
        options = {
            **model.options,
            **agent.options,
            **({"temperature": agent.temperature} if agent.temperature is not None else {}),
            **({"top_p": agent.top_p} if agent.top_p is not None else {}),
        }
        return ModelRequest(
            model=model.ref,
            messages=messages,
            tools=frame.tools.encode() if frame.tools else None,
            tool_choice="none" if last and frame.tools else None,
            max_output=max_output(model, sum(map(len, messages)) + len(frame.tools)),
            options=options,
        )

    def _start(self, run: Run, user: UserMessage, agent: Agent) -> AssistantMessage:
        message = AssistantMessage(
            id=new(Prefix.MESSAGE),
            session_id=run.scope.session_id,
            pos=run.writer.place(),
            parent_id=user.id,
            time=Span(created=now()),
            agent=agent.name,
            model=user.model,
            path=Where(cwd=str(run.directory), root=str(run.root)),
        )
        run.writer.message(message)
        run.writer.part(StepStartPart(**run.writer.ids(message.id)))
        return message

    async def _stream(self, run: Run, client: ModelClient, request: ModelRequest, processor: Processor) -> None:
        def on_wait(attempt: int, next_at: int, message: str) -> None:
            run.show(RetryStatus(attempt=attempt, next_at=next_at, message=message))

        async for attempt in attempts(on_wait=on_wait):
            with attempt:
                run.show(PlainStatus(type="busy"))
                try:
                    async with aclosing(client.stream(request)) as events:
                        async for event in events:
                            if processor.writes(event):
                                await run.journal.patiently(partial(processor.feed, event))
                            else:
                                processor.feed(event)
                            if processor.runaway:
                                return
                except ModelFailure:
                    await run.journal.patiently(processor.discard)
                    raise

    def _account(self, run: Run, message: AssistantMessage, processor: Processor, model: Model) -> AssistantMessage:
        end = processor.end
        tokens = (end.tokens if end else None) or Tokens()
        spent = cost(end.tokens if end else None, model.price)
        run.usage += Usage(tokens=tokens, cost=spent)
        finish = end.finish if end else "unknown"
        error = _FILTERED if finish == "content-filter" else None
        # What was used so far is known after a crash too.
        self._stores.save_turn(run.scope, run.turn.but(usage=run.usage), None)
        return run.writer.message(message.but(finish=finish, tokens=tokens, cost=spent, error=error))

    def _cut(self, run: Run, message: AssistantMessage, processor: Processor) -> None:
        processor.close_text()
        self._refuse_calls(run, processor)
        time = message.time.but(completed=now())
        run.writer.message(message.but(finish="error", error=_RUNAWAY, time=time))

    def _refuse_calls(self, run: Run, processor: Processor) -> None:
        for part in processor.tools:
            error = prompt("results/not-run")
            time = PartTime(start=now(), end=now())
            state = Failed(input=part.state.input, error=error, metadata={"interrupted": True}, time=time)
            run.writer.part(part.but(state=state))

    def _close(self, run: Run, message: AssistantMessage) -> None:
        files = tuple(self._changes.paths_of_message(message.id))
        run.writer.part(
            StepFinishPart(
                **run.writer.ids(message.id),
                reason=message.finish or "unknown",
                cost=message.cost,
                tokens=message.tokens,
            )
        )
        if files:
            run.writer.part(PatchPart(**run.writer.ids(message.id), files=files))
        run.writer.message(message.but(time=message.time.but(completed=now())))
        session = self._stores.session(run.scope.session_id).session
        usage = session.usage + Usage(tokens=message.tokens, cost=message.cost)
        self._stores.save_session(run.scope, session.but(usage=usage))
        context = self._share(run.scope.directory, message.model, message.tokens)
        self._stores.journal.publish(UsageChanged(run.scope, usage, context))

    def _share(self, directory: str, model: ModelRef, tokens: Tokens) -> float | None:
        window = self._providers(directory).model(model).context
        return min(1.0, tokens.total / window) if window else None
