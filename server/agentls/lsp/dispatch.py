"""Runs requests as tasks: places, waiting, cancelling, and what becomes of their errors."""

import asyncio
import contextvars
import logging
import sqlite3
from collections import deque
from collections.abc import Awaitable, Callable, Iterable
from typing import Any

from anyio import CancelScope
from cattrs import transform_error
from cattrs.errors import BaseValidationError
from pydantic import ValidationError

from agentls.errors import AgentError, ErrorKind
from agentls.lsp.encode import RequestId, failure, response
from agentls.lsp.order import EventGate, Hold, hold_events
from agentls.schema.ids import new_log_id

RUNNING_MOST = 64
WAITING_MOST = 4096
_RETRY_AFTER_MS = 1000
_LAST_SECONDS = 1.0

log = logging.getLogger(__name__)


class Call:
    """A request on its way. `run` gives what `encode` understands. `session_id` is that of its params, if any."""

    __slots__ = ("counted", "hold", "id", "run", "scope", "session_id", "task", "urgent")

    def __init__(
        self,
        request_id: RequestId,
        run: Callable[["Call"], Awaitable[object]],
        *,
        urgent: bool = False,
        session_id: object = None,
    ) -> None:
        self.id = request_id
        self.run = run
        self.urgent = urgent
        self.session_id = session_id
        self.scope = CancelScope()
        self.hold = Hold()
        self.counted = False
        self.task: asyncio.Task[None] | None = None


class Dispatcher:
    """At most `RUNNING_MOST` calls run, urgent ones beside them; `pressed` says that answers are not being read."""

    def __init__(
        self,
        tasks: asyncio.TaskGroup,
        gate: EventGate,
        send: Callable[[bytes], None],
        pressed: Callable[[], bool],
    ) -> None:
        self._tasks = tasks
        self._gate = gate
        self._send = send
        self._pressed = pressed
        self._calls: dict[RequestId, Call] = {}
        self._waiting: deque[Call] = deque()
        self._running = 0

    def knows(self, request_id: RequestId) -> bool:
        return request_id in self._calls

    def submit(self, call: Call) -> None:
        if call.urgent:
            self._start(call)
        elif self._pressed() or len(self._waiting) >= WAITING_MOST:
            data = {"retryAfterMs": _RETRY_AFTER_MS}
            error = AgentError(ErrorKind.OVERLOADED, "too many requests at once; try again", data, retryable=True)
            self._send(failure(call.id, error))
        elif self._running >= RUNNING_MOST:
            self._calls[call.id] = call
            self._waiting.append(call)
        else:
            self._start(call)

    def answer_now(self, request_id: RequestId, deed: Callable[[], object]) -> None:
        """Runs `deed` before anything that arrives later is looked at."""
        hold = Hold()
        context = contextvars.copy_context()
        context.run(hold_events, hold)
        try:
            body = response(request_id, context.run(deed))
        except AgentError as error:
            body = failure(request_id, error)
        except Exception:
            log_id = new_log_id()
            log.exception("internal error %s", log_id)
            body = failure(request_id, _internal(log_id))
        self._send(body)
        self._gate.release(hold)

    def hurry(self, session_id: object) -> None:
        """Starts what waits for a place in a session: an abort that comes later must find it there."""
        if session_id is None:
            return
        hurried = [call for call in self._waiting if call.session_id == session_id]
        for call in hurried:
            self._waiting.remove(call)
            self._start(call)

    def cancel(self, request_id: RequestId) -> None:
        call = self._calls.get(request_id)
        if call is None:
            return
        call.scope.cancel()
        if call.task is None:
            self._waiting.remove(call)
            self._finish(call, _cancelled(call.id))

    def step_aside(self, call: Call) -> None:
        """The call is going to wait: its events may go out before its answer, and its place is free for another."""
        self._gate.release(call.hold)
        self._leave_place(call)

    def refuse_waiting(self) -> None:
        while self._waiting:
            call = self._waiting.popleft()
            error = AgentError(ErrorKind.SHUTTING_DOWN, "the server is shutting down")
            self._finish(call, failure(call.id, error))

    async def finish(self, but: Call | None = None) -> None:
        """Cancels what still runs, and gives it a moment to answer."""
        for call in self._others(but):
            call.scope.cancel()
        tasks = [call.task for call in self._others(but) if call.task is not None]
        if tasks:
            await asyncio.wait(tasks, timeout=_LAST_SECONDS)

    def _others(self, but: Call | None) -> list[Call]:
        return [call for call in self._calls.values() if call is not but]

    def _start(self, call: Call) -> None:
        self._calls[call.id] = call
        if not call.urgent:
            call.counted = True
            self._running += 1
        call.task = self._tasks.create_task(self._work(call))

    async def _work(self, call: Call) -> None:
        hold_events(call.hold)
        body = b""
        with call.scope:
            body = await self._attempt(call)
        if call.scope.cancelled_caught or not body:
            body = _cancelled(call.id)
        self._finish(call, body)

    async def _attempt(self, call: Call) -> bytes:
        if call.scope.cancel_called:
            return _cancelled(call.id)
        try:
            return response(call.id, await call.run(call))
        except AgentError as error:
            return failure(call.id, error)
        except sqlite3.Error as error:
            log_id = new_log_id()
            log.exception("the store failed (%s)", log_id)
            return failure(call.id, _not_stored(error, log_id))
        except Exception:
            log_id = new_log_id()
            log.exception("internal error %s", log_id)
            return failure(call.id, _internal(log_id))

    def _finish(self, call: Call, body: bytes) -> None:
        self._calls.pop(call.id, None)
        self._send(body)
        self._gate.release(call.hold)
        self._leave_place(call)

    def _leave_place(self, call: Call) -> None:
        if not call.counted:
            return
        call.counted = False
        self._running -= 1
        if self._waiting and self._running < RUNNING_MOST:
            self._start(self._waiting.popleft())


