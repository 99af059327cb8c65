"""What the ways in answer, and who answers a prompt where nothing was chosen."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from agentls.engine.prompt import Attached
from agentls.engine.runner import Outcome, Waiter
from agentls.schema.model import ModelRef
from agentls.schema.session import Session

State = Literal["running", "queued", "stored"]


@dataclass(frozen=True, slots=True)
class Accepted:
    """A prompt is stored. `began`: it is the one that its turn began with. `waiter` ends with the turn."""

    message_id: str
    turn_id: str | None
    state: State
    waiter: Waiter
    began: bool = False

    async def outcome(self) -> Outcome:
        await self.waiter.event.wait()
        return self.waiter.outcome or Outcome("cancelled")


@dataclass(frozen=True, slots=True)
class ShellAccepted:
    message_id: str
    part_id: str
    turn_id: str


@dataclass(frozen=True, slots=True)
class Aborted:
    aborted: bool
    turn_id: str | None = None
    forced: bool = False


@dataclass(frozen=True, slots=True)
class Defaults:
    """Who answers where nothing was chosen: `agent` and `model` raise `AgentError` for a name that there is not.

    `notes` are what the model is told with the next message of a session, `attached` how it is told what of the editor
    was attached.
    """

    agent: Callable[[str | None, str], str]
    model: Callable[[Session, str, ModelRef | None], ModelRef]
    notes: Callable[[str], list[str]]
    attached: Attached
