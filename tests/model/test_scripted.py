"""The scripted model plays its script, through the decoder."""

import anyio
import pytest

from agentls.model.client import ModelClient, ModelEvent, ModelRequest, ReasoningDelta, StepEnd, TextDelta, ToolCall
from agentls.model.failures import FailureKind, ModelFailure
from agentls.model.scripted import Call, Chunk, End, Fail, Hang, Say, ScriptedModel, Signal, Think, Wait
from agentls.schema.model import CacheTokens, ModelRef, Tokens

REQUEST = ModelRequest(ModelRef(provider_id="scripted", model_id="scripted"), (b'{"role":"user","content":"hi"}',))


async def play(model: ModelClient) -> list[ModelEvent]:
    return [event async for event in model.stream(REQUEST)]


async def test_text_thinking_and_calls() -> None:
    model = ScriptedModel([Think("hm"), Say("Hello", 2), Call("read", {"a": 1}, deltas=3), Call("list")])
    events = await play(model)
    assert events[:3] == [ReasoningDelta("hm", "reasoning_content"), TextDelta("Hel"), TextDelta("lo")]
    calls = [event for event in events if isinstance(event, ToolCall)]
    assert [(call.call_id, call.name, call.arguments) for call in calls] == [
        ("call_1", "read", {"a": 1}),
        ("call_2", "list", {}),
    ]
    assert events[-1] == StepEnd("tool-calls", Tokens(input=10, output=5))
    assert model.bodies() == [[{"role": "user", "content": "hi"}]]


async def test_ends_as_told() -> None:
    events = await play(ScriptedModel([Say("x"), End("length", 7, 3, cached=2)]))
    assert events[-1] == StepEnd("length", Tokens(input=5, output=3, cache=CacheTokens(read=2)))


async def test_a_script_that_closes_inside_a_call_is_a_broken_stream() -> None:
    with pytest.raises(ModelFailure) as caught:
        await play(ScriptedModel([Call("write", raw='{"a'), End(None)]))
    assert caught.value.kind is FailureKind.STREAM


async def test_failures_chunks_and_the_end_of_the_script() -> None:
    failure = ModelFailure(FailureKind.NETWORK, "gone", retryable=True)
    model = ScriptedModel(
        [Say("Hel"), Fail(failure)], [Chunk({"choices": None}), Say("ok")], lambda r: [Say(str(r.model))]
    )
    with pytest.raises(ModelFailure, match="gone"):
        await play(model)
    assert (await play(model))[0] == TextDelta("ok")
    assert (await play(model))[0] == TextDelta("scripted/scripted")
    with pytest.raises(ModelFailure, match="ended"):
        await play(model)


async def test_waits_and_hangs_can_be_cancelled() -> None:
    here, go = anyio.Event(), anyio.Event()
    model = ScriptedModel([Say("a"), Signal(here), Wait(go), Say("b"), Hang()])
    seen: list[ModelEvent] = []
    with anyio.fail_after(5):
        async with anyio.create_task_group() as group:

            async def run() -> None:
                async for event in model.stream(REQUEST):
                    seen.append(event)
                    if event == TextDelta("b"):
                        group.cancel_scope.cancel()

            group.start_soon(run)
            await here.wait()
            assert seen == [TextDelta("a")]
            go.set()
    assert seen == [TextDelta("a"), TextDelta("b")]
