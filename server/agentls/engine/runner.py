"""Who is busy: one record a running session, from the start of its turn to its end, and what waits behind it."""

import logging
import sqlite3
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Literal

import anyio
from anyio.abc import TaskGroup

from agentls.engine.interrupt import Interrupter, Reason
from agentls.engine.loop import LoopEnd
from agentls.engine.run import Run
from agentls.engine.stores import Stores
from agentls.engine.transcript import Token, Transcript
from agentls.errors import AgentError, RunClosedError
from agentls.schema.base import now
from agentls.schema.event import Scope, StatusChanged
from agentls.schema.ids import Prefix, new, new_log_id
from agentls.schema.message import AssistantMessage, MessageError
from agentls.schema.model import Usage
from agentls.schema.session import PlainStatus, StopReason, Turn, TurnTime
from agentls.workspace.project import Project

log = logging.getLogger(__name__)

ABORT_SECONDS = 5
LATER_SECONDS = 1
END_SECONDS = 4  # so that an abort is answered in time
NATURAL: frozenset[StopReason] = frozenset({"done", "length", "max_steps", "content_filter", "rejected"})


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a prompt's turn ended."""

    stop_reason: StopReason
    message: AssistantMessage | None = None
    error: MessageError | None = None
    usage: Usage = Usage()


@dataclass(slots=True)
class Waiter:
    """Somebody waits for the end of a turn. `turn_id` is there once the turn has begun that the prompt began."""

    event: anyio.Event = field(default_factory=anyio.Event)
    outcome: Outcome | None = None
    turn_id: str | None = None

    def end(self, outcome: Outcome) -> None:
        self.outcome = outcome
        self.event.set()


@dataclass(slots=True)
class Behind:
    """A turn that starts when the present one has ended: behind a shell command, or behind an abort."""

    message_id: str
    turn_id: str = field(default_factory=lambda: new(Prefix.TURN))
    waiters: list[Waiter] = field(default_factory=list[Waiter])


@dataclass(slots=True)
class Active:
    """`wanted`: a prompt was stored that the loop has not read. `stopping`: an abort or the end is on its way; the end
    is being stored once it is `ending`.
    """

    kind: Literal["run", "shell"]
    run: Run
    wanted: bool = False
    stopping: bool = False
    ending: bool = False
    behind: Behind | None = None
    waiters: list[Waiter] = field(default_factory=list[Waiter])

    def join(self, waiter: Waiter) -> None:
        self.wanted = True
        self.waiters.append(waiter)

    def follow(self, behind: Behind, waiter: Waiter) -> None:
        self.behind = behind
        behind.waiters.append(waiter)


OnEnd = Callable[[Scope, Active, StopReason], bool]
Work = Callable[[Active], Awaitable[LoopEnd]]


