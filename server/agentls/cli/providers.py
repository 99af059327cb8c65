"""Whether the models that are set up can be reached: the part of `agentls doctor` that needs the network."""

import os
from pathlib import Path

import anyio

from agentls.app.configuration import Configuration
from agentls.app.models import Models, make_sdk_client
from agentls.cli.checks import Check
from agentls.errors import AgentError
from agentls.model.client import ModelClient
from agentls.model.failures import ModelFailure
from agentls.model.providers import DEMO
from agentls.model.reach import reach
from agentls.model.settings import ProviderSettings
from agentls.schema.model import ModelRef

_SET_UP = (
    "Set a key such as OPENAI_API_KEY where your editor starts, start a local server such as Ollama, or name a "
    "provider in agentls.json."
)


async def providers(configuration: Configuration, directory: Path) -> list[Check]:
    """The default model first, then one model of every other provider. All are asked at once."""
    asked = _Providers(configuration, directory)
    try:
        return await asked.checks()
    finally:
        await asked.models.aclose()


class _Providers:
    def __init__(self, configuration: Configuration, directory: Path) -> None:
        self.models = Models(configuration, os.environ, self._make)
        self._directory = str(directory)
        self._settings: dict[str, ProviderSettings] = {}

    def _make(self, settings: ProviderSettings) -> ModelClient:
        """As a turn would make it; its settings, key included, are what is asked with."""
        self._settings[settings.name] = settings
        return make_sdk_client(settings)

    async def checks(self) -> list[Check]:
        default = await self.models.prepare(self._directory)
        others = {
            model.ref.provider_id: model.ref for model in reversed(await self.models.of(self._directory).models())
        }
        refs = [default, *(ref for name, ref in others.items() if name not in {default.provider_id, DEMO.provider_id})]
        found: dict[ModelRef, Check] = {}

        async def ask(ref: ModelRef) -> None:
            found[ref] = await self._check(ref, default=ref == default)

        async with anyio.create_task_group() as group:
            for ref in refs:
                group.start_soon(ask, ref)
        return [found[ref] for ref in refs]

    async def _check(self, ref: ModelRef, *, default: bool) -> Check:
        what = "model" if default else "provider"
        failed = "failed" if default else "warning"
        if ref == DEMO:
            return Check(what, "warning", "none is set up, so the built-in demo model answers", _SET_UP)
        try:
            await self.models.of(self._directory).client(ref)
            settings = self._settings[ref.provider_id]
            listed = await reach(settings, ref.model_id)
        except (AgentError, ModelFailure) as error:
            return Check(what, failed, error.message)
        at = f"{settings.origin} answers"
        if not default:
            return Check(what, "ok", f"{ref.provider_id}: {at}")
        sent = settings.aliases.get(ref.model_id, ref.model_id)
        if listed is None or sent in listed:
            return Check(what, "ok", f"{ref}: {at}")
        advice = f"It names {', '.join(sorted(listed)[:8]) or 'none'}. See also: agentls models."
        return Check(what, "warning", f"{ref}: {at}, but its list of models has no {sent}", advice)
