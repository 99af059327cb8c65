"""S25: what a model thought goes back to it, in the member it came in, over restarts and other models."""

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from agentls.model.client import ModelRequest
from agentls.model.failures import FailureKind, ModelFailure
from agentls.model.scripted import Call, Fail, Move, Play, Say, ScriptedModel, Think
from agentls.schema.model import ModelRef
from engine import house as houses
from engine.house import house

FIELDS = ["reasoning_content", "reasoning", "reasoning_details"]


@pytest.fixture(autouse=True)
def two_models(monkeypatch: pytest.MonkeyPatch) -> None:
    """`one`, `two`, and `strict`, which refuses any thinking in a request."""
    settings = copy.deepcopy(houses.SETTINGS)
    models = settings["provider"]["script"]["models"]
    models |= {"two": dict(models["one"]), "strict": models["one"] | {"reasoning": False}}
    monkeypatch.setattr(houses, "SETTINGS", settings)


def ref(name: str) -> ModelRef:
    return ModelRef(provider_id="script", model_id=name)


def thoughts(request: ModelRequest, field: str) -> list[str | None]:
    """What each answer with calls carries in the member, as text."""
    sent = [json.loads(message) for message in request.messages]
    return [_text(message.get(field)) for message in sent if message.get("tool_calls")]


def _text(value: Any) -> str | None:
    return "".join(item["text"] for item in value) if isinstance(value, list) else value


def insists(field: str, expected: list[str | None], *then: Move) -> Play:
    """As a server that answers 400 unless the thinking of its own answers is passed back."""

    def step(request: ModelRequest) -> list[Move]:
        if (found := thoughts(request, field)) != expected:
            message = f"{field} must be passed back: {found}, not {expected}"
            return [Fail(ModelFailure(FailureKind.API, message, provider="script"))]
        return list(then)

    return step


@pytest.mark.parametrize("field", FIELDS)
async def test_s25_thinking_goes_back_in_its_member_after_calls_and_over_a_restart(tmp_path: Path, field: str) -> None:
    first = ScriptedModel(
        [Think("r1", field), Call("list", {})],
        insists(field, ["r1"], Think("r2", field), Call("list", {"path": "."})),
        insists(field, ["r1", "r2"], Say("done")),
    )
    async with house(tmp_path, first) as it:
        session_id = it.session()
        outcome = await it.prompt(session_id, "go").outcome()
        assert (outcome.stop_reason, outcome.error) == ("done", None)
        assert [part["text"] for part in it.parts(session_id, "reasoning")] == ["r1", "r2"]
    async with house(tmp_path, ScriptedModel(insists(field, ["r1", "r2"], Say("here")))) as it:
        outcome = await it.prompt(session_id, "again").outcome()
        assert (outcome.stop_reason, outcome.error) == ("done", None)


@pytest.mark.parametrize("field", FIELDS)
async def test_s25_each_model_hears_its_own_thinking_when_models_change(tmp_path: Path, field: str) -> None:
    model = ScriptedModel(
        [Think("of one", field), Call("list", {})],
        insists(field, ["of one"], Say("first")),
        insists(field, [None], Think("of two", field), Call("list", {"path": "."})),
        insists(field, [None, "of two"], Say("second")),
        insists(field, ["of one", None], Say("third")),
    )
    async with house(tmp_path, model) as it:
        session_id = it.session()
        for name in ("one", "two", "one"):
            outcome = await it.prompt(session_id, "go", model=ref(name)).outcome()
            assert (outcome.stop_reason, outcome.error) == ("done", None)


@pytest.mark.parametrize("field", FIELDS)
async def test_s25_a_model_that_takes_no_thinking_is_sent_none(tmp_path: Path, field: str) -> None:
    model = ScriptedModel(
        [Think("r", field), Call("list", {})],
        insists(field, [None], Say("first")),
        insists(field, [None], Say("second")),
    )
    async with house(tmp_path, model) as it:
        session_id = it.session()
        for _ in range(2):
            outcome = await it.prompt(session_id, "go", model=ref("strict")).outcome()
            assert (outcome.stop_reason, outcome.error) == ("done", None)
        assert not any(field.encode() in message for request in model.requests for message in request.messages)
