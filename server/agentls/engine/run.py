"""One run of a session: the facts that everything done in its name shares."""

from dataclasses import dataclass, field
from pathlib import Path

import anyio

from agentls.engine.interrupt import Reason
from agentls.engine.transcript import Token, Writer
from agentls.schema.event import Scope, StatusChanged
from agentls.schema.model import Usage
from agentls.schema.session import PlainStatus, RetryStatus, Turn
from agentls.storage.journal import Journal


@dataclass(slots=True)
class Run:
    """From the start of a turn (or of its going on) to its end. `usage` is the turn's so far."""

    scope: Scope
    project_id: str
    root: Path
    turn: Turn
    token: Token
    writer: Writer
    journal: Journal
    scope_of_cancel: anyio.CancelScope = field(default_factory=anyio.CancelScope)
    done: anyio.Event = field(default_factory=anyio.Event)
    cause: Reason | None = None
    status: PlainStatus | RetryStatus = PlainStatus(type="busy")
    usage: Usage = Usage()
    steps: int = 0

    @property
    def directory(self) -> Path:
        return Path(self.scope.directory)

    def show(self, status: PlainStatus | RetryStatus) -> None:
        if status == self.status:
            return
        self.status = status
        self.journal.publish(StatusChanged(self.scope, status, self.turn.id))
