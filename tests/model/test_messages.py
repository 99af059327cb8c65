"""Stored history to chat messages: what strict servers accept, and the same bytes each time."""

import json
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentls.model.messages import Traits, assistant_elements, system_element, user_element
from agentls.schema.message import AssistantMessage, Created, MessageError, Span, UserMessage, Where
from agentls.schema.model import ModelRef
from agentls.schema.part import (
    PART,
    AgentPart,
    Completed,
    Failed,
    FilePart,
    Part,
    PartTime,
    Pending,
    ReasoningPart,
    Running,
    StepStartPart,
    TextPart,
    ToolPart,
    ToolState,
)
from fakes.openai_server import fault

ME = ModelRef(provider_id="acme", model_id="big")
OTHER = ModelRef(provider_id="acme", model_id="small")
TIME = PartTime(start=1, end=2)
PLAIN = Traits()
SEEING = Traits(images=True)
PNG = "data:image/png;base64,AAAA"
_BASE: dict[str, Any] = {"session_id": "ses_1", "message_id": "msg_1"}


def user(**members: Any) -> UserMessage:
    made = {"id": "msg_1", "session_id": "ses_1", "pos": 1, "time": Created(created=1), "agent": "build", "model": ME}
    return UserMessage(**(made | members))


def assistant(**members: Any) -> AssistantMessage:
    made = {
        "id": "msg_2",
        "session_id": "ses_1",
        "pos": 2,
        "parent_id": "msg_1",
        "time": Span(created=1),
        "agent": "build",
        "model": ME,
        "path": Where(cwd="/", root="/"),
    }
    return AssistantMessage(**(made | members))


def text(words: str, pos: int = 1, **members: Any) -> TextPart:
    return TextPart(id=f"prt_{pos}", pos=pos, text=words, **_BASE, **members)


def reasoning(words: str, field: str | None = "reasoning_content") -> ReasoningPart:
    return ReasoningPart(id="prt_r", pos=1, text=words, field=field, time=TIME, **_BASE)


def file(mime: str, url: str, name: str | None = None) -> FilePart:
    return FilePart(id="prt_f", pos=5, mime=mime, url=url, filename=name, **_BASE)


def tool(state: ToolState, pos: int = 3, call_id: str | None = None) -> ToolPart:
    return ToolPart(id=f"prt_{pos}", pos=pos, call_id=call_id or f"c{pos}", tool="read", state=state, **_BASE)


def done(output: str = "out", **members: Any) -> Completed:
    return Completed(**{"input": {"filePath": "a"}, "output": output, "title": "t", "time": TIME, **members})


def turn(parts: Sequence[Part], traits: Traits = PLAIN, target: ModelRef = ME, **members: Any) -> list[dict[str, Any]]:
    return [json.loads(element) for element in assistant_elements(assistant(**members), parts, target, traits)]


def said(*messages: Sequence[Part], traits: Traits = PLAIN) -> Any:
    element = user_element([(user(), parts) for parts in messages], traits)
    return None if element is None else json.loads(element)["content"]


def test_a_system_element() -> None:
    assert system_element("s ü") == '{"role":"system","content":"s ü"}'.encode()


def test_neighbouring_user_messages_are_one_element() -> None:
    assert said([text("one"), text(" "), text("two", synthetic=True)], [text("three")]) == "one\n\ntwo\n\nthree"


def test_a_user_message_that_says_nothing_is_none() -> None:
    assert said([text(""), AgentPart(id="prt_1", pos=1, name="x", **_BASE)]) is None


def test_the_system_of_a_message_comes_first_in_it() -> None:
    element = user_element([(user(system="Be brief."), [text("hi")])], PLAIN)
    assert json.loads(element or b"")["content"] == "Be brief.\n\nhi"


def test_images_only_for_models_that_take_them() -> None:
    parts = [text("look"), file("image/png", PNG, "a.png")]
    assert said(parts, traits=SEEING) == [
        {"type": "text", "text": "look"},
        {"type": "image_url", "image_url": {"url": PNG}},
    ]
    blind = said(parts)
    assert blind.startswith("look\n\n")
    assert "a.png (image/png)" in blind


def test_files_of_text_stand_in_synthetic_text_already() -> None:
    assert (
        said([text("look"), file("text/plain", "file:///a.py"), file("application/x-directory", "file:///")]) == "look"
    )


def test_a_pdf_is_named_where_it_cannot_be_seen() -> None:
    assert "application/pdf" in said([file("application/pdf", "data:application/pdf;base64,AA")], traits=SEEING)


def test_an_image_that_is_still_a_local_file_is_never_sent_as_a_url() -> None:
    assert "image/png" in said([file("image/png", "file:///secret.png")], traits=SEEING)


def test_an_answer_with_calls_and_their_results_in_the_order_of_the_calls() -> None:
    parts = [StepStartPart(id="prt_0", pos=0, **_BASE), text("I look."), tool(done("2"), 9), tool(done("1"), 3)]
    assert turn(parts) == [
        {
            "role": "assistant",
            "content": "I look.",
            "tool_calls": [
                {"id": "c3", "type": "function", "function": {"name": "read", "arguments": '{"filePath":"a"}'}},
                {"id": "c9", "type": "function", "function": {"name": "read", "arguments": '{"filePath":"a"}'}},
            ],
        },
        {"role": "tool", "tool_call_id": "c3", "content": "1"},
        {"role": "tool", "tool_call_id": "c9", "content": "2"},
    ]


