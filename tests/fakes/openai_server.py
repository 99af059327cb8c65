"""A scripted server with OpenAI's chat completions: real HTTP and real server-sent events on loopback.

In a test: `async with serve([answer(text("hi"))]) as server:`. As a process of its own:
`python -m fakes.openai_server --script FILE [--log FILE] [--port N] [--strict]`; it prints its base URL and serves
until it is killed. The script is a JSON list with one item a request:

    {"text": "Hello", "deltas": 3, "reasoning": "hm", "calls": [{"name": "read", "arguments": {"filePath": "a"}}]}
    {"events": [{"delta": {…}}, {"raw": "data: …\\n\\n"}, {"gate": "a"}, {"finish": "stop"}, "done", "reset", "hang"]}
    {"status": 429, "headers": {"retry-after": "1"}, "body": {"error": {"message": "slow down"}}}

A gate waits for `POST /gate/<name>`. After the script's end the last item repeats if it has `"repeat": true`, else 500.
`POST /script` with another list replaces the script; all gates are closed again.
"""

import argparse
import json
import socket
import ssl
import struct
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import anyio
from anyio.abc import SocketAttribute, SocketStream
from anyio.streams.tls import TLSListener

from fakes.replies import (
    DONE,
    Answer,
    C,
    Event,
    Every,
    F,
    Gate,
    Hang,
    Pause,
    Reply,
    Request,
    Reset,
    Script,
    Status,
    answer,
    call,
    text,
    usage,
)


class OpenAIServer:
    def __init__(self, script: Script, *, strict: bool = False, models: Sequence[str] = ("test-model",)) -> None:
        self._next = script if callable(script) else _in_turn(script)
        self._strict = strict
        self._models = models
        self._gates: dict[str, anyio.Event] = {}
        self.requests: list[Request] = []
        self.connections = 0
        self.client_closed = anyio.Event()
        self.port = 0
        self.scheme = "http"
        self.on_request: Callable[[Request], None] | None = None

    @property
    def url(self) -> str:
        return f"{self.scheme}://127.0.0.1:{self.port}/v1"

    def open(self, gate: str) -> None:
        self._gate(gate).set()

    def _gate(self, name: str) -> anyio.Event:
        return self._gates.setdefault(name, anyio.Event())

    async def handle(self, stream: SocketStream) -> None:
        self.connections += 1
        number = self.connections
        stream.extra(SocketAttribute.raw_socket).setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        async with stream:
            buffer = b""
            while True:
                try:
                    request, buffer = await _read(stream, buffer, number)
                except (anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError):
                    return
                try:
                    await self._reply(stream, request)
                except (anyio.BrokenResourceError, anyio.ClosedResourceError, OSError):
                    self.client_closed.set()
                    return

    async def _reply(self, stream: SocketStream, request: Request) -> None:
        if request.target.endswith("/models"):
            listing = {"object": "list", "data": [{"id": name, "object": "model"} for name in self._models]}
            await _send_status(stream, Status(200, listing))
        elif request.target.startswith("/gate/"):
            self.open(request.target.removeprefix("/gate/"))
            await _send_status(stream, Status(200, {}))
        elif request.target == "/script":
            self._next, self._gates = parse_script(request.json), {}
            await _send_status(stream, Status(200, {}))
        else:
            await self._complete(stream, request)

    async def _complete(self, stream: SocketStream, request: Request) -> None:
        self.requests.append(request)
        if self.on_request:
            self.on_request(request)
        wrong = fault(request.body) if self._strict else None
        reply = Status(400, {"error": {"message": wrong}}) if wrong else self._next(request)
        if isinstance(reply, Status):
            await _send_status(stream, reply)
        else:
            await self._send_answer(stream, reply)

    async def _send_answer(self, stream: SocketStream, reply: Answer) -> None:
        head = f"HTTP/1.1 200 OK\r\ncontent-type: {reply.content_type}\r\ntransfer-encoding: chunked\r\n\r\n"
        await stream.send(head.encode())
        for event in reply.events:
            match event:
                case bytes():
                    await stream.send(_chunk(event))
                case Gate(name):
                    await self._unless_closed(stream, self._gate(name).wait)
                case Hang():
                    await self._unless_closed(stream, anyio.sleep_forever)
                case Pause(seconds):
                    await self._unless_closed(stream, lambda s=seconds: anyio.sleep(s))
                case Every(seconds, piece):
                    await self._unless_closed(stream, lambda s=seconds, p=piece: _repeat(stream, s, p))
                case Reset():
                    raw = stream.extra(SocketAttribute.raw_socket)
                    raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                    await stream.aclose()
                    raise anyio.ClosedResourceError
        await stream.send(b"0\r\n\r\n")

    async def _unless_closed(self, stream: SocketStream, wait: Callable[[], Any]) -> None:
        """Waits, and notices when the client goes: it sends nothing while it reads an answer."""
        gone = False

        async def watch(scope: anyio.CancelScope) -> None:
            nonlocal gone
            try:
                await stream.receive(1)
            except (anyio.EndOfStream, anyio.BrokenResourceError):
                gone = True
            scope.cancel()

        async with anyio.create_task_group() as group:
            group.start_soon(watch, group.cancel_scope)
            await wait()
            group.cancel_scope.cancel()
        if gone:
            raise anyio.BrokenResourceError


