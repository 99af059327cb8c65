"""Runs shell commands: no terminal, bounded output, and nothing left of them afterwards."""

import math
import os
import shutil
import subprocess
from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import anyio
from anyio import to_thread
from anyio.abc import Process

from agentls.errors import ToolError
from agentls.schema.ids import Prefix, new
from agentls.workspace.capture import Capture, Live
from agentls.workspace.environment import CALL_MARK, child_environment
from agentls.workspace.tree import Ended, Mark, end
from agentls.workspace.watchdog import Watchdog

_BLOCK = 64 * 1024
_TICK = 0.05  # live output at most 20 times a second
_GRACE = 0.1  # for the last output, once the shell has ended
_FLOOD = 256 * 1024 * 1024
_ENDING = 5


@dataclass(frozen=True, slots=True)
class Finished:
    """How a command ended. `ended` are the processes that outlived the shell and were ended with it.

    `exit_code` is negative for a signal. `flooded`: it was stopped because it printed too much.
    """

    exit_code: int | None
    output: str
    total: int
    dropped: int
    timed_out: bool
    flooded: bool
    ended: tuple[Ended, ...]


@dataclass(slots=True)
class _Call:
    """One running command."""

    process: Process
    pipe: int
    mark: Mark
    live: Live
    capture: Capture = field(default_factory=Capture)
    closed: anyio.Event = field(default_factory=anyio.Event)
    flooded: bool = False
    ended: tuple[Ended, ...] = ()


class Shell:
    """A fresh, non-interactive shell for each command. `keep` names variables to pass on though they look secret."""

    def __init__(self, watchdog: Watchdog, *, keep: Collection[str] = (), program: str | None = None) -> None:
        self._watchdog = watchdog
        self._keep = frozenset(keep)
        self.program = program or shutil.which("bash") or "/bin/sh"

    async def run(
        self,
        command: str,
        *,
        cwd: Path,
        timeout: float = math.inf,
        output: Callable[[str], None] = lambda _: None,
        arguments: Collection[str] = (),
    ) -> Finished:
        """Runs a command to its end. `timeout` is in seconds; `arguments` become `$0`, `$1` and so on.

        Returns when the shell has ended: what it left in the background is ended too. So it is on a timeout, on
        cancellation, and on any error.
        """
        await self._watchdog.start()
        call = await self._start(command, cwd, output, arguments)
        timed_out = False
        try:
            with anyio.move_on_after(timeout) as limit:
                await _follow(call)
            timed_out = limit.cancelled_caught
        finally:
            with anyio.CancelScope(shield=True):
                await _finish(call)
        text = await to_thread.run_sync(call.capture.text)
        code = call.process.returncode
        capture = call.capture
        return Finished(code, text, capture.total, capture.dropped, timed_out, call.flooded, call.ended)

    async def _start(self, command: str, cwd: Path, output: Callable[[str], None], arguments: Collection[str]) -> _Call:
        name = new(Prefix.CALL)
        environment = child_environment(os.environ, instance=self._watchdog.instance_id, call=name, keep=self._keep)
        read_end, write_end = os.pipe()
        try:
            os.set_blocking(read_end, False)
            process = await _open([self.program, "-c", "--", command, *arguments], write_end, cwd, environment)
        except (OSError, ValueError) as error:
            os.close(read_end)
            raise _not_started(error, cwd) from error
        finally:
            os.close(write_end)
        return _Call(process, read_end, Mark(CALL_MARK, name, process.pid), Live(output))


async def _open(arguments: list[str], write_end: int, cwd: Path, environment: dict[str, str]) -> Process:
    with anyio.CancelScope(shield=True):  # once it is started, it has to be known
        return await anyio.open_process(
            arguments,
            stdin=subprocess.DEVNULL,
            stdout=write_end,
            stderr=write_end,
            cwd=cwd,
            env=environment,
            start_new_session=True,
        )
    raise AssertionError  # a shield swallows nothing


async def _follow(call: _Call) -> None:
    """Until the shell has ended, and a moment more for what is still in the pipe."""
    async with anyio.create_task_group() as group:

        async def pump() -> None:
            await _pump(call)
            if call.flooded:
                group.cancel_scope.cancel()

        group.start_soon(pump)
        group.start_soon(_tick, call.live)
        await call.process.wait()
        with anyio.move_on_after(_GRACE):
            await call.closed.wait()
        group.cancel_scope.cancel()


async def _pump(call: _Call) -> None:
    while not call.flooded:
        await anyio.wait_readable(call.pipe)
        if not _take(call):
            call.closed.set()
            return
        call.flooded = call.capture.total > _FLOOD


def _take(call: _Call) -> bool:
    """One block from the pipe; False at its end."""
    try:
        chunk = os.read(call.pipe, _BLOCK)
    except BlockingIOError:
        return True
    if not chunk:
        return False
    call.capture.feed(chunk)
    call.live.feed(chunk)
    return True


async def _tick(live: Live) -> None:
    while True:
        await anyio.sleep(_TICK)
        live.flush()


async def _finish(call: _Call) -> None:
    """Ends what still lives, reaps the shell, takes the last output."""
    try:
        running = call.process.returncode is None
        call.ended = await to_thread.run_sync(lambda: end(call.mark, urgent=running))
        with anyio.move_on_after(_ENDING):
            await call.process.wait()
        await call.process.aclose()
        for _ in range(_BLOCK // 4096):
            before = call.capture.total
            if not _take(call) or call.capture.total == before:
                break
        call.live.flush(final=True)
    finally:
        with suppress(OSError):
            os.close(call.pipe)


def _not_started(error: OSError | ValueError, cwd: Path) -> ToolError:
    match error:
        case FileNotFoundError() | NotADirectoryError():
            return ToolError(f"The command was not started: there is no folder {cwd}, or no shell.")
        case OSError():
            return ToolError(
                f"The command was not started: {error.strerror}. If it is very long, write it to a script file first."
            )
        case _:
            return ToolError("The command was not started: it holds a character that no command can have.")
