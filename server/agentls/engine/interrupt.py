"""Brings a session whose run ended in the middle to an orderly end: after an abort, an exit or a crash."""

from typing import Literal

from agentls.config.prompts import prompt
from agentls.engine.stores import Stores
from agentls.engine.transcript import Token, Transcript
from agentls.permission.ledger import Ledger
from agentls.schema.base import now
from agentls.schema.event import Scope
from agentls.schema.message import MessageError
from agentls.schema.model import Usage
from agentls.schema.part import Failed, Part, PartTime, Pending, ReasoningPart, Running, TextPart, ToolPart
from agentls.schema.session import Turn, TurnTime

Reason = Literal["abort", "exit", "crash"]


class Interrupter:
    """Works from the stored rows and the growing parts, so it serves the living and the dead alike."""

    def __init__(self, stores: Stores, transcript: Transcript, ledger: Ledger) -> None:
        self._stores = stores
        self._transcript = transcript
        self._ledger = ledger
        self.told: dict[str, Turn] = {}
        """Turns whose end is known to clients, though it could not be stored."""

    def settle(self, scope: Scope, reason: Reason, usage: Usage | None = None) -> Turn | None:
        """Close what is open, in one transaction; returns the turn as it is now, with its `usage` if that is known.

        An exit or a crash keeps a question whose tool has not begun: its part and those behind it stay `pending`, the
        turn is `waiting`.
        """
        self._transcript.save_growing()
        with self._transcript.journal.transaction():
            turn = self._stores.turns.open(scope.session_id)
            if turn is not None and usage is not None:
                turn = turn.but(usage=usage)
            kept = self._kept_question(scope, turn) if reason != "abort" else None
            for part in self._stores.messages.open_parts(scope.session_id):
                self._close_part(scope, part, kept)
            keep = frozenset(row for row, _ in kept) if kept else frozenset[str]()
            self._ledger.cancel(scope.session_id, scope.root_id, "abort", keep)
            if not kept:
                self._complete_messages(scope, _aborted(reason))
            return self._close_turn(scope, turn, reason, waiting=bool(kept))

    def close_after_error(self, scope: Scope, error: MessageError | None) -> None:
        """Close what a run that failed left open; its turn is ended by the caller."""
        self._transcript.save_growing()
        for part in self._stores.messages.open_parts(scope.session_id):
            self._close_part(scope, part, None)
        self._ledger.cancel(scope.session_id, scope.root_id, "abort")
        self._complete_messages(scope, error or MessageError(name="UnknownError", data={"message": "The turn failed."}))

    def _kept_question(self, scope: Scope, turn: Turn | None) -> list[tuple[str, int]] | None:
        """Open questions of tool parts that have not begun, with the places of the parts. A child's do not count: the
        call that started it is cut off.
        """
        if turn is None or scope.session_id != scope.root_id:
            return None
        pending = {
            part.id: part.pos
            for part in self._stores.messages.open_parts(scope.session_id)
            if isinstance(part, ToolPart) and isinstance(part.state, Pending)
        }
        rows = self._stores.questions.open_of_root(scope.root_id)
        kept = [
            (row.id, pending[row.part_id])
            for row in rows
            if row.session_id == scope.session_id and row.part_id is not None and row.part_id in pending
        ]
        return kept or None

    def _close_part(self, scope: Scope, part: Part, kept: list[tuple[str, int]] | None) -> None:
        first_kept = min((pos for _, pos in kept), default=None) if kept else None
        is_pending = isinstance(part, ToolPart) and isinstance(part.state, Pending)
        if is_pending and first_kept is not None and part.pos >= first_kept:
            self._transcript.live.pop(part.id, None)
            return
        closed = _closed(part)
        self._transcript.writer(scope, Token()).part(closed)

    def _complete_messages(self, scope: Scope, error: MessageError) -> None:
        writer = self._transcript.writer(scope, Token())
        for message in self._stores.messages.unfinished(scope.session_id):
            time = message.time.but(completed=now())
            writer.message(message.but(error=message.error or error, time=time))

    def _close_turn(self, scope: Scope, turn: Turn | None, reason: Reason, *, waiting: bool) -> Turn | None:
        if turn is None:
            return None
        told = self.told.get(turn.id)
        if told is not None:
            self._stores.journal.then(lambda: self.told.pop(told.id, None))
            return self._stores.save_turn(scope, told, None)
        if waiting:
            return self._stores.save_turn(scope, turn.but(state="waiting"), None)
        error = None if reason == "abort" else _aborted(reason)
        time = TurnTime(started=turn.time.started, ended=now())
        ended = turn.but(state="ended", stop_reason="cancelled", error=error, time=time)
        return self._stores.save_turn(scope, ended, "turn/ended")


_SAID: dict[Reason, str] = {
    "abort": "The user stopped this.",
    "exit": "The editor closed while this ran.",
    "crash": "The server died while this ran.",
}


def _aborted(reason: Reason) -> MessageError:
    return MessageError(name="MessageAbortedError", data={"message": _SAID[reason], "reason": reason})


def _closed(part: Part) -> Part:
    match part:
        case TextPart():
            return part.but(time=PartTime(start=part.time.start if part.time else now(), end=now()))
        case ReasoningPart():
            return part.but(time=PartTime(start=part.time.start, end=now()))
        case ToolPart():
            return part.but(state=interrupted(part))
        case _:
            return part


def interrupted(part: ToolPart) -> Failed:
    """The state of a call that was cut off. What it had printed stays with it."""
    state = part.state
    started = state.time.start if isinstance(state, Running) else now()
    metadata: dict[str, object] = {
        **((state.metadata if isinstance(state, Running) else None) or {}),
        "interrupted": True,
    }
    if isinstance(state, Running) and state.output:
        metadata["output"] = state.output
    text = prompt("results/interrupted") if isinstance(state, Running) else prompt("results/not-run")
    return Failed(input=state.input, error=text, metadata=metadata, time=PartTime(start=started, end=now()))
