"""A server as a child of ours, and the JSON-RPC that is spoken with it."""

import json
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Self, cast

import anyio
from anyio.abc import Process

from agentls.lsp.frames import FrameCutter, frame

COMMAND = (sys.executable, "-P", "-m", "agentls", "--stdio")  # -P: a folder of that name in here is not the program
_CLOSING = 6.0
_LAST_WORDS = 4096

Members = dict[str, Any]
Then = Callable[[Members], None]


class RefusedError(Exception):
    """The server answered with an error; `str` of it is for the person."""

    def __init__(self, error: Members) -> None:
        super().__init__(str(error.get("message") or "the server refused it"))
        self.kind = str(cast("Members", error.get("data") or {}).get("kind", ""))


class GoneError(Exception):
    """The server ended before it answered."""


@dataclass(slots=True)
class _Waiting:
    then: Then | None
    done: anyio.Event = field(default_factory=anyio.Event)
    answer: Members | None = None


class Connection:
    """`hears` gets every notification, in order, and before whatever comes after it."""

    def __init__(self, process: Process, hears: Callable[[str, Members], None]) -> None:
        self._process = process
        self._hears = hears
        self._waiting: dict[int, _Waiting] = {}
        self._last_id = 0
        self._writing = anyio.Lock()
        self._gone = False
        self._said = b""

    @classmethod
    async def open(cls, hears: Callable[[str, Members], None]) -> Self:
        """In a session of its own: a Ctrl-C at the terminal is ours."""
        return cls(await anyio.open_process(COMMAND, start_new_session=True), hears)

    @property
    def last_words(self) -> str:
        """What it said of its end."""
        rows = self._said.decode(errors="replace").strip().splitlines()
        return rows[-1] if rows else ""

    @property
    def code(self) -> int | None:
        return self._process.returncode

    async def read(self) -> None:
        """Until the server is gone; whoever still waits for an answer is told so."""
        try:
            async with anyio.create_task_group() as group:
                group.start_soon(self._read_errors)
                await self._read_messages()
                await self._process.wait()
        finally:
            self._gone = True
            for waiting in self._waiting.values():
                waiting.done.set()

    async def request(self, method: str, params: Members, then: Then | None = None) -> Members:
        """`then` is called with the result before any later notification is heard.

        Raises `RefusedError`, and `GoneError` where the server ends before.
        """
        self._last_id += 1
        number, waiting = self._last_id, _Waiting(then)
        self._waiting[number] = waiting
        try:
            await self._send({"id": number, "method": method, "params": params})
            if not self._gone:
                await waiting.done.wait()
        finally:
            del self._waiting[number]
        if waiting.answer is None:
            raise GoneError
        if "error" in waiting.answer:
            raise RefusedError(waiting.answer["error"])
        return waiting.answer["result"] or {}

    async def notify(self, method: str) -> None:
        await self._send({"method": method, "params": {}})

    async def close(self) -> None:
        """The end of its input is the sign: what runs is ended and stored. A server that does not go is killed."""
        with anyio.CancelScope(shield=True):
            if self._process.stdin is not None:
                with suppress(OSError, anyio.BrokenResourceError, anyio.ClosedResourceError):
                    await self._process.stdin.aclose()
            with anyio.move_on_after(_CLOSING):
                await self._process.wait()
            if self._process.returncode is None:
                self._process.kill()
            await self._process.aclose()

    async def _send(self, message: Members) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}, ensure_ascii=False).encode("utf-8", "replace")
        stdin = self._process.stdin
        if stdin is None or self._gone:
            raise GoneError
        async with self._writing:
            try:
                await stdin.send(frame(body))
            except (OSError, anyio.BrokenResourceError, anyio.ClosedResourceError) as error:
                raise GoneError from error

    async def _read_messages(self) -> None:
        cutter = FrameCutter()
        if self._process.stdout is None:
            return
        with suppress(anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError):
            async for data in self._process.stdout:
                for body in cutter.feed(data):
                    if isinstance(body, bytes):
                        await self._take(json.loads(body))

    async def _take(self, message: Members) -> None:
        number = message.get("id")
        if "method" not in message:
            waiting = self._waiting.get(number) if isinstance(number, int) else None
            if waiting is not None:
                waiting.answer = message
                if waiting.then is not None and "result" in message:
                    waiting.then(message["result"])
                waiting.done.set()
        elif number is None:
            self._hears(message["method"], message.get("params") or {})
        else:
            error = {"code": -32601, "message": f"this client has no {message['method']}"}
            with suppress(GoneError):
                await self._send({"id": number, "error": error})

    async def _read_errors(self) -> None:
        if self._process.stderr is None:
            return
        with suppress(anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError):
            async for data in self._process.stderr:
                self._said = (self._said + data)[-_LAST_WORDS:]
