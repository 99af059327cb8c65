"""What a server sent is stored, sent back, and accepted by servers that are strict about it."""

from collections.abc import Callable

import pytest

from agentls.model.client import ModelEvent, ModelRequest, ReasoningDelta, TextDelta, ToolCall
from agentls.model.failures import ModelFailure
from agentls.model.messages import Traits, assistant_elements, system_element, user_element
from agentls.model.openai_chat import OpenAIChat
from agentls.model.settings import ProviderSettings
from agentls.schema.message import AssistantMessage, Created, Span, UserMessage, Where
from agentls.schema.model import ModelRef
from agentls.schema.part import Completed, Part, PartTime, ReasoningPart, TextPart, ToolPart
from fakes.openai_server import serve
from fakes.replies import DONE, Answer, C, F, Reply, Request, Status, T, answer, text

REF = ModelRef(provider_id="local", model_id="m")
TIME = PartTime(start=1, end=2)
IDS = {"session_id": "ses_1", "message_id": "msg_2"}
USER = UserMessage(id="msg_1", session_id="ses_1", pos=1, time=Created(created=1), agent="build", model=REF)
ASSISTANT = AssistantMessage(
    id="msg_2",
    session_id="ses_1",
    pos=2,
    parent_id="msg_1",
    time=Span(created=1),
    agent="build",
    model=REF,
    path=Where(cwd="/", root="/"),
)
THOUGHT_AND_CALL = Answer(
    [
        C({"reasoning_content": "r"}),
        T({"index": 0, "id": "t1", "function": {"name": "list", "arguments": ""}}),
        F("tool_calls"),
        DONE,
    ]
)


def stored(events: list[ModelEvent]) -> list[Part]:
    """What the engine would keep of a step whose tools have run."""
    parts: list[Part] = []
    for event in events:
        ids = {"id": f"prt_{len(parts)}", "pos": len(parts) + 3, **IDS}
        match event:
            case ReasoningDelta():
                parts.append(ReasoningPart(text=event.text, field=event.field, time=TIME, **ids))
            case TextDelta():
                parts.append(TextPart(text=event.text, **ids))
            case ToolCall(arguments=dict() as arguments):
                state = Completed(input=arguments, output="out", title="t", time=TIME)
                parts.append(ToolPart(call_id=event.call_id, tool=event.name, state=state, **ids))
            case _:
                pass
    return parts


async def two_steps(second: Callable[[Request], Reply], traits: Traits, *, strict: bool = False) -> list[ModelEvent]:
    """The first step ends in a call, the second sends it back; its events."""

    def script(request: Request) -> Reply:
        return THOUGHT_AND_CALL if len(request.json["messages"]) == 2 else second(request)

    start = [
        system_element("s"),
        user_element([(USER, [TextPart(id="prt_u", pos=2, text="hi", **IDS)])], traits) or b"",
    ]
    async with serve(script, strict=strict) as server:
        client = OpenAIChat(ProviderSettings("local", server.url))
        try:
            first = [event async for event in client.stream(ModelRequest(REF, start))]
            more = [*start, *assistant_elements(ASSISTANT, stored(first), REF, traits)]
            events = [event async for event in client.stream(ModelRequest(REF, more))]
            prefix = server.requests[0].body.partition(b"],")[0]
            assert server.requests[1].body.startswith(prefix)
            return events
        finally:
            await client.aclose()


def wants_reasoning(request: Request) -> Reply:
    sent = [m.get("reasoning_content") for m in request.json["messages"] if m.get("tool_calls")]
    if sent != ["r"]:
        return Status(400, {"error": {"message": "reasoning_content must be passed back"}})
    return answer(text("fine"))


def refuses_reasoning(request: Request) -> Reply:
    if any("reasoning_content" in message for message in request.json["messages"]):
        return Status(400, {"error": {"message": "unknown member reasoning_content"}})
    return answer(text("fine"))


async def test_s15_s26_a_strict_server_accepts_the_history_of_a_call_without_arguments() -> None:
    assert TextDelta("fine") in await two_steps(lambda _: answer(text("fine")), Traits(), strict=True)


async def test_s25_thinking_goes_back_where_the_server_wants_it() -> None:
    assert TextDelta("fine") in await two_steps(wants_reasoning, Traits())


async def test_s25_and_stays_away_where_the_server_refuses_it() -> None:
    assert TextDelta("fine") in await two_steps(refuses_reasoning, Traits(returns_reasoning=False))


async def test_s25_each_of_these_servers_refuses_the_other_way() -> None:
    with pytest.raises(ModelFailure, match="passed back"):
        await two_steps(wants_reasoning, Traits(returns_reasoning=False))
    with pytest.raises(ModelFailure, match="unknown member"):
        await two_steps(refuses_reasoning, Traits())
