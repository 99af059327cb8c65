"""A client that speaks in bytes, so that nothing between it and the server mends a fault."""

import json
import os
import queue
import select
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

SERVED = Path(__file__).with_name("served.py")
OPTIONS = {"protocolVersion": 1, "clientId": "tests"}


def framed(message: object) -> bytes:
    body = message if isinstance(message, bytes) else json.dumps(message).encode()
    return b"Content-Length: %d\r\n\r\n" % len(body) + body


class RawClient:
    def __init__(self, folder: Path, command: list[str] | None = None) -> None:
        marks_file = folder / "marks"
        os.mkfifo(marks_file)
        self._marks = os.open(marks_file, os.O_RDWR | os.O_NONBLOCK)  # also to write: so it never ends
        self._marked = b""
        self.log_file = folder / "log"
        self.process = subprocess.Popen(
            command or [sys.executable, str(SERVED), str(marks_file), str(self.log_file)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self._arrived: queue.Queue[dict[str, Any] | None] = queue.Queue()
        self._reading = threading.Event()
        self._reading.set()
        self.seen: list[dict[str, Any]] = []
        self.broken: str | None = None
        self._next_id = 0
        threading.Thread(target=self._read, daemon=True).start()

    def pause(self) -> None:
        self._reading.clear()

    def resume(self) -> None:
        self._reading.set()

    def raw(self, data: bytes) -> None:
        assert self.process.stdin
        view = memoryview(data)
        while view:
            view = view[os.write(self.process.stdin.fileno(), view) :]

    def send(self, *messages: object) -> None:
        self.raw(b"".join(framed(message) for message in messages))

    def notify(self, method: str, params: object = None) -> None:
        self.send({"jsonrpc": "2.0", "method": method, "params": params or {}})

    def request(self, method: str, params: object = None) -> int:
        """Sends without waiting; returns the id."""
        self._next_id += 1
        message: dict[str, Any] = {"jsonrpc": "2.0", "id": self._next_id, "method": method}
        if params is not None:
            message["params"] = params
        self.send(message)
        return self._next_id

    def call(self, method: str, params: object = None, seconds: float = 10) -> dict[str, Any]:
        """The whole response."""
        return self.answer(self.request(method, params), seconds)

    def result(self, method: str, params: object = None, seconds: float = 10) -> Any:
        response = self.call(method, params, seconds)
        assert "result" in response, response
        return response["result"]

    def error(self, method: str, params: object = None) -> dict[str, Any]:
        response = self.call(method, params)
        assert "error" in response, response
        return response["error"]

    def answer(self, request_id: object, seconds: float = 10) -> dict[str, Any]:
        return self.until(lambda m: m.get("id", "no id") == request_id and "method" not in m, seconds)

    def notification(self, method: str, seconds: float = 10) -> dict[str, Any]:
        return self.until(lambda m: m.get("method") == method, seconds)

    def until(self, wanted: Any, seconds: float = 10) -> dict[str, Any]:
        """The first message that fits, of those that were not handed out yet; those before it stay in `seen`."""
        deadline = time.monotonic() + seconds
        for message in self.seen:
            if not message.get("taken") and wanted(message):
                message["taken"] = True
                return message
        while True:
            try:
                message = self._arrived.get(timeout=max(0.001, deadline - time.monotonic()))
            except queue.Empty:
                raise AssertionError(f"nothing of the kind in {seconds} s; seen: {self.seen[-5:]}") from None
            assert message is not None, f"the output ended; {self.broken}; seen: {self.seen[-5:]}"
            self.seen.append(message)
            if wanted(message):
                message["taken"] = True
                return message

    def initialize(self, options: object = OPTIONS, **params: Any) -> dict[str, Any]:
        full: dict[str, Any] = {"processId": None, "rootUri": None, "capabilities": {}} | params
        if options is not None:
            full["initializationOptions"] = {"agentls": options}
        result = self.result("initialize", full)
        self.notify("initialized")
        return result

    def order(self) -> list[str]:
        """Methods and ids of what was seen, in order."""
        return [str(m["method"]) if "method" in m else f"#{m.get('id')}" for m in self.seen]

    def marks(self) -> list[str]:
        """What the program marked so far."""
        with suppress(BlockingIOError):
            while data := os.read(self._marks, 1 << 16):
                self._marked += data
        return self._marked.decode().splitlines()

    def wait_mark(self, text: str, seconds: float = 10) -> None:
        deadline = time.monotonic() + seconds
        while text not in (marks := self.marks()):
            ready, _, _ = select.select([self._marks], [], [], max(0, deadline - time.monotonic()))
            assert ready, f"no mark {text!r} in {marks}"

    def ended(self, seconds: float = 5) -> int:
        return self.process.wait(seconds)

    def close_input(self) -> None:
        assert self.process.stdin
        self.process.stdin.close()

    def close_output(self) -> None:
        """Only while paused: the descriptor's number may be another pipe's at once."""
        assert self.process.stdout
        assert not self._reading.is_set()
        self.process.stdout.close()

    def kill(self) -> None:
        self.resume()
        self.process.kill()
        self.process.wait()
        if self._marks >= 0:
            os.close(self._marks)
            self._marks = -1

    def _read(self) -> None:
        assert self.process.stdout
        descriptor, buffer = self.process.stdout.fileno(), bytearray()
        while True:
            self._reading.wait()
            if self.process.stdout.closed:
                return
            try:
                data = os.read(descriptor, 1 << 16)
            except OSError:
                data = b""
            if not data:
                self._arrived.put(None)
                return
            buffer += data
            start = 0
            while (end := buffer.find(b"\r\n\r\n", start)) >= 0:
                if not buffer.startswith(b"Content-Length: ", start):
                    self.broken = f"not a frame: {buffer[start : start + 200]!r}"
                    self._arrived.put(None)
                    return
                size = int(buffer[start + 16 : end])
                if len(buffer) < end + 4 + size:
                    break
                start = end + 4 + size
                self._arrived.put(json.loads(buffer[end + 4 : start].decode("utf-8", "strict")))
            del buffer[:start]
