"""Whether a provider can be reached with its settings: one look at its list of models, which costs nothing."""

import json
from typing import Any, cast

import anyio
import httpx2

from agentls.model import failures
from agentls.model.openai_chat import http_client
from agentls.model.settings import ProviderSettings

SECONDS = 15.0
_NO_LIST = frozenset({404, 405, 501})
_LARGEST = 8 << 20


async def reach(settings: ProviderSettings, model: str) -> frozenset[str] | None:
    """The ids of the models that the server lists; None where it answers but has no such list.

    Raises `ModelFailure`, in the words that a turn would end with.
    """
    endpoint = settings.endpoint(model)
    headers = {**settings.headers}
    if settings.api_key and "authorization" not in {name.lower() for name in headers}:
        headers["Authorization"] = f"Bearer {settings.api_key.strip()}"
    try:
        with anyio.fail_after(SECONDS):
            async with http_client(settings, None) as client:
                answer = await client.get(f"{settings.base_url}/models", headers=headers)
    except TimeoutError as error:
        raise failures.stalled(endpoint, SECONDS) from error
    except UnicodeEncodeError as error:
        raise failures.unreachable(
            endpoint, ValueError("the key or a header has characters that cannot be sent")
        ) from error
    except (httpx2.HTTPError, httpx2.InvalidURL) as error:
        raise failures.unreachable(endpoint, error) from error
    if answer.status_code in _NO_LIST:
        return None
    if not answer.is_success:
        raise failures.from_status(endpoint, answer.status_code, answer.headers, answer.text)
    return _ids(answer.content)


def _ids(body: bytes) -> frozenset[str] | None:
    if len(body) > _LARGEST:
        return None
    try:
        value: object = json.loads(body)
    except (ValueError, RecursionError):
        return None
    entries = cast("dict[str, Any]", value).get("data") if isinstance(value, dict) else None
    if not isinstance(entries, list):
        return None
    named = (
        cast("dict[str, Any]", entry).get("id") for entry in cast("list[object]", entries) if isinstance(entry, dict)
    )
    return frozenset(name for name in named if isinstance(name, str))