def test_s15_arguments_are_a_json_object_even_if_there_are_none() -> None:
    (answer, _) = turn([tool(done(input={}))])
    assert answer["tool_calls"][0]["function"]["arguments"] == "{}"


def test_s26_no_null_content_and_no_empty_tool_calls() -> None:
    (answer, _) = turn([tool(done())])
    assert answer["content"] == ""
    (plain,) = turn([text("hi")])
    assert "tool_calls" not in plain


@pytest.mark.parametrize(
    "state",
    [
        Pending(raw='{"a'),
        Running(input={"a": 1}, time=TIME),
        done(time=PartTime(start=1, end=2, compacted=3)),
        Failed(input={}, error="no such file", time=TIME),
    ],
)
def test_c09_each_call_has_its_result_whatever_became_of_it(state: ToolState) -> None:
    answer, result = turn([tool(state)])
    assert result["tool_call_id"] == answer["tool_calls"][0]["id"]
    assert result["content"]


def test_calls_that_were_cut_off_before_their_ids_came_have_ids_of_their_own() -> None:
    cut = [tool(Failed(input={}, error="cut off", time=TIME), pos).but(call_id=None) for pos in (3, 4)]
    body = json.dumps({"messages": [{"role": "user", "content": "Hi"}, *turn(cut)]}).encode()
    assert fault(body) is None
    assert all(item["id"] for item in turn(cut)[0]["tool_calls"])


def test_a_failed_call_tells_its_error_and_a_pruned_one_that_it_was_removed() -> None:
    assert turn([tool(Failed(input={}, error="no such file", time=TIME))])[1]["content"] == "no such file"
    pruned = turn(
        [tool(done("long", time=PartTime(start=1, compacted=3), attachments=({"mime": "image/png", "url": PNG},)))],
        SEEING,
    )
    assert len(pruned) == 2
    assert "removed" in pruned[1]["content"]


@pytest.mark.parametrize("parts", [[], [text("  ")], [reasoning("hm")]])
def test_a_message_that_said_nothing_keeps_its_place(parts: list[Part]) -> None:
    error = MessageError(name="MessageAbortedError", data={"reason": "abort"})
    (answer,) = turn(parts, error=error)
    assert answer["role"] == "assistant"
    assert answer["content"]


def test_s25_reasoning_goes_back_in_its_member_to_the_model_that_made_it() -> None:
    parts = [reasoning("because"), text("so"), tool(done())]
    assert turn(parts)[0]["reasoning_content"] == "because"
    assert turn([reasoning("because", "reasoning"), text("so")])[0]["reasoning"] == "because"
    details = turn([reasoning("because", "reasoning_details"), text("so")])[0]["reasoning_details"]
    assert details == [{"type": "reasoning.text", "text": "because"}]


def test_s25_reasoning_goes_to_no_other_model_and_to_none_that_refuses_it() -> None:
    parts = [reasoning("because"), text("so")]
    for answer in (
        turn(parts, target=OTHER),
        turn(parts, Traits(returns_reasoning=False)),
        turn([reasoning("x", ""), text("so")]),
    ):
        assert answer == [{"role": "assistant", "content": "so"}]


def test_images_of_tools_follow_as_the_users_if_the_model_sees() -> None:
    part = tool(done("read it", attachments=({"mime": "image/png", "url": PNG, "filename": "a.png"},)))
    seen = turn([part, tool(done("plain"), 4)], SEEING)
    assert [element["role"] for element in seen] == ["assistant", "tool", "tool", "user"]
    assert seen[3]["content"][1] == {"type": "image_url", "image_url": {"url": PNG}}
    blind = turn([part])
    assert [element["role"] for element in blind] == ["assistant", "tool"]
    assert "a.png" in blind[1]["content"]


STATES = st.one_of(
    st.builds(Pending, raw=st.text(max_size=5)),
    st.builds(Running, input=st.dictionaries(st.text(max_size=3), st.integers(), max_size=2), time=st.just(TIME)),
    st.builds(done, st.text(max_size=9)),
    st.builds(Failed, input=st.just({}), error=st.text(max_size=9), time=st.just(TIME)),
)


@given(st.lists(STATES, max_size=4), st.lists(st.text(max_size=5), max_size=3), st.booleans())
def test_any_history_passes_a_strict_server_and_gives_the_same_bytes_again(
    states: list[ToolState], texts: list[str], seeing: bool
) -> None:
    parts: list[Part] = [text(words, pos) for pos, words in enumerate(texts)]
    parts += [tool(state, pos) for pos, state in enumerate(states, len(texts))]
    traits = Traits(images=seeing)
    elements = assistant_elements(assistant(), parts, ME, traits)
    body = b'{"messages":[' + b",".join([system_element("s"), *elements]) + b"]}"
    assert fault(body) is None
    stored = [PART.validate_json(part.wire()) for part in parts]
    assert assistant_elements(assistant(), stored, ME, traits) == elements
