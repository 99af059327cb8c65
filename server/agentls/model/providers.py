"""Which providers and models there are, and a client for each."""

from collections.abc import Callable, Mapping, Sequence

import anyio

from agentls.config.apikeys import ApiKeys
from agentls.config.settings import Settings, model_ref
from agentls.errors import AgentError, ErrorKind
from agentls.model import resolve
from agentls.model.catalog import Catalog, Model, suggestions
from agentls.model.client import ModelClient
from agentls.model.known_models import MODELS
from agentls.model.known_providers import HOSTED, LOCAL, Local
from agentls.model.local import Found, probe
from agentls.model.settings import ProviderSettings
from agentls.schema.model import ModelRef

DEMO = ModelRef(provider_id="demo", model_id="demo")
_FRESH = 30.0

MakeClient = Callable[[ProviderSettings], ModelClient]


class Providers:
    """From settings, then keys in the environment, then local servers, then the built-in demo.

    `make_client` and `make_demo` are called in a thread, as they may import an SDK. Nothing here touches the network
    but the look at local servers, on demand.
    """

    def __init__(
        self,
        settings: Settings,
        environment: Mapping[str, str],
        make_client: MakeClient,
        make_demo: Callable[[], ModelClient],
        local: Sequence[Local] = LOCAL,
    ) -> None:
        self._environment = environment
        self._make_client = make_client
        self._make_demo = make_demo
        self._local = tuple(local)
        self._found: tuple[float, list[Found]] | None = None
        self._keys = ApiKeys()
        self._clients: dict[str, tuple[ProviderSettings | None, ModelClient]] = {}
        self._retired: list[ModelClient] = []
        self._making = anyio.Lock()
        self._asking = anyio.Lock()
        self._settings = settings
        self._catalog = Catalog(settings.provider)

    def replace(self, settings: Settings) -> None:
        """New settings. Clients that they do not concern are kept; those in use run on."""
        self._settings = settings
        self._catalog = Catalog(settings.provider)
        self._keys.forget()

    async def default_model(self) -> ModelRef:
        """The model of who chose none."""
        chosen = model_ref(self._settings.model)
        if chosen is not None:
            return chosen
        for name in self._set_up():
            models = self._listed(name)
            if models:
                return ModelRef(provider_id=name, model_id=models[0])
        for found in await self.look_around():
            if self._enabled(found.server.name):
                return ModelRef(provider_id=found.server.name, model_id=next(iter(found.models)))
        return DEMO

    def model(self, ref: ModelRef) -> Model:
        """What is known of a model, without asking anyone."""
        found = [each for each in self._seen() if each.server.name == ref.provider_id]
        return self._catalog.model(ref, context=found[0].models.get(ref.model_id) if found else None)

    async def models(self) -> list[Model]:
        """All that can be used now, provider by provider."""
        await self.look_around()
        return [self.model(ref) for ref in self._refs()]

    def require(self, ref: ModelRef) -> None:
        """Raises `AgentError` MODEL_NOT_FOUND, with suggestions, where there is no such provider. Asks nobody."""
        if not _is_demo(ref) and self._resolved(ref.provider_id) is None:
            raise self._not_found(ref)

    async def client(self, ref: ModelRef) -> ModelClient:
        """The client of this model's provider, made on first use.

        Raises `AgentError`: MODEL_NOT_FOUND with suggestions, AUTH_REQUIRED where a key is missing, PROVIDER_ERROR
        where its settings cannot work.
        """
        if _is_demo(ref):
            return await self._kept(ref.provider_id, None)
        settings = self._resolved(ref.provider_id)
        if settings is None:
            await self.look_around()
            raise self._not_found(ref)
        resolve.check_url(settings)
        return await self._kept(ref.provider_id, await self._with_key(settings))

    async def look_around(self) -> list[Found]:
        """Local servers that run; the answer holds for half a minute."""
        now = anyio.current_time()
        if self._found is None or now - self._found[0] > _FRESH:
            configured = {provider.options.base_url for provider in self._settings.provider.values()}
            servers = [each for each in self._local if each.base_url not in configured and self._enabled(each.name)]
            self._found = (now, await probe(servers))
        return self._found[1]

    async def aclose(self) -> None:
        for client in [*(client for _, client in self._clients.values()), *self._retired]:
            await client.aclose()
        self._clients.clear()
        self._retired.clear()

    def _seen(self) -> list[Found]:
        return self._found[1] if self._found is not None else []

    def _enabled(self, name: str) -> bool:
        enabled = self._settings.enabled_providers
        return name not in self._settings.disabled_providers and (enabled is None or name in enabled)

    def _set_up(self) -> list[str]:
        """Providers of the settings, then those with a key in the environment."""
        names = [*self._settings.provider, *(hosted.name for hosted in HOSTED)]
        usable: list[str] = []
        for name in dict.fromkeys(names):
            settings = self._resolved(name)
            has_key = settings is not None and (settings.api_key or not settings.needs_key or self._command(name))
            if has_key:
                usable.append(name)
        return usable

    def _listed(self, name: str) -> list[str]:
        """Models by name: the user's, then the one to begin with, then the others of the table."""
        provider = self._settings.provider.get(name)
        hosted = next((each for each in HOSTED if each.name == name), None)
        names = [*(provider.models if provider else ()), *([hosted.model] if hosted else ()), *MODELS.get(name, ())]
        seen = [model for found in self._seen() if found.server.name == name for model in found.models]
        return list(dict.fromkeys([*names, *seen]))

    def _resolved(self, name: str) -> ProviderSettings | None:
        if not self._enabled(name):
            return None
        return resolve.provider(name, self._settings.provider.get(name), self._environment, self._local)

    def _command(self, name: str) -> str | tuple[str, ...] | None:
        provider = self._settings.provider.get(name)
        return provider.options.api_key_command if provider else None

    async def _with_key(self, settings: ProviderSettings) -> ProviderSettings:
        command = self._command(settings.name)
        if settings.api_key or command is None:
            if settings.needs_key and not settings.api_key:
                raise resolve.key_missing(settings)
            return settings
        async with self._asking:
            key = await self._keys.key(settings.name, command)
        return resolve.with_key(settings, key)

    async def _kept(self, name: str, settings: ProviderSettings | None) -> ModelClient:
        async with self._making:
            kept = self._clients.get(name)
            if kept is not None and kept[0] == settings:
                return kept[1]
            if settings is None:
                client = await anyio.to_thread.run_sync(self._make_demo)
            else:
                client = await anyio.to_thread.run_sync(self._make_client, settings)
            if kept is not None:
                self._retired.append(kept[1])  # a turn may still read from it
            self._clients[name] = (settings, client)
            return client

    def _refs(self) -> list[ModelRef]:
        refs = [ModelRef(provider_id=name, model_id=model) for name in self._set_up() for model in self._listed(name)]
        for found in self._seen():
            if self._enabled(found.server.name):
                refs += [ModelRef(provider_id=found.server.name, model_id=model) for model in found.models]
        return list(dict.fromkeys([*refs, DEMO]))

    def _not_found(self, ref: ModelRef) -> AgentError:
        names = [str(known) for known in self._refs()]
        near = suggestions(str(ref), names)
        hint = f"Did you mean {', '.join(near)}?" if near else f"There are: {', '.join(names[:8])}."
        message = f"There is no provider {ref.provider_id!r} for the model {ref}. {hint}"
        return AgentError(ErrorKind.MODEL_NOT_FOUND, message, {"model": str(ref), "suggestions": near or names[:8]})


def _is_demo(ref: ModelRef) -> bool:
    return (ref.provider_id, ref.model_id) == (DEMO.provider_id, DEMO.model_id)
