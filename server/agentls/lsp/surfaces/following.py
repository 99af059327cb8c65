"""Turns from their beginning to their end: their progress, and who is told of the end."""

import itertools
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from pydantic_core import from_json

from agentls.lsp.handling import Token
from agentls.lsp.language import AgentProtocol
from agentls.lsp.notifications import Told
from agentls.lsp.serving import Spawn
from agentls.lsp.surfaces.doing import THINKING, doing
from agentls.lsp.surfaces.progress import Progress
from agentls.schema.event import Changed, StatusChanged
from agentls.schema.message import MessageError
from agentls.schema.session import StopReason, Turn

_MOST_AWAITED = 1000
_END_WORDS: dict[StopReason, str] = {"done": "done", "cancelled": "aborted", "error": "failed", "rejected": "rejected"}


@dataclass(frozen=True, slots=True)
class Ended:
    """The end of a turn whose user sees it by way of LSP alone."""

    turn: Turn
    stop_reason: StopReason
    error: MessageError | None


@dataclass(slots=True)
class _Follow:
    """`shown`: the user is to see how it ended."""

    session_id: str
    turn_id: str
    shown: bool
    doing: str = THINKING
    progresses: list[Progress] = field(default_factory=list[Progress])


class Following:
    """`follows_all` says that every turn is the user's to see; `ended` hears of the end of those that are shown."""

    def __init__(
        self,
        language: AgentProtocol,
        spawn: Spawn,
        turn: Callable[[str], Turn | None],
        follows_all: Callable[[], bool],
        ended: Callable[[Ended], None],
    ) -> None:
        self._language = language
        self._spawn = spawn
        self._turn = turn
        self._follows_all = follows_all
        self._ended = ended
        self._follows: dict[str, _Follow] = {}
        self._awaited: dict[str, tuple[Token | None, bool]] = {}
        self._numbers = itertools.count(1)
        self.creates_progress = False

    def took(self, session_id: str, message_id: str, turn_id: str | None, token: Token | None, *, shown: bool) -> None:
        """A prompt was taken, for a turn that runs or for one to come."""
        if token is None and not shown:
            return
        turn = self._turn(turn_id) if turn_id is not None else None
        if turn is None:
            self._awaited[message_id] = (token, shown)
            while len(self._awaited) > _MOST_AWAITED:  # those that left the queue unrun
                del self._awaited[next(iter(self._awaited))]
        elif turn.state != "ended":
            self._follow(session_id, turn.id, token, shown=shown)

    def watch(self, event: Told) -> None:
        match event:
            case Changed(method="turn/started"):
                self._started(event)
            case StatusChanged(turn_id=str() as turn_id) if turn_id not in self._follows and self._follows_all():
                # One that an answer brought back to life was begun by an earlier process.
                self._follow(event.scope.session_id, turn_id, None, shown=True)
            case _:
                pass
        if not self._follows or event.scope is None:
            return
        self._report(event)
        match event:
            case Changed(method="turn/ended"):
                self._end(event)
            case StatusChanged(turn_id=None):
                self._drop(event.scope.session_id)
            case _:
                pass

    def followed(self, token: Token) -> tuple[str, str] | None:
        """Session and turn of a progress."""
        for follow in self._follows.values():
            if any(progress.token == token for progress in follow.progresses):
                return follow.session_id, follow.turn_id
        return None

    def is_shown(self, session_id: str) -> bool:
        return any(follow.shown and follow.session_id == session_id for follow in self._follows.values())

    def _started(self, event: Changed) -> None:
        message_id = str(_members(event)["messageId"])
        token, shown = self._awaited.pop(message_id, (None, False))
        shown = shown or self._follows_all()
        if token is not None or shown:
            self._follow(event.scope.session_id, event.id, token, shown=shown)

    def _follow(self, session_id: str, turn_id: str, token: Token | None, *, shown: bool) -> None:
        follow = self._follows.setdefault(turn_id, _Follow(session_id, turn_id, shown))
        follow.shown = follow.shown or shown
        if token is not None:
            progress = Progress(self._language, token, follow.doing)
            follow.progresses.append(progress)
            progress.begin()
        elif shown and self.creates_progress and not follow.progresses:
            progress = Progress(self._language, f"agentls-{next(self._numbers)}", follow.doing)
            follow.progresses.append(progress)
            self._spawn(progress.create())

    def _report(self, event: Told) -> None:
        if event.scope is None:
            return
        scope = {event.scope.session_id, event.scope.root_id}
        for follow in [one for one in self._follows.values() if one.session_id in scope]:
            follow.doing = doing(event) or follow.doing
            for progress in follow.progresses:
                progress.report(follow.doing)

    def _end(self, event: Changed) -> None:
        follow = self._follows.pop(event.id, None)
        if follow is None:
            return
        members = _members(event)
        stop: StopReason = members["stopReason"]
        for progress in follow.progresses:
            progress.end(_END_WORDS.get(stop, "cut"))
        turn = self._turn(follow.turn_id)
        if follow.shown and turn is not None:
            error = members.get("error")
            self._ended(Ended(turn, stop, MessageError.model_validate(error) if error else None))

    def _drop(self, session_id: str) -> None:
        """The session rests, and a turn in it has not ended: it waits for an answer, or its process goes."""
        for follow in [one for one in self._follows.values() if one.session_id == session_id]:
            del self._follows[follow.turn_id]
            for progress in follow.progresses:
                progress.end("stopped")


def _members(event: Changed) -> dict[str, Any]:
    return from_json(b"{%b}" % event.params)
