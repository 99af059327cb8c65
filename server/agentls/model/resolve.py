"""From the user's settings and the environment to what a client needs."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from urllib.parse import urlsplit

from agentls.config.settings import ProviderOptions
from agentls.config.settings import ProviderSettings as Configured
from agentls.errors import AgentError, ErrorKind
from agentls.model import wordings
from agentls.model.known_providers import HOSTED, Hosted, Local
from agentls.model.settings import ProviderSettings

_FOR_EVER = 86_400.0
_NO_SETTINGS = Configured()


def provider(
    name: str, configured: Configured | None, environment: Mapping[str, str], local: Sequence[Local]
) -> ProviderSettings | None:
    """None if neither the settings nor the tables know where it is. A local server is taken at its word."""
    hosted = next((each for each in HOSTED if each.name == name), None)
    here = next((each for each in local if each.name == name), None)
    said = configured or _NO_SETTINGS
    base_url = said.options.base_url or _usual_url(hosted, here, environment)
    if base_url is None:
        return None
    variable = next((each for each in hosted.variables if environment.get(each)), None) if hosted else None
    in_settings = f"provider.{name}.options.apiKey"
    known = hosted or here
    return ProviderSettings(
        name=name,
        base_url=base_url.rstrip("/"),
        api=said.api or "chat",
        label=said.name or (known.label if known else None),
        api_key=said.options.api_key or (environment[variable] if variable else None),
        key_from=in_settings if said.options.api_key or not hosted else variable or hosted.variables[0],
        needs_key=hosted is not None and said.options.base_url is None and "OPENAI_BASE_URL" not in environment,
        headers=said.options.headers,
        timeout=_seconds(said.options),
        ca_file=said.options.ca_file,
        aliases={model: each.id for model, each in said.models.items() if each.id},
    )


def check_url(settings: ProviderSettings) -> None:
    """Raises where no request could ever be sent."""
    where = f"provider.{settings.name}.options.baseURL"
    try:
        url = urlsplit(settings.base_url)
        good = url.scheme in {"http", "https"} and bool(url.hostname) and (url.port is None or url.port > 0)
    except ValueError:
        good = False
    if not good:
        message = f"{where} is not a web address: {wordings.shown(settings.base_url)}. Write https://host/v1."
        raise AgentError(ErrorKind.PROVIDER_ERROR, message, {"providerId": settings.name})
    if settings.api != "chat":
        message = f"provider.{settings.name}.api: {settings.api!r} is not supported. Only 'chat' (chat completions) is."
        raise AgentError(ErrorKind.PROVIDER_ERROR, message, {"providerId": settings.name})


def with_key(settings: ProviderSettings, key: str) -> ProviderSettings:
    return replace(settings, api_key=key, key_from=f"provider.{settings.name}.options.apiKeyCommand")


def key_missing(settings: ProviderSettings) -> AgentError:
    message = (
        f"{settings.label or settings.name} needs a key. Set {settings.key_from} in the environment of the editor, "
        f"or provider.{settings.name}.options.apiKey in agentls.json."
    )
    return AgentError(ErrorKind.AUTH_REQUIRED, message, {"providerId": settings.name, "variable": settings.key_from})


def _usual_url(hosted: Hosted | None, here: Local | None, environment: Mapping[str, str]) -> str | None:
    if hosted is not None:
        return (hosted.name == "openai" and environment.get("OPENAI_BASE_URL")) or hosted.base_url
    return here.base_url if here is not None else None


def _seconds(options: ProviderOptions) -> float | None:
    """`timeout: false` is no limit; `true` and nothing the usual one."""
    milliseconds = options.timeout
    if milliseconds is False:
        return _FOR_EVER
    if milliseconds is None or milliseconds is True or milliseconds <= 0:
        return None
    return milliseconds / 1000