def _cancelled(request_id: RequestId) -> bytes:
    return failure(request_id, AgentError(ErrorKind.CANCELLED, "the request was cancelled"))


def _not_stored(error: sqlite3.Error, log_id: str) -> AgentError:
    message = f"The sessions' database failed: {error}. See that its disk has room and may be written, then try again."
    return AgentError(ErrorKind.INTERNAL, message, {"logId": log_id}, retryable=True)


def _internal(log_id: str) -> AgentError:
    """The traceback is in the log; the client gets the number to find it by."""
    return AgentError(ErrorKind.INTERNAL, f"internal error {log_id}; the log tells more", {"logId": log_id})


def invalid_params(errors: Iterable[tuple[str, str]]) -> AgentError:
    """`errors` are pairs of a path within params, and what is wrong there."""
    listed = [{"path": path, "message": message} for path, message in errors]
    first = f"{listed[0]['path']}: {listed[0]['message']}" if listed and listed[0]["path"] else "see the errors"
    return AgentError(ErrorKind.INVALID_PARAMS, f"Invalid params: {first}", {"errors": listed})


def params_error(error: ValidationError) -> AgentError:
    items = error.errors(include_url=False, include_input=False, include_context=False)
    return invalid_params((".".join(map(str, item["loc"])), item["msg"]) for item in items)


def structured(structure: Callable[[Any], Any], params: Any) -> Any:
    """Params of a method of LSP. Whatever the converter raises is the params' fault."""
    try:
        return structure(params)
    except BaseValidationError as error:
        found = (str(text).rpartition(" @ $.") for text in transform_error(error))
        raise invalid_params((path, text or path) for text, _, path in found) from error
    except Exception as error:
        raise invalid_params([("", str(error) or type(error).__name__)]) from error


def notify_quietly(deed: Callable[[], object]) -> None:
    """A notification has no answer: what goes wrong is in the log."""
    try:
        deed()
    except AgentError as error:
        log.warning("a notification was ignored: %s", error.message)
    except Exception:
        log.exception("a notification failed")


async def logged(work: Awaitable[object]) -> None:
    """Work that nobody waits for: it may fail, but not take the rest with it."""
    try:
        await work
    except Exception:
        log.exception("work in the background failed")