def fault(body: bytes) -> str | None:
    """What a strict server refuses in a request; None if nothing."""
    expected: list[str] = []
    for place, message in enumerate(json.loads(body)["messages"]):
        role, content = message["role"], message.get("content")
        if content is None:
            return f"messages[{place}]: content must not be null"
        if role == "system" and place:
            return f"messages[{place}]: system must be first"
        if role == "tool":
            if message["tool_call_id"] not in expected:
                return f"messages[{place}]: no such tool call"
            expected.remove(message["tool_call_id"])
            continue
        if expected:
            return f"messages[{place}]: tool calls without result: {expected}"
        calls = message.get("tool_calls")
        if calls == []:
            return f"messages[{place}]: tool_calls must not be empty"
        for item in calls or []:
            try:
                arguments = json.loads(item["function"]["arguments"])
            except ValueError:
                arguments = None
            if not isinstance(arguments, dict):
                return f"messages[{place}]: arguments are no JSON object"
            if not item["id"] or item["id"] in expected:
                return f"messages[{place}]: a tool call has no id of its own"
            expected.append(item["id"])
    return f"tool calls without result: {expected}" if expected else None


def _in_turn(script: Iterable[Reply]) -> Callable[[Request], Reply]:
    replies = iter(script)
    return lambda _: next(replies, Status(500, {"error": {"message": "the script of the fake server has ended"}}))


async def _read(stream: SocketStream, buffer: bytes, connection: int) -> tuple[Request, bytes]:
    while b"\r\n\r\n" not in buffer:
        buffer += await stream.receive()
    head, _, buffer = buffer.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    method, target, _ = first.split(" ")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    size = int(headers.get("content-length", "0"))
    while len(buffer) < size:
        buffer += await stream.receive()
    return Request(method, target, headers, buffer[:size], connection), buffer[size:]


async def _send_status(stream: SocketStream, reply: Status) -> None:
    body = json.dumps(reply.body).encode() if isinstance(reply.body, dict) else reply.body
    body = body.encode() if isinstance(body, str) else body
    headers = {"content-type": "application/json", **reply.headers, "content-length": str(len(body))}
    head = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    await stream.send(f"HTTP/1.1 {reply.code} Status\r\n{head}\r\n".encode() + body)


async def _repeat(stream: SocketStream, seconds: float, piece: bytes) -> None:
    with suppress(anyio.BrokenResourceError):  # the client went; what is sent next says so
        while True:
            await stream.send(_chunk(piece))
            await anyio.sleep(seconds)


def _chunk(piece: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(piece), piece)


@asynccontextmanager
async def serve(
    script: Script,
    *,
    strict: bool = False,
    models: Sequence[str] = ("test-model",),
    port: int = 0,
    tls: ssl.SSLContext | None = None,
) -> AsyncIterator[OpenAIServer]:
    server = OpenAIServer(script, strict=strict, models=models)
    async with await anyio.create_tcp_listener(local_host="127.0.0.1", local_port=port) as plain:
        server.port = plain.extra(SocketAttribute.local_port)
        server.scheme = "https" if tls else "http"
        listener = TLSListener(plain, tls) if tls else plain
        failed: Exception | None = None
        async with anyio.create_task_group() as group:
            group.start_soon(listener.serve, server.handle)
            try:
                yield server
            except Exception as error:  # a test's own failure is shown as it is, in no group
                failed = error
            group.cancel_scope.cancel()
        if failed is not None:
            raise failed


def parse_script(items: list[dict[str, Any]]) -> Callable[[Request], Reply]:
    """The JSON form of a script, see above."""
    replies = [_parsed(item) for item in items]
    repeated = bool(items) and bool(items[-1].get("repeat"))
    rest = iter(replies)
    ended = Status(500, {"error": {"message": "the script of the fake server has ended"}})
    return lambda _: next(rest, replies[-1] if repeated else ended)


def _parsed(item: dict[str, Any]) -> Reply:
    if "status" in item:
        return Status(item["status"], item.get("body", b""), item.get("headers", {}))
    if "events" in item:
        return Answer([_event(event) for event in item["events"]], item.get("contentType", "text/event-stream"))
    calls = item.get("calls", [])
    groups: list[Iterable[Event]] = []
    if "reasoning" in item:
        groups.append([C({"reasoning_content": item["reasoning"]})])
    groups.append(text(item.get("text", ""), item.get("deltas", 1)))
    for index, made in enumerate(calls):
        call_id = made.get("id", f"call_{index + 1}")
        groups.append(call(made["name"], made.get("arguments", {}), call_id=call_id, index=index))
    return answer(*groups, finish=item.get("finish", "tool_calls" if calls else "stop"))


def _event(event: Any) -> Event:
    match event:
        case "done":
            return DONE
        case "reset":
            return Reset()
        case "hang":
            return Hang()
        case {"delta": delta}:
            return C(delta)
        case {"finish": reason}:
            return F(reason)
        case {"usage": counts}:
            return usage(counts)
        case {"raw": raw}:
            return raw.encode()
        case {"gate": name}:
            return Gate(name)
    raise ValueError(f"no such event in a script: {event!r}")


async def _main(options: argparse.Namespace) -> None:
    script = parse_script(json.loads(Path(options.script).read_text(encoding="utf-8")))

    def log(request: Request) -> None:
        with Path(options.log).open("a", encoding="utf-8") as file:
            line = {"target": request.target, "headers": request.headers, "body": request.body.decode()}
            file.write(json.dumps(line) + "\n")

    async with serve(script, strict=options.strict, port=options.port) as server:
        if options.log:
            server.on_request = log
        print(server.url, flush=True)
        await anyio.sleep_forever()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="A scripted OpenAI-compatible server")
    parser.add_argument("--script", required=True)
    parser.add_argument("--log")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--strict", action="store_true")
    anyio.run(_main, parser.parse_args())
