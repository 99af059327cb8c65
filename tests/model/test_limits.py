"""S30: how much the model is asked to write fits beside the prompt."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentls.model.catalog import Model
from agentls.model.limits import MOST_OUTPUT, max_output
from agentls.model.scripted import Say, ScriptedModel
from agentls.schema.model import ModelRef
from engine import house as houses
from engine.house import house

REF = ModelRef(provider_id="local", model_id="m")


def of(context: int | None, output: int | None, prompt_tokens: int = 0) -> int | None:
    return max_output(Model(ref=REF, name="m", context=context, output=output), prompt_tokens * 3)


@pytest.mark.parametrize(
    ("context", "output", "prompt", "asked"),
    [
        (262_144, 262_144, 22_000, MOST_OUTPUT),
        (40_000, 40_000, 22_000, 40_000 - 22_000 - 512),
        (8_192, 8_192, 0, 8_192 - 512),
        (8_192, 4_096, 1_000, 4_096),
        (8_192, 8_192, 9_000, 1_024),
        (8_192, 500, 9_000, 500),
        (None, 8_000, 22_000, 8_000),
        (None, 100_000, 0, MOST_OUTPUT),
        (262_144, None, 22_000, None),
        (None, None, 22_000, None),
    ],
)
def test_s30_what_is_asked_for_is_what_there_is_room_for(
    context: int | None, output: int | None, prompt: int, asked: int | None
) -> None:
    assert of(context, output, prompt) == asked


sizes = st.integers(min_value=1, max_value=2_000_000)


@given(sizes, sizes, st.integers(min_value=0, max_value=2_000_000))
def test_s30_prompt_and_output_fit_the_context_wherever_there_is_room(context: int, output: int, prompt: int) -> None:
    asked = of(context, output, prompt)
    assert asked is not None
    assert 0 < asked <= min(output, MOST_OUTPUT)
    assert prompt + asked <= context or asked <= 1_024


@pytest.mark.parametrize("prompt", [10, 22_000, 30_000])
async def test_s30_a_server_that_counts_the_output_into_the_context_takes_each_request(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, prompt: int
) -> None:
    """Its limits are set as people do it: the context's size for both."""
    context = 60_000
    limits = {"limit": {"context": context, "output": context}}
    provider = houses.SETTINGS["provider"]["script"] | {"models": {"one": limits}}
    monkeypatch.setattr(houses, "SETTINGS", {"model": "script/one", "provider": {"script": provider}})
    model = ScriptedModel([Say("ok")], [Say("and again")])
    async with house(tmp_path, model) as it:
        session_id = it.session()
        for _ in range(2):
            assert (await it.prompt(session_id, "word " * (prompt // 2)).outcome()).stop_reason == "done"
    for request in model.requests:
        sent = sum(map(len, request.messages)) + len(request.tools or b"")
        assert request.max_output is not None
        assert sent // 4 + request.max_output <= context
        assert json.loads(request.messages[-1])["role"] == "user"
