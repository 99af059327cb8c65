"""The providers of each folder, and the model of who chose none."""

import gc
import importlib
import logging
import sys
from collections.abc import Mapping
from types import ModuleType
from typing import cast

import anyio
from anyio import to_thread

from agentls.app.configuration import Configuration
from agentls.config.protected import names_secret
from agentls.config.settings import Settings, model_ref
from agentls.errors import AgentError, ErrorKind
from agentls.model.client import ModelClient
from agentls.model.providers import DEMO, MakeClient, Providers
from agentls.model.settings import ProviderSettings
from agentls.schema.model import ModelRef
from agentls.schema.session import Session

log = logging.getLogger(__name__)

_BEFORE_WARM_UP = 0.25  # seconds


class Models:
    """The SDK is imported with the first client, in a thread: it costs most of a second."""

    def __init__(self, configuration: Configuration, env: Mapping[str, str], make_client: MakeClient) -> None:
        self._configuration = configuration
        self._env = env
        self._make_client = make_client
        self._providers: dict[str, tuple[Settings, Providers]] = {}
        self._defaults: dict[str, tuple[Settings, ModelRef]] = {}

    def of(self, directory: str) -> Providers:
        settings = self._configuration.loaded(directory).settings
        known = self._providers.get(directory)
        if known is None:
            providers = Providers(settings, self._env, self._make_client, make_demo)
        else:
            providers = known[1]
            if known[0] is not settings:
                providers.replace(settings)
        self._providers[directory] = (settings, providers)
        return providers

    def choose(self, session: Session, agent: str, given: ModelRef | None) -> ModelRef:
        """The input's, the one set on the session, the agent's, the session's last, the default.

        Raises `AgentError` `model_not_found` where the given one has no provider, and where the default is not known
        yet: `prepare` was not awaited.
        """
        if given is not None:
            self.of(session.directory).require(given)
            return given
        if session.model is not None and session.model_chosen:
            return session.model
        chosen = self._configuration.agents(session.directory).get(agent).model or session.model
        if chosen is not None:
            return chosen
        default = self.default_now(session.directory)
        if default is None:
            raise AgentError(ErrorKind.MODEL_NOT_FOUND, "No model was chosen yet. Try again.", retryable=True)
        return default

    def default_now(self, directory: str) -> ModelRef | None:
        """The default as far as it is known without asking anybody."""
        settings = self._configuration.loaded(directory).settings
        chosen = model_ref(settings.model)
        if chosen is not None:
            return chosen
        known = self._defaults.get(directory)
        return known[1] if known is not None and known[0] == settings else None

    async def prepare(self, directory: str) -> ModelRef:
        """Find the default; local servers are asked where nothing is set up."""
        default = self.default_now(directory)
        if default is None or default == DEMO:  # a local server may have been started since
            default = await self.of(directory).default_model()
            self._defaults[directory] = (self._configuration.loaded(directory).settings, default)
        return default

    async def warm_up(self) -> None:
        """A prompt is near: import meanwhile what the first one would wait for; not at once, the editor asks first."""
        await anyio.sleep(_BEFORE_WARM_UP)
        try:
            for name in ("agentls.model.openai_chat", "tenacity"):
                await to_thread.run_sync(_imported, name, abandon_on_cancel=True)
        except ImportError:  # the first turn that needs it says so
            log.exception("the SDK cannot be imported")

    def secrets(self) -> list[str]:
        """What must not reach the log."""
        found = [value for name, value in self._env.items() if names_secret(name)]
        options = [one.options for settings, _ in self._providers.values() for one in settings.provider.values()]
        found += [option.api_key for option in options if option.api_key]
        return [*found, *(value for option in options for value in option.headers.values())]

    async def aclose(self) -> None:
        for _, providers in self._providers.values():
            await providers.aclose()


def make_sdk_client(settings: ProviderSettings) -> ModelClient:
    """Imports the SDK."""
    return cast("ModelClient", _imported("agentls.model.openai_chat").OpenAIChat(settings))


def make_demo() -> ModelClient:
    """The built-in demo model, behind the same client."""
    return cast("ModelClient", _imported("agentls.model.demo").demo_client())


def _imported(name: str) -> ModuleType:
    """The garbage collector leaves alone what an SDK brings: it stays for good, and each look at it takes 60 ms."""
    if name in sys.modules:
        return importlib.import_module(name)  # which waits where another thread is not yet done with it
    gc.disable()
    try:
        return importlib.import_module(name)
    finally:
        gc.enable()
        gc.freeze()
