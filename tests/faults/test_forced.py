"""C16: a provider that does not hear the cancellation costs seconds, not the session."""

from collections.abc import AsyncGenerator
from pathlib import Path

import anyio

from agentls.model.client import ModelEvent, ModelRequest, TextDelta
from agentls.model.scripted import Say, ScriptedModel
from engine.house import house, is_method, params


class Deaf:
    """Its first stream goes on, whatever happens, until `let`; the rest is a script."""

    def __init__(self, rest: ScriptedModel) -> None:
        self._rest = rest
        self.begun, self.let, self.over = anyio.Event(), anyio.Event(), anyio.Event()

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent]:
        if self.begun.is_set():
            async for event in self._rest.stream(request):
                yield event
            return
        yield TextDelta("half ")
        self.begun.set()
        try:
            with anyio.CancelScope(shield=True):
                await self.let.wait()
            yield TextDelta("late")
        finally:
            self.over.set()

    async def aclose(self) -> None:
        """Nothing is open."""


async def test_c16_an_abort_that_a_provider_does_not_hear_is_forced_and_nothing_comes_later(tmp_path: Path) -> None:
    model = Deaf(ScriptedModel([Say("here")]))
    async with house(tmp_path, model) as it:
        session_id = it.session()
        accepted = it.prompt(session_id, "hi")
        await model.begun.wait()
        with anyio.fail_after(7):
            assert (await it.app.turns.abort(session_id)).forced
            assert (await accepted.outcome()).stop_reason == "cancelled"
        assert it.status(session_id) == "idle"
        assert (await it.prompt(session_id, "still there?").outcome()).stop_reason == "done"
        told = len(it.events)
        model.let.set()
        await model.over.wait()
        await anyio.wait_all_tasks_blocked()
        assert it.events[told:] == []
        assert [part["text"] for part in it.parts(session_id, "text")] == ["hi", "half ", "still there?", "here"]
        ended = [params(event)["turnId"] for event in it.events if is_method(event, "turn/ended")]
        assert len(ended) == len(set(ended)) == 2
