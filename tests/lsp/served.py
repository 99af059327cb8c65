"""A program that serves the transport with methods of its own: what the tests of this folder start."""

import asyncio
import faulthandler
import logging
import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import anyio
from pydantic import ConfigDict, Field

from agentls.bus import Bus
from agentls.errors import AgentError, ErrorKind
from agentls.lsp.handling import Beside, Caller, Routes, handles
from agentls.lsp.language import agent_server
from agentls.lsp.notifications import Outlet
from agentls.lsp.serving import Engine, Spawn, serve_connection
from agentls.lsp.stdio import claim_stdio
from agentls.protocol.methods import ABORT, PERMISSION_REPLY
from agentls.protocol.params import NoParams, Params
from agentls.protocol.permission import PermissionReplyParams
from agentls.protocol.registry import Request
from agentls.protocol.session import AbortParams, AbortResult
from agentls.schema.base import Raw, Value
from agentls.schema.event import Changed, Delta, Noticed, Scope, StatusChanged
from agentls.schema.session import PlainStatus, Position


class AnyParams(Params):
    model_config = ConfigDict(extra="allow")


class EchoResult(Value):
    got: dict[str, Any]


class Nested(Params):
    value: int = 7


class StrictParams(Params):
    count: int
    inner: Nested = Field(default_factory=Nested)


class DeedParams(Params):
    session_id: str = "ses_1"
    name: str = ""
    count: int = 0
    size: int = 0
    seconds: float = 0


class Answer(Value):
    text: str = ""
    number: float = 0


def row(name: str, params: type[Any], result: type[Any]) -> Request[Any, Any]:
    return Request(name, params, result, "A method of the tests.")


class Program:
    """The stand-in for the engine."""

    def __init__(self, marks: Path) -> None:
        self.bus = Bus()
        self.marks = marks
        self.gate = asyncio.Event()
        self.parts: dict[str, list[str]] = {}
        self.close_seconds = 0.0
        self.rev = 0

    def mark(self, text: str) -> None:
        with self.marks.open("w") as file:
            file.write(text + "\n")

    async def close(self) -> None:
        await asyncio.sleep(self.close_seconds)
        self.mark("closed")

    def part(self, session_id: str, part_id: str) -> Raw:
        return Raw(
            Answer(text="".join(self.parts.get(part_id, ()))).wire().replace(b'{"text"', b'{"part":{"text"') + b"}"
        )

    def position(self, session_id: str) -> Position:
        if session_id == "ses_gone":
            raise AgentError(ErrorKind.SESSION_NOT_FOUND, "gone")
        return Position(epoch="e", seq=99)

    def changed(self, scope: Scope, seq: int, method: str, kind: Any = "part", row_id: str = "prt_1") -> None:
        self.bus.publish(Changed(scope, seq, kind, row_id, method, b'"mark":true'))

    def delta(self, scope: Scope, text: str, part_id: str = "prt_1", field: Any = "text") -> None:
        self.rev += 1
        self.parts.setdefault(part_id, []).append(text)
        self.bus.publish(Delta(scope, "msg_1", part_id, field, self.rev - 1, self.rev, text))


Of = Caller[Program]


@handles(row("test/echo", AnyParams, EchoResult))
async def echo(caller: Of, params: AnyParams) -> EchoResult:
    return EchoResult(got=params.model_extra or {})


@handles(row("test/strict", StrictParams, Answer))
async def strict(caller: Of, params: StrictParams) -> Answer:
    return Answer(number=params.count + params.inner.value)


@handles(row("test/attach", DeedParams, Answer))
async def attach(caller: Of, params: DeedParams) -> Answer:
    caller.attach(params.session_id)
    caller.flush(params.session_id)
    return Answer()


@handles(row("test/block", DeedParams, Answer))
async def block(caller: Of, params: DeedParams) -> Answer:
    caller.app.mark(f"block {params.name}")
    try:
        await caller.app.gate.wait()
    finally:
        caller.app.mark(f"unblock {params.name}")
    return Answer()


@handles(row("test/idle", DeedParams, Answer))
async def idle(caller: Of, params: DeedParams) -> Answer:
    caller.app.changed(Scope("ses_1", "ses_1", "/"), 5, "session/updated", "session", "ses_1")
    caller.step_aside()
    caller.app.mark(f"idle {params.name}")
    await caller.app.gate.wait()
    return Answer()


@handles(row("test/open", NoParams, Answer))
async def open_gate(caller: Of, params: NoParams) -> Answer:
    caller.app.gate.set()
    return Answer()


@handles(row("test/raise", DeedParams, Answer))
async def fail(caller: Of, params: DeedParams) -> Answer:
    if params.name:
        raise AgentError(ErrorKind(params.name), "one line\nand more", {"pid": 7})
    raise RuntimeError("secret /etc/shadow")


@handles(row("test/print", NoParams, Answer))
async def prints(caller: Of, params: NoParams) -> Answer:
    print("printed", flush=True)
    sys.stdout.write("x" * 10_000)
    os.write(1, b"from below Python\n")
    subprocess.run(["sh", "-c", "echo child"], check=True)
    faulthandler.dump_traceback(file=sys.stdout)
    return Answer(text=sys.stdin.read())


