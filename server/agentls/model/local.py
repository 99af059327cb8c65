"""Looks for model servers on this machine: one plain request each, side by side, and never for long."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast
from urllib.parse import urlsplit

import anyio

from agentls.model.known_providers import Local

_TIMEOUT = 0.5
_LARGEST = 1 << 20


@dataclass(frozen=True, slots=True)
class Found:
    """A server that answered: its models in its order, with their context window where it tells."""

    server: Local
    models: Mapping[str, int | None] = field(default_factory=dict[str, int | None])


async def probe(servers: Sequence[Local], *, timeout: float = _TIMEOUT) -> list[Found]:
    """Those that run and have a model, in the order given."""
    found: dict[str, Found] = {}

    async def ask(server: Local) -> None:
        with anyio.move_on_after(timeout):
            models = await _models(server.base_url)
            if models:
                found[server.name] = Found(server, models)

    async with anyio.create_task_group() as group:
        for server in servers:
            group.start_soon(ask, server)
    return [found[server.name] for server in servers if server.name in found]


async def _models(base_url: str) -> dict[str, int | None]:
    # By hand, as an HTTP client takes longer to import than the servers take to answer.
    url = urlsplit(base_url)
    host, port = url.hostname or "", url.port or 80
    request = f"GET {url.path.rstrip('/')}/models HTTP/1.0\r\nHost: {host}:{port}\r\nAccept: application/json\r\n\r\n"
    answer = bytearray()
    try:
        async with await anyio.connect_tcp(host, port) as stream:
            await stream.send(request.encode())
            async for piece in stream:
                answer += piece
                if len(answer) > _LARGEST or _whole(answer):
                    break
    except (OSError, anyio.BrokenResourceError, anyio.ClosedResourceError):
        return {}
    return _listed(bytes(answer))


def _whole(answer: bytearray) -> bool:
    head, end, body = bytes(answer).partition(b"\r\n\r\n")
    for line in head.lower().split(b"\r\n") if end else []:
        name, _, value = line.partition(b":")
        if name == b"content-length" and value.strip().isdigit():
            return len(body) >= int(value)
    return False


def _listed(answer: bytes) -> dict[str, int | None]:
    """The ids of `/v1/models`. Anything else that listens on the port gives none."""
    head, _, body = answer.partition(b"\r\n\r\n")
    if b" 200 " not in head.partition(b"\r\n")[0] + b" ":
        return {}
    try:
        value: object = json.loads(body[body.find(b"{") : body.rfind(b"}") + 1])
    except (ValueError, RecursionError):
        return {}
    entries = cast("dict[str, Any]", value).get("data") if isinstance(value, dict) else None
    models: dict[str, int | None] = {}
    for entry in cast("list[object]", entries) if isinstance(entries, list) else []:
        if isinstance(entry, dict):
            members = cast("dict[str, Any]", entry)
            if isinstance(members.get("id"), str) and "embed" not in members["id"].lower():
                models[members["id"]] = _window(members)
    return models


def _window(members: dict[str, Any]) -> int | None:
    """VLLM tells `max_model_len`; llama.cpp what it was started with, or trained for."""
    meta = members.get("meta")
    inner = cast("dict[str, Any]", meta) if isinstance(meta, dict) else {}
    for value in (members.get("max_model_len"), inner.get("n_ctx")):
        if isinstance(value, int) and value > 0:
            return value
    return None
