"""The built-in demo model: a transport that answers chat requests by itself, under the same client as any provider."""

import json
import re
from collections.abc import AsyncIterator, Iterator
from typing import Any

import anyio
import httpx2

from agentls.model.demo_job import Move, next_move
from agentls.model.openai_chat import OpenAIChat
from agentls.model.settings import ProviderSettings

_DELAY = 0.015
_WORDS = re.compile(r"\s*\S+\s*")


def demo_client(delay: float = _DELAY) -> OpenAIChat:
    """`delay` is in seconds, between pieces of text."""
    return OpenAIChat(ProviderSettings("demo", "http://localhost/v1", label="Demo"), DemoTransport(delay))


class DemoTransport(httpx2.AsyncBaseTransport):
    """Nothing leaves the process."""

    def __init__(self, delay: float = _DELAY) -> None:
        self._delay = delay

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        body = await request.aread()
        stream = _Stream(next_move(body), len(body), self._delay)
        return httpx2.Response(200, headers={"content-type": "text/event-stream"}, stream=stream, request=request)


class _Stream(httpx2.AsyncByteStream):
    def __init__(self, move: Move, size: int, delay: float) -> None:
        self._move = move
        self._size = size
        self._delay = delay

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for chunk in _chunks(self._move, self._size):
            yield b"data: " + json.dumps(chunk).encode() + b"\n\n"
            await anyio.sleep(self._delay)
        yield b"data: [DONE]\n\n"


def _chunks(move: Move, size: int) -> Iterator[dict[str, Any]]:
    for piece in _WORDS.findall(move.text):
        yield _chunk({"content": piece})
    raw = json.dumps(dict(move.arguments), ensure_ascii=False)
    if move.tool is not None:
        # The place in the conversation is not known here, so the decoder's own ids keep calls apart.
        yield _chunk({"tool_calls": [{"index": 0, "function": {"name": move.tool, "arguments": ""}}]})
        for at in range(0, len(raw), 24):
            yield _chunk({"tool_calls": [{"index": 0, "function": {"arguments": raw[at : at + 24]}}]})
    written = len(move.text) + (len(raw) if move.tool else 0)
    usage = {"prompt_tokens": size // 4, "completion_tokens": written // 4, "total_tokens": (size + written) // 4}
    yield _chunk({}, "tool_calls" if move.tool else "stop") | {"usage": usage}


def _chunk(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}
