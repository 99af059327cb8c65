"""A client that speaks in bytes: what it sends and sees is the wire and nothing else."""

import asyncio
import json
import signal
import time
from collections.abc import Awaitable, Callable
from typing import Any

Message = dict[str, Any]
Where = Callable[[Message], bool]
SECONDS = 15


class RpcError(Exception):
    """The server answered with an error."""

    def __init__(self, error: Message) -> None:
        super().__init__(json.dumps(error))
        self.code: int = error["code"]
        self.message: str = error["message"]
        self.data: Message = error.get("data", {})

    @property
    def kind(self) -> str:
        return self.data.get("kind", "")


def framed(message: object) -> bytes:
    body = message if isinstance(message, bytes) else json.dumps(message).encode()
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)


def anything(_: Message) -> bool:
    return True


class Client:
    """`log` holds every message that came, in order, `times` when. Waiting looks at those from `after` on, also at
    earlier ones.
    """

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        self.log: list[Message] = []
        self.times: list[float] = []
        self.answers: dict[str, Callable[[Message], Awaitable[Any]]] = {}
        self.broken: str | None = None
        self.errors = b""
        self.ended = asyncio.Event()
        self._arrived = asyncio.Event()
        self._responses: dict[Any, Message] = {}
        self.sent: dict[Any, str] = {}
        self._next_id = 0
        self._reading = asyncio.Event()
        self._reading.set()
        self._tasks = {asyncio.create_task(self._read()), asyncio.create_task(self._read_errors())}

    # -- out

    def raw(self, data: bytes) -> None:
        assert self.process.stdin
        self.process.stdin.write(data)

    def send(self, method: str, params: object = None) -> int:
        """A request; its id."""
        self._next_id += 1
        message: Message = {"jsonrpc": "2.0", "id": self._next_id, "method": method}
        if params is not None:
            message["params"] = params
        self.sent[self._next_id] = method
        self.raw(framed(message))
        return self._next_id

    def notify(self, method: str, params: object = None) -> None:
        self.raw(framed({"jsonrpc": "2.0", "method": method, "params": params or {}}))

    async def request(self, method: str, params: object = None, seconds: float = SECONDS) -> Any:
        return await self.answer(self.send(method, params), seconds)

    async def refused(self, method: str, params: object = None) -> RpcError:
        """The error that the request is answered with."""
        try:
            result = await self.request(method, params)
        except RpcError as error:
            return error
        raise AssertionError(f"{method} was not refused: {result}")

    # -- in

    async def answer(self, request_id: object, seconds: float = SECONDS) -> Any:
        response = await self.response(request_id, seconds)
        if "error" in response:
            raise RpcError(response["error"])
        return response["result"]

    async def response(self, request_id: object, seconds: float = SECONDS) -> Message:
        await self._until(lambda: request_id in self._responses, seconds, f"the answer to {request_id!r}")
        return self._responses[request_id]

    def mark(self) -> int:
        """Where the log stands: `after=mark` waits for what comes from here on."""
        return len(self.log)

    async def wait_for(
        self, method: str, where: Where = anything, *, after: int = 0, seconds: float = SECONDS, **members: Any
    ) -> Message:
        """The params of the first notification, or request, of that method that fits."""
        place = after

        def found() -> bool:
            nonlocal place
            while place < len(self.log):
                if self._fits(self.log[place], method, where, members):
                    return True
                place += 1
            return False

        await self._until(found, seconds, f"{method} {members}")
        return self.log[place]["params"]

    def seen(self, method: str, where: Where = anything, *, after: int = 0, **members: Any) -> list[Message]:
        """The params of all of that method so far."""
        return [message["params"] for message in self.log[after:] if self._fits(message, method, where, members)]

    def place_of(self, params: Message) -> int:
        return next(place for place, message in enumerate(self.log) if message.get("params") is params)

    @staticmethod
    def _fits(message: Message, method: str, where: Where, members: Message) -> bool:
        if message.get("method") != method:
            return False
        params = message.get("params", {})
        return all(params.get(name) == value for name, value in members.items()) and where(params)

    async def _until(self, true: Callable[[], bool], seconds: float, what: str) -> None:
        try:
            async with asyncio.timeout(seconds):
                while not true():
                    if self.ended.is_set():
                        raise AssertionError(
                            f"the output ended before {what}; {self.broken or ''}\n{self.errors.decode()}{self.tail()}"
                        )
                    self._arrived.clear()
                    await self._arrived.wait()
        except TimeoutError:
            raise AssertionError(f"no {what} within {seconds} s\n{self.tail()}") from None

    def tail(self, count: int = 12) -> str:
        lines = (json.dumps(message, ensure_ascii=False)[:400] for message in self.log[-count:])
        return "the last messages:\n" + "\n".join(lines)

    # -- life

    async def initialize(self, options: Message | None, **params: Any) -> Message:
        full: Message = {"processId": None, "rootUri": None, "capabilities": {}} | params
        if options is not None:
            full["initializationOptions"] = {"agentls": options}
        result = await self.request("initialize", full)
        self.notify("initialized")
        return result

    async def shut_down(self) -> int:
        """As an editor does it; the exit code."""
        await self.request("shutdown")
        self.notify("exit")
        return await self.gone()

    async def gone(self, seconds: float = SECONDS) -> int:
        async with asyncio.timeout(seconds):
            code = await self.process.wait()
            await self.ended.wait()
        return code

    async def kill(self) -> None:
        """`kill -9`, and everything that it had written is read."""
        self.process.send_signal(signal.SIGKILL)
        await self.gone()

    async def close(self) -> None:
        if self.process.returncode is None:
            self.process.kill()
            await self.process.wait()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def pause(self) -> None:
        """Reads no more from the pipe."""
        self._reading.clear()
        self._transport().pause_reading()

    def go_on(self) -> None:
        self._transport().resume_reading()
        self._reading.set()

    def _transport(self) -> asyncio.ReadTransport:
        transport = self.process._transport.get_pipe_transport(1)
        assert isinstance(transport, asyncio.ReadTransport)
        return transport

    async def _read(self) -> None:
        assert self.process.stdout
        try:
            while (body := await self._frame(self.process.stdout)) is not None:
                self._take(json.loads(body.decode("utf-8", "strict")))
        except (ValueError, asyncio.IncompleteReadError) as error:
            self.broken = f"not a frame: {error}"
        finally:
            self.ended.set()
            self._arrived.set()

    async def _frame(self, stream: asyncio.StreamReader) -> bytes | None:
        await self._reading.wait()
        try:
            head = await stream.readuntil(b"\r\n\r\n")
        except asyncio.IncompleteReadError as error:
            if error.partial:
                raise
            return None
        name, _, size = head.strip().partition(b": ")
        if name != b"Content-Length":
            raise ValueError(head)
        return await stream.readexactly(int(size))

    def _take(self, message: Message) -> None:
        self.log.append(message)
        self.times.append(time.monotonic())
        if "method" not in message:
            self._responses[message["id"]] = message
        elif "id" in message:
            task = asyncio.create_task(self._serve(message))
            self._tasks.add(task)
        self._arrived.set()

    async def _serve(self, request: Message) -> None:
        """What the server asks of the client."""
        answer = self.answers.get(request["method"])
        reply: Message = {"jsonrpc": "2.0", "id": request["id"]}
        if answer is None:
            error = {"code": -32601, "message": f"the client has no {request['method']}"}
            self.raw(framed(reply | {"error": error}))
            return
        self.raw(framed(reply | {"result": await answer(request.get("params", {}))}))

    async def _read_errors(self) -> None:
        assert self.process.stderr
        while piece := await self.process.stderr.read(1 << 16):
            self.errors = (self.errors + piece)[-4_000:]
