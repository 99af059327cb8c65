"""Providers that speak OpenAI's chat completions. It imports the SDK, which is slow: nothing may need it at start."""

import json
import ssl
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing
from typing import Any
from urllib.request import getproxies

import anyio
import httpx2
from openai import APIConnectionError, APIStatusError, AsyncOpenAI, AsyncStream, Omit, OpenAIError

from agentls.errors import AgentError, ErrorKind
from agentls.model import failures
from agentls.model.client import ModelEvent, ModelRequest
from agentls.model.failures import Endpoint, FailureKind, ModelFailure
from agentls.model.settings import ProviderSettings
from agentls.model.sse import ChunkReader
from agentls.model.stream import Decoder

STALL = 300.0
FIRST_DATA_ON_LOOPBACK = 1800.0
_CONNECT = 30.0
_DRAIN = 0.1
_CLOSE = 2.0
_FIXED = frozenset({"model", "messages", "tools", "tool_choice", "stream", "stream_options"})


class OpenAIChat:
    """A `ModelClient`. One instance a provider: it keeps the connections and remembers what the server refuses."""

    def __init__(self, settings: ProviderSettings, transport: httpx2.AsyncBaseTransport | None = None) -> None:
        self._settings = settings
        self._stall = settings.timeout or STALL
        self._first = settings.timeout or (FIRST_DATA_ON_LOOPBACK if settings.loopback else STALL)
        self._without_usage = False
        self._renamed_limit: set[str] = set()
        try:
            self._client = AsyncOpenAI(
                api_key=(settings.api_key or "").strip() or "none",
                base_url=settings.base_url,
                max_retries=0,
                default_headers=dict(settings.headers),
                http_client=http_client(settings, transport),
            )
        except httpx2.InvalidURL as error:
            message = f"provider.{settings.name}.options.baseURL is not a web address: {error}."
            raise AgentError(ErrorKind.PROVIDER_ERROR, message) from error
        self._headers = self._omitted_headers()

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent]:
        """Close the generator (or read it to its end) and the connection is free; cancelling closes it at once."""
        endpoint = self._settings.endpoint(request.model.model_id)
        deadline = anyio.current_time() + self._first
        response = await self._open(request, endpoint, deadline)
        try:
            reader, decoder = ChunkReader(endpoint), Decoder(endpoint)
            async with aclosing(self._chunks(response, reader, endpoint, deadline)) as chunks:
                async for chunk in chunks:
                    for event in decoder.feed(chunk):
                        yield event
            for event in decoder.finish(done=reader.done):
                yield event
        finally:
            with anyio.move_on_after(_CLOSE, shield=True):
                await response.aclose()

    async def aclose(self) -> None:
        await self._client.close()

    async def _open(self, request: ModelRequest, endpoint: Endpoint, deadline: float) -> httpx2.Response:
        self._check_headers(endpoint)
        while True:
            try:
                return await self._post(request, endpoint, deadline)
            except APIStatusError as error:
                if not self._adapt(request, error):
                    body, headers = error.response.text, error.response.headers
                    raise failures.from_status(endpoint, error.status_code, headers, body) from None
            except APIConnectionError as error:
                connected = not isinstance(error.__cause__, httpx2.ConnectError)
                raise failures.unreachable(endpoint, error, connected=connected) from error
            except (httpx2.HTTPError, httpx2.StreamError, OpenAIError) as error:
                raise failures.broken(endpoint, str(error) or type(error).__name__) from error

    def _check_headers(self, endpoint: Endpoint) -> None:
        """A key or a header with stray characters fails here, in words, and not deep in the SDK."""
        sent = {endpoint.key_from or "the settings": (self._settings.api_key or "").strip()}
        sent |= {f"the header {name!r}": value for name, value in self._settings.headers.items()}
        for where, value in sent.items():
            if not (value.isascii() and value.isprintable()):
                message = f"{endpoint}: the value of {where} has characters that cannot be sent. Set it anew."
                raise ModelFailure(FailureKind.AUTH, message, provider=endpoint.provider)

    async def _post(self, request: ModelRequest, endpoint: Endpoint, deadline: float) -> httpx2.Response:
        """The SDK sends; its own reading of the stream is left out, as it fails on blank, wrapped and bare frames."""
        with anyio.CancelScope(deadline=deadline):
            stream = await self._client.post(
                "/chat/completions",
                cast_to=object,
                content=self._body(request),
                options={"headers": self._headers},
                stream=True,
                stream_cls=AsyncStream[object],
            )
            return stream.response
        raise failures.stalled(endpoint, self._first)

    async def _chunks(
        self, response: httpx2.Response, reader: ChunkReader, endpoint: Endpoint, deadline: float
    ) -> AsyncGenerator[object]:
        """Chunks until the end. Only data moves the deadline: comments and blank frames do not (S24)."""
        limit = self._first
        pieces = response.aiter_bytes()
        while not reader.done:
            piece: bytes | None = None
            try:
                with anyio.CancelScope(deadline=deadline) as scope:
                    piece = await anext(pieces, None)
            except (httpx2.HTTPError, httpx2.StreamError) as error:
                raise failures.broken(endpoint, str(error) or type(error).__name__) from error
            if scope.cancelled_caught:
                raise failures.stalled(endpoint, limit)
            chunks = reader.finish() if piece is None else reader.feed(piece)
            for chunk in chunks:
                yield chunk
            if piece is None:
                return
            if chunks:
                limit = self._stall
                deadline = anyio.current_time() + limit
        await _drain(pieces)

    def _adapt(self, request: ModelRequest, error: APIStatusError) -> bool:
        """Whether the request is worth sending again without what the server does not know; remembered."""
        if error.status_code not in {400, 422}:
            return False
        said = error.response.text
        if "stream_options" in said and not self._without_usage:
            self._without_usage = True
            return True
        model = request.model.model_id
        if "max_completion_tokens" in said and request.max_output is not None and model not in self._renamed_limit:
            self._renamed_limit.add(model)
            return True
        return False

    def _body(self, request: ModelRequest) -> bytes:
        model = request.model.model_id
        rest: dict[str, Any] = {n: v for n, v in request.options.items() if n not in _FIXED and v is not None}
        if request.max_output is not None:
            name = "max_completion_tokens" if model in self._renamed_limit else "max_tokens"
            rest[name] = request.max_output
        if request.tools is not None and request.tool_choice is not None:
            rest["tool_choice"] = _tool_choice(request.tool_choice)
        rest["stream"] = True
        if not self._without_usage:
            rest["stream_options"] = {"include_usage": True}
        tools = (b',"tools":', request.tools) if request.tools is not None else ()
        messages = b",".join(request.messages)
        return b"".join(
            (
                b'{"model":',
                _json(self._settings.aliases.get(model, model)),
                *tools,
                b',"messages":[',
                messages,
                b"],",
                _json(rest)[1:],
            )
        )

    def _omitted_headers(self) -> Mapping[str, str | Omit]:
        """What the SDK would send on its own: a made-up key, and the user's OpenAI organisation to any other server."""
        given = {name.lower() for name in self._settings.headers}
        omitted: dict[str, str | Omit] = {"Accept": "text/event-stream"}
        if not self._settings.api_key and "authorization" not in given:
            omitted["Authorization"] = Omit()
        if self._settings.origin != "https://api.openai.com":
            names = ("OpenAI-Organization", "OpenAI-Project")
            omitted |= {name: Omit() for name in names if name.lower() not in given}
        return omitted


