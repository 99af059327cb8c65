"""A client of the scripted server."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import pytest

from agentls.model.client import ModelEvent, ModelRequest, TextDelta
from agentls.model.failures import ModelFailure
from agentls.model.openai_chat import OpenAIChat
from agentls.model.settings import ProviderSettings
from agentls.schema.model import ModelRef
from fakes.openai_server import OpenAIServer, serve
from fakes.replies import Reply

REF = ModelRef(provider_id="local", model_id="test-model")


USER = b'{"role":"user","content":"hi"}'


REQUEST = ModelRequest(REF, (USER,))


@asynccontextmanager
async def client_of(server: OpenAIServer, **settings: Any) -> AsyncIterator[OpenAIChat]:
    client = OpenAIChat(ProviderSettings(**{"name": "local", "base_url": server.url, **settings}))
    try:
        yield client
    finally:
        await client.aclose()


async def collect(client: OpenAIChat, request: ModelRequest = REQUEST) -> list[ModelEvent]:
    return [event async for event in client.stream(request)]


async def play(*replies: Reply, request: ModelRequest = REQUEST, **settings: Any) -> list[ModelEvent]:
    async with serve(replies) as server, client_of(server, **settings) as client:
        return await collect(client, request)


async def failure_of(*replies: Reply, **settings: Any) -> ModelFailure:
    with pytest.raises(ModelFailure) as caught:
        await play(*replies, **settings)
    return caught.value


def said(events: Sequence[ModelEvent]) -> str:
    return "".join(event.text for event in events if isinstance(event, TextDelta))
