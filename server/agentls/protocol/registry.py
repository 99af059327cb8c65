"""What a row of the table of messages says."""

from dataclasses import dataclass
from typing import Generic, Literal, TypeVar

from agentls.errors import ErrorKind
from agentls.schema.base import Value

P = TypeVar("P", bound=Value)
R = TypeVar("R", bound=Value)

Direction = Literal["toServer", "toClient"]


@dataclass(frozen=True, slots=True)
class Request(Generic[P, R]):
    """A message that is answered.

    `errors` are those of its own, beside the ones that any request can meet. `since` is the protocol version that
    brought it. What is not `served` answers `not_supported`. An `urgent` one never waits for a place.
    """

    name: str
    params: type[P]
    result: type[R]
    does: str
    errors: tuple[ErrorKind, ...] = ()
    since: int = 1
    served: bool = True
    urgent: bool = False
    direction: Direction = "toServer"


@dataclass(frozen=True, slots=True)
class Notification(Generic[P]):
    """A message that is not answered."""

    name: str
    params: type[P]
    does: str
    since: int = 1
    served: bool = True
    direction: Direction = "toClient"
