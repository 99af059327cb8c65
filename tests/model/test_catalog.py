"""Limits, prices, suggestions, cost."""

from typing import Any

import pytest

from agentls.config.settings import Settings
from agentls.model.catalog import Catalog, suggestions
from agentls.model.known_models import MODELS
from agentls.model.known_providers import HOSTED
from agentls.model.usage import Price, cost
from agentls.schema.model import CacheTokens, ModelRef, Tokens


def catalog(**models: Any) -> Catalog:
    return Catalog(Settings.model_validate({"provider": {"openai": {"models": models}}}).provider)


def ref(model: str, provider: str = "openai", variant: str | None = None) -> ModelRef:
    return ModelRef(provider_id=provider, model_id=model, variant=variant)


def test_what_the_table_knows() -> None:
    model = catalog().model(ref("gpt-4o-mini"))
    assert (model.context, model.output) == (128_000, 16_384)
    assert model.price == Price(0.15, 0.6, 0.075)
    assert model.traits.images


def test_the_user_is_right_where_he_says_something_and_the_table_elsewhere() -> None:
    said = {"limit": {"context": 9000}, "cost": {"input": 1, "output": 2, "cacheRead": 0.5}, "attachment": False}
    model = catalog(**{"gpt-4o-mini": said}).model(ref("gpt-4o-mini"))
    assert (model.context, model.output) == (9000, 16_384)
    assert model.price == Price(1.0, 2.0, 0.5)
    assert not model.traits.images


def test_what_nobody_knows_stays_unknown() -> None:
    model = catalog().model(ref("own-finetune"))
    assert (model.context, model.input, model.output, model.price) == (None, None, None, None)
    assert not model.traits.images
    assert model.traits.returns_reasoning


def test_c02_limits_of_zero_are_unknown() -> None:
    model = catalog(x={"limit": {"context": 0, "output": 0}}).model(ref("x"))
    assert (model.context, model.output) == (None, None)


def test_a_window_that_the_server_tells_stands_between() -> None:
    assert catalog().model(ref("x"), context=4096).context == 4096
    assert catalog(x={"limit": {"context": 9}}).model(ref("x"), context=4096).context == 9


def test_half_a_price_is_none() -> None:
    assert catalog(x={"cost": {"input": 1}}).model(ref("x")).price is None
    assert catalog(x={"cost": {"input": "1", "output": True}}).model(ref("x")).price is None


def test_an_alias_has_the_limits_of_the_model_behind_it_and_variants_their_options() -> None:
    said = {"id": "gpt-4o", "options": {"temperature": 0, "seed": 1}, "variants": {"hot": {"temperature": 2}}}
    made = catalog(mine=said)
    assert made.model(ref("mine")).context == 128_000
    assert made.model(ref("mine", variant="hot")).options == {"temperature": 2, "seed": 1}
    assert made.model(ref("mine", variant="unknown")).options == {"temperature": 0, "seed": 1}


def test_openrouter_names_models_by_their_makers() -> None:
    assert catalog().model(ref("openai/gpt-4o", "openrouter")).context == 128_000
    assert catalog().model(ref("nobody/nothing", "openrouter")).context is None


def test_limits_of_the_table_are_sane_and_models_to_begin_with_are_known_where_their_maker_is() -> None:
    for models in MODELS.values():
        for known in models.values():
            assert known.output is None or known.output <= known.context
    for hosted in HOSTED:
        if hosted.name in MODELS:
            assert hosted.model in MODELS[hosted.name]


@pytest.mark.parametrize(
    ("name", "best"),
    [
        ("openai/gpt4.1", "openai/gpt-4.1"),
        ("opnai/gpt-4o", "openai/gpt-4o"),
        ("gpt-4o", "openai/gpt-4o"),
        ("OpenAI/GPT-4O", "openai/gpt-4o"),
    ],
)
def test_suggestions(name: str, best: str) -> None:
    assert suggestions(name, ["openai/gpt-4.1", "openai/gpt-4o", "ollama/qwen3"])[0] == best


def test_no_suggestion_for_something_else() -> None:
    assert suggestions("zzz/qqq", ["openai/gpt-4.1"]) == []


def test_cost() -> None:
    tokens = Tokens(
        input=1_000_000, output=1_000_000, reasoning=1_000_000, cache=CacheTokens(read=2_000_000, write=1_000_000)
    )
    assert cost(tokens, Price(1, 10, 0.1, 1.25)) == pytest.approx(1 + 20 + 0.2 + 1.25)
    assert cost(tokens, Price(1, 10)) == pytest.approx(1 + 20 + 2 + 1)
    assert cost(tokens, None) is None
    assert cost(None, Price(1, 1)) is None
