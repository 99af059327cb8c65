"""What there is to choose from: agents, models, tools; and the settings in force."""

from pathlib import Path
from typing import Any, cast

from pydantic_core import to_json

from agentls.app.configuration import Configuration
from agentls.app.models import Models
from agentls.config.protected import names_secret
from agentls.model.catalog import Model
from agentls.schema.base import Raw
from agentls.tools.registry import Registry

_HOLD_SECRETS_OF_ANY_NAME = frozenset({"headers", "environment"})
HIDDEN = "(hidden)"


class Choices:
    def __init__(self, configuration: Configuration, models: Models, registry: Registry) -> None:
        self._configuration = configuration
        self._models = models
        self._registry = registry

    def agents(self, directory: Path) -> Raw:
        agents = self._configuration.agents(str(directory))
        default = agents.default().name
        rows = [
            {
                "name": agent.name,
                "description": agent.description,
                "mode": agent.mode,
                "model": agent.model.members() if agent.model else None,
                "default": True if agent.name == default else None,
            }
            for agent in agents.all()
            if not agent.hidden
        ]
        return _raw({"agents": [_present(row) for row in rows]})

    async def models(self, directory: Path) -> Raw:
        default = await self._models.prepare(str(directory))
        models = await self._models.of(str(directory)).models()
        return _raw({"models": [_model(model, default=model.ref == default) for model in models]})

    def tools(self) -> Raw:
        rows: list[dict[str, Any]] = []
        for name in self._registry.names:
            function = self._registry.definition(name)
            rows.append({"name": name, "description": function.description, "parameters": function.parameters})
        return _raw({"tools": rows})

    def settings(self, directory: Path) -> Raw:
        """The settings in force, without what may be secret."""
        loaded = self._configuration.loaded(str(directory))
        members = loaded.settings.model_dump(mode="json", by_alias=True, exclude_none=True, exclude_defaults=True)
        rules = {layer.name: [rule.members() for rule in layer.rules] for layer in loaded.layers}
        trust = {"state": loaded.trust, "withheld": list(loaded.withheld)}
        return _raw({"config": {**_hidden(members), "rules": rules, "trust": trust}})


def _model(model: Model, *, default: bool) -> dict[str, Any]:
    limit = _present({"context": model.context, "input": model.input, "output": model.output})
    price = model.price
    prices = {} if price is None else _present({"input": price.input, "output": price.output})
    return _present(
        {
            "providerId": model.ref.provider_id,
            "modelId": model.ref.model_id,
            "name": model.name,
            "default": default or None,
            "limit": limit or None,
            "cost": prices or None,
            "reasoning": model.reasoning,
            "attachment": model.attachment,
        }
    )


def _hidden(value: Any, key: str = "") -> Any:
    if key in _HOLD_SECRETS_OF_ANY_NAME or (names_secret(key) and not isinstance(value, bool | int | float)):
        return HIDDEN
    if isinstance(value, dict):
        return {name: _hidden(member, name) for name, member in cast("dict[str, Any]", value).items()}
    return value


def _present(members: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in members.items() if value is not None}


def _raw(members: dict[str, Any]) -> Raw:
    return Raw(to_json(members))