def http_client(settings: ProviderSettings, transport: httpx2.AsyncBaseTransport | None) -> httpx2.AsyncClient:
    """No read time-out: the stall timer is the one that knows data from comments. No limit of connections: each
    session that streams holds one, and one more must not wait for another's end. Proxies of the environment count, but
    not on the way to this machine.
    """
    return httpx2.AsyncClient(
        transport=transport,
        verify=_tls(settings, injected=transport is not None),
        timeout=httpx2.Timeout(None, connect=_CONNECT, pool=_CONNECT),
        limits=httpx2.Limits(max_connections=None, max_keepalive_connections=20, keepalive_expiry=60),
        follow_redirects=True,
        trust_env=not settings.loopback,
    )


def _tls(settings: ProviderSettings, *, injected: bool) -> ssl.SSLContext:
    """Certificates take 20 to 40 ms to load, so http:// goes without: a redirect to https then fails closed."""
    through_tls = any(proxy.startswith("https:") for proxy in getproxies().values()) and not settings.loopback
    if settings.ca_file is None and (injected or (settings.base_url.startswith("http://") and not through_tls)):
        return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context = httpx2.create_ssl_context()
    if settings.ca_file is not None:
        try:
            context.load_verify_locations(cafile=settings.ca_file)
        except OSError as error:
            message = f"provider.{settings.name}.options.caFile: {settings.ca_file} cannot be used ({error})."
            raise AgentError(ErrorKind.PROVIDER_ERROR, message) from error
    return context


async def _drain(pieces: AsyncIterator[bytes]) -> None:
    """Reads the little that may follow the end, so that the connection can be used again."""
    with anyio.move_on_after(_DRAIN):
        try:
            async for _ in pieces:
                pass
        except (httpx2.HTTPError, httpx2.StreamError):
            return


def _tool_choice(choice: str) -> object:
    if choice in {"none", "auto", "required"}:
        return choice
    return {"type": "function", "function": {"name": choice}}


def _json(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