class Runner:
    """The four states of a session: idle (no record), running, shell, shell with a run behind it."""

    def __init__(self, tasks: TaskGroup, stores: Stores, transcript: Transcript, interrupter: Interrupter) -> None:
        self._tasks = tasks
        self._stores = stores
        self._transcript = transcript
        self._interrupter = interrupter
        self._active: dict[str, Active] = {}
        self.on_end: OnEnd = _nothing_follows

    def active(self, session_id: str) -> Active | None:
        return self._active.get(session_id)

    def all(self) -> list[Active]:
        return list(self._active.values())

    def claim(self, session_id: str) -> None:
        """Make sure that this process may write the session; a dead owner's is swept first.

        Raises `AgentError` `session_locked {pid}` while another living process runs it.
        """
        owner = self._stores.owners.of(session_id)
        if owner is None or owner.instance_id == self._stores.owners.instance_id:
            return
        with self._stores.journal.transaction():  # within it nobody else can sweep and take the session
            self._stores.owners.require_free(session_id)
            owner = self._stores.owners.of(session_id)
            if owner is None or owner.instance_id == self._stores.owners.instance_id:
                return
            self._interrupter.settle(self._stores.scope(session_id), "crash")
            self._stores.owners.forget(owner)

    def settle_dead(self, session_id: str) -> None:
        """Before a session is read: what a dead process left in it is no longer going on."""
        owner = self._stores.owners.of(session_id)
        if owner is None or self._stores.owners.alive(owner):
            return
        try:
            self.claim(session_id)
        except AgentError as error:  # another process was faster, and runs it
            log.info("%s", error.message)

    def sweep(self) -> None:
        """Bring the sessions of dead processes to an orderly end."""
        for owner in self._stores.owners.dead():
            try:
                self.settle_dead(owner.session_id)
            except Exception:  # such as a row that cannot be read: it must not keep the other sessions from starting
                log.exception("the session %s of a dead process was not swept", owner.session_id)

    def start(
        self,
        scope: Scope,
        project: Project,
        kind: Literal["run", "shell"],
        turn: Turn,
        work: Work,
        waiters: list[Waiter],
    ) -> Active:
        """Within the transaction that stores the turn's first message, or goes on with a waiting turn. Nothing runs
        where that fails.
        """
        self._stores.owners.take(scope.session_id)
        is_new = turn.state == "running"
        turn = turn.but(state="running")
        self._stores.save_turn(scope, turn, "turn/started" if is_new else None)
        token = Token()
        run = Run(
            scope=scope,
            project_id=project.id,
            root=project.root,
            turn=turn,
            token=token,
            writer=self._transcript.writer(scope, token),
            journal=self._stores.journal,
            usage=turn.usage,
        )
        for waiter in waiters:
            waiter.turn_id = turn.id
        active = Active(kind, run, waiters=waiters)
        self._stores.journal.then(lambda: self._go(active, work))
        self._stores.journal.publish(StatusChanged(scope, run.status, turn.id))
        return active

    def _go(self, active: Active, work: Work) -> None:
        session_id = active.run.scope.session_id
        self._active[session_id] = active
        self._tasks.start_soon(self._drive, active, work, name=f"run {session_id}")

    async def _drive(self, active: Active, work: Work) -> None:
        ends: list[LoopEnd] = []
        try:
            with active.run.scope_of_cancel:
                ends.append(await work(active))
        except* RunClosedError:
            pass
        except* (AgentError, sqlite3.Error) as failures:
            log.exception("the run of %s could not store what it did", active.run.scope.session_id)
            ends.append(LoopEnd("error", _unstored(_first(failures))))
        except* Exception:
            log_id = new_log_id()
            log.exception("run of %s failed (%s)", active.run.scope.session_id, log_id)
            data = {"message": f"A fault in agentls ended the turn; the log has it as {log_id}.", "logId": log_id}
            ends.append(LoopEnd("error", MessageError(name="UnknownError", data=data)))
        finally:
            with anyio.CancelScope(shield=True):
                await self._end_surely(active, ends[-1] if ends else None, END_SECONDS)

    async def stop(self, active: Active, cause: Reason) -> bool:
        """A barrier: afterwards nothing is written to the turn. Returns whether it had to be forced."""
        active.stopping = True
        run = active.run
        if run.cause is None:
            run.cause = cause
        run.scope_of_cancel.cancel()
        with anyio.move_on_after(ABORT_SECONDS):
            await run.done.wait()
        if run.done.is_set():
            return False
        log.warning("the run of %s did not stop within %s s and was cut off", run.scope.session_id, ABORT_SECONDS)
        await self._end_surely(active, None, 0)
        return True

    async def _end_surely(self, active: Active, end: LoopEnd | None, seconds: float) -> None:
        """A store that cannot be written must not keep the session busy, nor take the other sessions with it."""
        run = active.run
        run.token.closed = active.stopping = True
        if active.ending:
            return
        active.ending = True
        try:
            outcome = await self._stores.journal.patiently(partial(self._end, active, end), seconds)
        except Exception as failure:
            log.exception("the end of a turn of %s was not stored", run.scope.session_id)
            self._end_unstored(active, failure)
            return
        for waiter in active.waiters:
            waiter.end(outcome)
        run.done.set()

    def _end_unstored(self, active: Active, failure: Exception) -> None:
        run = active.run
        self._active.pop(run.scope.session_id, None)
        error = _unstored(failure)
        ended = TurnTime(started=run.turn.time.started, ended=now())
        turn = run.turn.but(state="ended", stop_reason="error", error=error, usage=run.usage, time=ended)
        self._interrupter.told[turn.id] = turn
        self._stores.tell_turn(run.scope, turn, 0, "turn/ended")
        self._stores.journal.publish(StatusChanged(run.scope, PlainStatus(type="idle"), None))
        for waiter in (*active.waiters, *(active.behind.waiters if active.behind else ())):
            waiter.end(Outcome("error", error=error, usage=run.usage))
        run.done.set()
        self._tasks.start_soon(self._store_later, turn, run.scope, name=f"end of {turn.id}")

    async def _store_later(self, turn: Turn, scope: Scope) -> None:
        """Until there is room, or the session's next prompt has stored that end."""
        while turn.id in self._interrupter.told:
            await anyio.sleep(LATER_SECONDS)
            with suppress(sqlite3.Error, AgentError):  # that it cannot was logged
                await self._stores.journal.patiently(partial(self._store_told, turn, scope))
                self._interrupter.told.pop(turn.id, None)

    def _store_told(self, turn: Turn, scope: Scope) -> None:
        if turn.id in self._interrupter.told:
            self._interrupter.settle(scope, "abort")
            self._stores.owners.release(scope.session_id)

    def _end(self, active: Active, end: LoopEnd | None) -> Outcome:
        run, scope = active.run, active.run.scope
        turn = self._close(active, end)
        self._stores.owners.release(scope.session_id)
        self._active.pop(scope.session_id, None)
        stop: StopReason = turn.stop_reason or "cancelled" if turn else "cancelled"
        followed = run.cause in (None, "abort") and self.on_end(scope, active, stop)
        if not followed:
            waits = turn is not None and turn.state == "waiting"
            status = PlainStatus(type="waiting" if waits else "idle")
            self._stores.journal.publish(StatusChanged(scope, status, None))
        last = self._stores.messages.last_assistant(scope.session_id)
        return Outcome(stop, last, turn.error if turn else None, run.usage)

    def _close(self, active: Active, end: LoopEnd | None) -> Turn | None:
        run = active.run
        if end is None:
            return self._interrupter.settle(run.scope, run.cause or "exit", usage=run.usage)
        if end.stop == "error":
            self._interrupter.close_after_error(run.scope, end.error)
        time = TurnTime(started=run.turn.time.started, ended=now())
        turn = run.turn.but(state="ended", stop_reason=end.stop, error=end.error, usage=run.usage, time=time)
        return self._stores.save_turn(run.scope, turn, "turn/ended")


def _nothing_follows(_scope: Scope, _active: Active, _stop: StopReason) -> bool:
    return False


def _first(failures: BaseExceptionGroup[AgentError | sqlite3.Error]) -> Exception:
    failure = failures.exceptions[0]
    return _first(failure) if isinstance(failure, BaseExceptionGroup) else failure


def _unstored(failure: Exception) -> MessageError:
    reason = failure.message if isinstance(failure, AgentError) else f"{failure}. Is the disk full?"
    return MessageError(
        name="UnknownError",
        data={"message": f"What this turn did could not be stored: {reason}", "reason": "storage"},
    )


def new_turn(session_id: str, message_id: str, turn_id: str | None = None) -> Turn:
    return Turn(
        id=turn_id or new(Prefix.TURN),
        session_id=session_id,
        message_id=message_id,
        state="running",
        time=TurnTime(started=now()),
    )
