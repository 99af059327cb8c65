"""What is known of each model: limits, prices, abilities; the user's word before the shipped table's."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

from agentls.config.settings import ModelSettings, ProviderSettings
from agentls.model.known_models import Known, known
from agentls.model.messages import Traits
from agentls.model.usage import Price
from agentls.schema.model import ModelRef

_OFFERED = 5


@dataclass(frozen=True, slots=True)
class Model:
    """Limits are in tokens; None is unknown. `options` (the variant's among them) go into each request's body."""

    ref: ModelRef
    name: str
    context: int | None = None
    input: int | None = None
    output: int | None = None
    price: Price | None = None
    reasoning: bool | None = None
    attachment: bool | None = None
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])

    @property
    def traits(self) -> Traits:
        return Traits(images=bool(self.attachment), returns_reasoning=self.reasoning is not False)


class Catalog:
    def __init__(self, providers: Mapping[str, ProviderSettings]) -> None:
        self._providers = providers

    def model(self, ref: ModelRef, *, context: int | None = None) -> Model:
        """`context` is what the server itself says of its window: less than the user's word, more than the table's."""
        provider = self._providers.get(ref.provider_id)
        said = provider.models.get(ref.model_id) if provider else None
        said = said or ModelSettings()
        table = known(ref.provider_id, said.id or ref.model_id)
        return Model(
            ref=ref,
            name=said.name or ref.model_id,
            context=_first(said.limit.context, context, table and table.context),
            input=_first(said.limit.input, table and table.input),
            output=_first(said.limit.output, table and table.output),
            price=_price(said.cost, table),
            reasoning=table.reasoning if said.reasoning is None and table else said.reasoning,
            attachment=table.attachment if said.attachment is None and table else said.attachment,
            options=_options(said, ref.variant),
        )


def suggestions(name: str, among: Iterable[str]) -> list[str]:
    """Names like this one, best first: for "did you mean"."""
    names = list(dict.fromkeys(among))
    lowered = {each.lower(): each for each in reversed(names)}
    close = get_close_matches(name.lower(), lowered, n=_OFFERED, cutoff=0.55)
    tail = name.lower().rpartition("/")[2]
    holding = [each for each in lowered if len(tail) > 2 and tail in each]
    return [lowered[each] for each in dict.fromkeys([*close, *holding])][:_OFFERED]


def _first(*values: int | None) -> int | None:
    """The first known one; zero and less mean unknown."""
    return next((value for value in values if value is not None and value > 0), None)


def _price(said: Mapping[str, Any] | None, table: Known | None) -> Price | None:
    if said is not None:
        paid, earned = _number(said, "input"), _number(said, "output")
        if paid is None or earned is None:
            return None
        return Price(paid, earned, _number(said, "cacheRead", "cache_read"), _number(said, "cacheWrite", "cache_write"))
    if table is None:
        return None
    return Price(table.cost_input, table.cost_output, table.cache_read, table.cache_write)


def _number(values: Mapping[str, Any], *names: str) -> float | None:
    found = next((values[name] for name in names if name in values), None)
    if isinstance(found, bool) or not isinstance(found, int | float):
        return None
    return float(found)


def _options(said: ModelSettings, variant: str | None) -> dict[str, Any]:
    chosen = (said.variants or {}).get(variant) if variant else None
    return {**(said.options or {}), **(chosen if isinstance(chosen, dict) else {})}
