"""The ways in: prompt, continue, shell, abort; and what follows when a turn ends."""

import logging
from functools import partial
from pathlib import Path

from agentls.config.prompts import prompt
from agentls.engine.accepted import Aborted, Accepted, Defaults, ShellAccepted
from agentls.engine.histories import Histories
from agentls.engine.interrupt import Interrupter
from agentls.engine.loop import Loop, LoopEnd
from agentls.engine.prompt import (
    Chosen,
    PromptRequest,
    checked_format,
    checked_message_id,
    checked_parts,
    digest_of,
    store_prompt,
    store_synthetic,
)
from agentls.engine.queue import Queue
from agentls.engine.runner import NATURAL, Active, Behind, Outcome, Runner, Waiter, new_turn
from agentls.engine.stores import Stores, scope_of
from agentls.engine.transcript import Token, Transcript, Writer
from agentls.engine.usershell import ShellRequest, UserShell
from agentls.errors import AgentError, ErrorKind, invalid_param
from agentls.schema.event import Scope
from agentls.schema.message import UserMessage
from agentls.schema.session import Session, StopReason, Turn
from agentls.workspace.project import project_of

log = logging.getLogger(__name__)


class Turns:
    """`prompt`, `resume` and `shell` store, start and return without a pause, so that no abort can slip between."""

    def __init__(
        self,
        stores: Stores,
        transcript: Transcript,
        runner: Runner,
        interrupter: Interrupter,
        loop: Loop,
        histories: Histories,
        queue: Queue,
        shell: UserShell,
        defaults: Defaults,
    ) -> None:
        self._stores = stores
        self._transcript = transcript
        self._runner = runner
        self._interrupter = interrupter
        self._loop = loop
        self._histories = histories
        self._queue = queue
        self._shell = shell
        self._defaults = defaults
        runner.on_end = self._follow

    # -- prompt

    def prompt(self, request: PromptRequest) -> Accepted:
        row = self._stores.session(request.session_id)
        message_id = checked_message_id(request.message_id)
        checked_parts(request.parts)
        checked_format(request.format)
        again = self._again(request, request.session_id, digest_of(request))
        if again is not None:
            return again
        self._runner.claim(request.session_id)
        scope, active = scope_of(row), self._runner.active(request.session_id)
        chosen = self._choose(row.session, request)
        if request.no_reply:
            self._store(scope, row.session, request, message_id, chosen)
            return Accepted(message_id, None, "stored", _ended(Outcome("done")))
        if active is None:
            return self._prompt_idle(scope, row.session, request, message_id, chosen)
        if request.delivery == "reject":
            raise _busy(active.run.turn)
        if request.delivery == "queue":
            return self._enqueue(scope, request, message_id)
        self._store(scope, row.session, request, message_id, chosen)
        waiter = Waiter()
        if active.kind == "run" and not active.stopping:
            self._stores.journal.then(lambda: active.join(waiter))
            return Accepted(message_id, active.run.turn.id, "running", waiter)
        behind = active.behind or Behind(message_id)
        self._stores.journal.then(lambda: active.follow(behind, waiter))
        return Accepted(message_id, behind.turn_id, "queued", waiter, began=behind.message_id == message_id)

    def _prompt_idle(
        self, scope: Scope, session: Session, request: PromptRequest, message_id: str, chosen: Chosen
    ) -> Accepted:
        open_turn = self._stores.turns.open(scope.session_id)
        if open_turn is not None and request.delivery == "reject":
            raise _busy(open_turn)
        if request.delivery == "queue" and (open_turn is not None or self._queue.holds(scope.session_id)):
            accepted = self._enqueue(scope, request, message_id)
            if open_turn is None:
                self._start_queued(scope)
            return accepted
        waiter = Waiter()
        with self._stores.journal.transaction():
            if open_turn is not None:
                self._interrupter.settle(scope, "abort")
            self._store(scope, session, request, message_id, chosen)
            turn = self._start(scope, new_turn(scope.session_id, message_id), [waiter])
        return Accepted(message_id, turn.id, "running", waiter, began=True)

    def _again(self, request: PromptRequest | ShellRequest, session_id: str, digest: str) -> Accepted | None:
        """The answer to a request that was answered before under the same `messageId`."""
        if request.message_id is None:
            return None
        queued = self._stores.queue.get(request.message_id)
        stored = self._stores.messages.request(request.message_id)
        before = (queued.session_id, digest_of(self._queue.request(queued))) if queued else stored
        if before is None:
            return None
        if before != (session_id, digest):
            raise AgentError(
                ErrorKind.CONFLICT,
                f"The message {request.message_id} exists with other content. Use a new id, or none.",
            )
        if queued:
            return Accepted(request.message_id, None, "queued", self._queue.waiter(request.message_id))
        if isinstance(request, PromptRequest) and request.no_reply:
            return Accepted(request.message_id, None, "stored", _ended(Outcome("done")))
        return self._known(session_id, request.message_id)

    def _known(self, session_id: str, message_id: str) -> Accepted:
        turn = self._stores.turns.of_message(session_id, message_id)
        active = self._runner.active(session_id)
        if active is not None and active.behind is not None and active.behind.message_id == message_id:
            waiter = Waiter()
            active.behind.waiters.append(waiter)
            return Accepted(message_id, active.behind.turn_id, "queued", waiter, began=True)
        if active is not None and (turn is None or turn.id == active.run.turn.id):
            waiter = Waiter()
            active.waiters.append(waiter)
            return Accepted(message_id, active.run.turn.id, "running", waiter, began=turn is not None)
        if turn is None:
            return Accepted(message_id, None, "stored", _ended(Outcome("done")))
        last = self._stores.messages.last_assistant(session_id)
        outcome = Outcome(turn.stop_reason or "done", last, turn.error, turn.usage)
        return Accepted(message_id, turn.id, "running", _ended(outcome), began=True)

    def _choose(self, session: Session, request: PromptRequest) -> Chosen:
        agent = self._defaults.agent(request.agent or session.agent, session.directory)
        return Chosen(agent, self._defaults.model(session, agent, request.model))

    def _store(
        self, scope: Scope, session: Session, request: PromptRequest, message_id: str, chosen: Chosen
    ) -> UserMessage:
        with self._stores.journal.transaction():
            notes = self._defaults.notes(scope.session_id)
            message = store_prompt(self._writer(scope), request, message_id, chosen, notes, self._defaults.attached)
            chose = True if request.model is not None else session.model_chosen
            self._stores.save_session(scope, session.but(agent=chosen.agent, model=chosen.model, model_chosen=chose))
        return message

    def _writer(self, scope: Scope) -> Writer:
        return self._transcript.writer(scope, Token())

    # -- the run

    def _start(self, scope: Scope, turn: Turn, waiters: list[Waiter]) -> Turn:
        async def work(active: Active) -> LoopEnd:
            return await self._work(active, resume=False)

        return self._runner.start(scope, project_of(Path(scope.directory)), "run", turn, work, waiters).run.turn

    async def _work(self, active: Active, *, resume: bool) -> LoopEnd:
        history = self._histories.of(active.run.scope.session_id)

        def has_read() -> None:
            active.wanted = False

        if resume:
            end = await self._loop.resume(active.run, history)
            if end is not None:
                return end
        while True:
            end = await self._loop.run(active.run, history, has_read)
            if not active.wanted or end.stop not in NATURAL - {"rejected"}:
                return end

    def answered(self, session_id: str) -> None:
        """An answer came that nobody waited for: its process is gone. The turn goes on here."""
        turn = self._stores.turns.open(session_id)
        if turn is None or turn.state != "waiting" or self._runner.active(session_id) is not None:
            return
        scope = self._stores.scope(session_id)

        async def work(active: Active) -> LoopEnd:
            return await self._work(active, resume=True)

        with self._stores.journal.transaction():
            self._runner.start(scope, project_of(Path(scope.directory)), "run", turn, work, [])

    def _follow(self, scope: Scope, active: Active, stop: StopReason) -> bool:
        """What starts where a turn has ended, in the same transaction. Returns whether something does."""
        behind = active.behind
        if behind is not None:
            self._start(scope, new_turn(scope.session_id, behind.message_id, behind.turn_id), behind.waiters)
            return True
        if stop in ("error", "cancelled"):
            return False
        try:
            return self._start_queued(scope) is not None
        except AgentError as error:  # its agent or model is gone since it was queued: it stays there
            log.warning("the queue of %s is held: %s", scope.session_id, error.message)
            return False

    # -- queue

    def _enqueue(self, scope: Scope, request: PromptRequest, message_id: str) -> Accepted:
        return Accepted(message_id, None, "queued", self._queue.add(scope, request, message_id), began=True)

    def _start_queued(self, scope: Scope) -> Accepted | None:
        """The next of the queue becomes a message and a turn."""
        request = self._queue.first(scope.session_id)
        if request is None:
            return None
        session = self._stores.session(scope.session_id).session
        chosen = self._choose(session, request)
        with self._stores.journal.transaction():
            taken = self._queue.take(scope)
            if taken is None:
                return None
            self._store(scope, session, taken.request, taken.message_id, chosen)
            turn = self._start(scope, new_turn(scope.session_id, taken.message_id), [taken.waiter])
        return Accepted(taken.message_id, turn.id, "running", taken.waiter, began=True)

    # -- continue, shell, abort

    def resume(self, session_id: str) -> Accepted:
        """`session/continue`: the held queue's next, or a word to the model to go on."""
        row = self._stores.session(session_id)
        self._runner.claim(session_id)
        self._require_idle(session_id)
        scope = scope_of(row)
        queued = self._start_queued(scope)
        if queued is not None:
            return queued
        waiter = Waiter()
        request = PromptRequest(session_id=session_id, parts=())
        with self._stores.journal.transaction():
            chosen = self._choose(row.session, request)
            message = store_synthetic(self._writer(scope), session_id, prompt("input/go-on"), chosen)
            turn = self._start(scope, new_turn(session_id, message.id), [waiter])
        return Accepted(message.id, turn.id, "running", waiter, began=True)

    def shell(self, request: ShellRequest) -> ShellAccepted:
        row = self._stores.session(request.session_id)
        message_id = checked_message_id(request.message_id)
        if not request.command.strip():
            raise invalid_param("command", "`command` is empty.")
        self._runner.claim(request.session_id)
        again = self._again(request, request.session_id, digest_of(request))
        if again is not None:
            return self._shell_again(request.session_id, again)
        self._require_idle(request.session_id)
        scope = scope_of(row)
        cwd = Path(request.cwd or scope.directory)
        if not cwd.is_absolute() or not cwd.is_dir():
            raise invalid_param("cwd", f"`cwd` {cwd} is not an absolute path of a folder.")
        project = project_of(Path(scope.directory))
        chosen = self._choose(row.session, PromptRequest(session_id=scope.session_id, parts=()))
        with self._stores.journal.transaction():
            message, part = self._shell.store(self._writer(scope), request, message_id, chosen, cwd, project.root)

            async def work(active: Active) -> LoopEnd:
                return await self._shell.work(active.run, request, message, part, cwd)

            turn = self._runner.start(
                scope, project, "shell", new_turn(scope.session_id, message_id), work, []
            ).run.turn
        return ShellAccepted(message_id, part.id, turn.id)

    def _shell_again(self, session_id: str, again: Accepted) -> ShellAccepted:
        turn = self._stores.turns.of_message(session_id, again.message_id)
        part_id = self._stores.messages.answer_part(session_id, again.message_id)
        return ShellAccepted(again.message_id, part_id, turn.id if turn else "")

    async def abort(self, session_id: str, turn_id: str | None = None, *, clear_queue: bool = False) -> Aborted:
        """When this returns nothing more is written to the turn, its processes are gone, its questions are closed."""
        scope = self._stores.scope(session_id)
        if clear_queue:
            await self._stores.journal.patiently(partial(self._queue.clear, scope))
        while (active := self._runner.active(session_id)) is None:
            if self._stores.turns.open(session_id) is None:
                return Aborted(aborted=False)
            aborted = await self._stores.journal.patiently(partial(self._abort_waiting, scope, turn_id))
            if aborted is not None:
                return aborted
        turn = active.run.turn
        behind = active.behind.turn_id if active.behind else None
        if turn_id not in (None, turn.id, behind):
            raise _mismatch(turn_id, turn)
        if active.behind is not None:
            dropped, active.behind = active.behind, None
            for waiter in dropped.waiters:
                waiter.end(Outcome("cancelled"))
            if turn_id is not None and turn_id == behind:
                return Aborted(aborted=True, turn_id=turn_id)
        forced = await self._runner.stop(active, "abort")
        return Aborted(aborted=True, turn_id=turn.id, forced=forced)

    def _abort_waiting(self, scope: Scope, turn_id: str | None) -> Aborted | None:
        """None where the turn goes on by now, or has ended."""
        turn = self._stores.turns.open(scope.session_id)
        if turn is None or self._runner.active(scope.session_id) is not None:
            return None
        if turn_id not in (None, turn.id):
            raise _mismatch(turn_id, turn)
        self._runner.claim(scope.session_id)
        self._interrupter.settle(scope, "abort")
        return Aborted(aborted=True, turn_id=turn.id)

    def _require_idle(self, session_id: str) -> None:
        active = self._runner.active(session_id)
        turn = active.run.turn if active is not None else self._stores.turns.open(session_id)
        if turn is not None:
            raise _busy(turn)


def _busy(turn: Turn) -> AgentError:
    message = "The session is busy. Wait for its turn to end, abort it, or use `delivery: queue`."
    return AgentError(ErrorKind.SESSION_BUSY, message, {"turnId": turn.id}, retryable=True)


def _mismatch(wanted: str | None, turn: Turn) -> AgentError:
    message = f"The session runs the turn {turn.id}, not {wanted}. It was not aborted."
    return AgentError(ErrorKind.TURN_MISMATCH, message, {"turnId": turn.id})


def _ended(outcome: Outcome) -> Waiter:
    waiter = Waiter()
    waiter.end(outcome)
    return waiter