@handles(row("test/causes", DeedParams, Answer))
async def causes(caller: Of, params: DeedParams) -> Answer:
    """Publishes itself, from a task that it starts, and while it waits."""
    scope = Scope(params.session_id, params.session_id, "/")
    caller.attach(params.session_id)
    caller.app.changed(scope, 1, "part/updated")
    child = asyncio.create_task(_later(caller.app, scope))
    await child
    caller.app.changed(scope, 3, "part/updated")
    return Answer(text="answered")


async def _later(app: Program, scope: Scope) -> None:
    await asyncio.sleep(0)
    app.changed(scope, 2, "part/updated")


@handles(row("test/flood", DeedParams, Answer))
async def flood(caller: Of, params: DeedParams) -> Answer:
    scope = Scope(params.session_id, params.session_id, "/")
    caller.step_aside()
    began = time.perf_counter()
    for _ in range(params.count):
        caller.app.delta(scope, "x" * params.size)
    return Answer(number=time.perf_counter() - began)


@handles(row("test/events", DeedParams, Answer))
async def events(caller: Of, params: DeedParams) -> Answer:
    scope = Scope(params.session_id, params.session_id, "/")
    caller.step_aside()
    for number in range(params.count):
        text = b'"text":"%b"' % (b"z" * params.size)
        caller.app.bus.publish(Changed(scope, number, "part", f"prt_{number}", "part/updated", text))
    caller.app.mark("events")
    return Answer()


@handles(row("test/stream", DeedParams, Answer))
async def stream(caller: Of, params: DeedParams) -> Answer:
    """As a model does: many deltas, the loop free in between, then the whole part and the end of the turn."""
    scope = Scope(params.session_id, params.session_id, "/")
    caller.step_aside()
    for _ in range(params.count):
        caller.app.delta(scope, params.name or "y" * params.size)
        await asyncio.sleep(params.seconds)
    caller.app.changed(scope, 10, "part/updated")
    caller.app.bus.publish(StatusChanged(scope, PlainStatus(type="idle"), None))
    return Answer()


@handles(row("test/threads", DeedParams, Answer))
async def threads(caller: Of, params: DeedParams) -> Answer:
    """Two threads publish by way of the loop, as anything outside it must."""
    loop = asyncio.get_running_loop()
    caller.step_aside()

    def publish(name: str) -> None:
        for number in range(params.count):
            loop.call_soon_threadsafe(caller.app.bus.publish, Noticed("info", f"{name} {number}"))

    running = [threading.Thread(target=publish, args=(name,)) for name in ("a", "b")]
    for thread in running:
        thread.start()
    for thread in running:
        await anyio.to_thread.run_sync(thread.join)
    return Answer()


@handles(row("test/lag", DeedParams, Answer))
async def lag(caller: Of, params: DeedParams) -> Answer:
    """The longest that the loop was held up."""
    most, loop = 0.0, asyncio.get_running_loop()
    end = loop.time() + params.seconds
    while loop.time() < end:
        began = loop.time()
        await asyncio.sleep(0.01)
        most = max(most, loop.time() - began - 0.01)
    caller.app.mark("lag")
    return Answer(number=most)


@handles(row("test/surrogate", NoParams, Answer))
async def surrogate(caller: Of, params: NoParams) -> Answer:
    scope = Scope("ses_1", "ses_1", "/")
    caller.app.delta(scope, "测试 🙂 \ud83d")
    caller.app.bus.publish(Noticed("info", "half \ud83d", "测试"))
    return Answer(text="end \ude00 测试 🙂")


@handles(row("test/configure", DeedParams, Answer))
async def configure(caller: Of, params: DeedParams) -> Answer:
    caller.app.close_seconds = params.seconds
    return Answer()


@handles(ABORT)
async def abort(caller: Of, params: AbortParams) -> AbortResult:
    caller.step_aside()
    caller.app.mark("abort")
    return AbortResult(aborted=True)


@handles(PERMISSION_REPLY)
async def reply(caller: Of, params: PermissionReplyParams) -> Raw:
    return Raw(b'{"status":"accepted"}')


HANDLERS = (
    echo,
    strict,
    attach,
    block,
    idle,
    open_gate,
    fail,
    prints,
    causes,
    flood,
    events,
    stream,
    threads,
    lag,
    surrogate,
    configure,
    abort,
    reply,
)


async def main(marks: Path) -> int:
    descriptor_in, descriptor_out = claim_stdio()
    program = Program(marks)
    server = agent_server("1")

    async def command(*_: object) -> str:
        program.mark("command begins")
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            program.mark("command cancelled")
            raise
        return "done"

    def extend(outlet: Outlet, spawn: Spawn) -> Beside[Program]:
        async def publish(*_: object) -> None:
            program.changed(Scope("ses_1", "ses_1", "/"), 1, "session/updated", "session", "ses_1")

        server.command("test.sleep")(command)
        server.command("test.publish")(publish)
        return Beside()

    def connect(options: object) -> None:
        program.mark(f"connect {options is not None}")

    engine = Engine(
        program, Routes(HANDLERS), server, program.bus, program.part, program.position, connect, extend, program.close
    )
    return await serve_connection(engine, descriptor_in, descriptor_out)


if __name__ == "__main__":
    logging.basicConfig(filename=sys.argv[2], level=logging.INFO)
    sys.exit(asyncio.run(main(Path(sys.argv[1]))))
