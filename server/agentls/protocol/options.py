"""What client and server tell each other at `initialize`."""

import logging
from typing import Annotated, Any, cast

from pydantic import BeforeValidator, Field, ValidationError

from agentls.protocol.params import Lenient, OpenObject, Params
from agentls.schema.base import Value

PROTOCOL_VERSION = 1
COALESCE_MS = 33
COALESCE_MOST_MS = 250

log = logging.getLogger(__name__)


class ClientUi(Params):
    """Which dialogs the client has of its own."""

    permission: bool = False
    question: bool = False
    diff: bool = False


def _within_bounds(given: object) -> object:
    return max(0, min(COALESCE_MOST_MS, int(given))) if isinstance(given, int | float) else given


class ClientEvents(Params):
    """`coalesceMs`: how often growing text is sent, 0 to 250; 0 sends each delta at once."""

    deltas: bool = True
    coalesce_ms: Annotated[int, BeforeValidator(_within_bounds)] = COALESCE_MS


class ClientDocuments(Params):
    """Which requests to the editor the client answers."""

    save: bool = False
    diagnostics: bool = False
    context: bool = False


class ClientOptions(Params):
    """`initializationOptions.agentls`, or `capabilities.experimental.agentls`."""

    protocol_version: int = PROTOCOL_VERSION
    client_id: str | None = None
    ui: Lenient[ClientUi] = Field(default_factory=ClientUi)
    events: Lenient[ClientEvents] = Field(default_factory=ClientEvents)
    documents: Lenient[ClientDocuments] = Field(default_factory=ClientDocuments)
    trusted: bool | None = None
    settings: OpenObject | None = None


class Limits(Value):
    """`running` requests at once, `waiting` behind them, and the size of a message, in bytes."""

    message_bytes: int
    running: int
    waiting: int


class ServerOffer(Value):
    """`capabilities.experimental.agentls`: `features` are the requests that are served."""

    protocol_version: int = PROTOCOL_VERSION
    features: tuple[str, ...]
    limits: Limits
    schema_digest: str


def read_options(*sources: object) -> ClientOptions | None:
    """The first of `sources` that is given. Members of a wrong form are left out with a warning: a mistake in
    somebody's editor settings must not keep the server from starting.
    """
    given = next((source for source in sources if source is not None), None)
    if given is None:
        return None
    try:
        return ClientOptions.model_validate(given)
    except ValidationError as error:
        wrong = {str(item["loc"][0]) for item in error.errors() if item["loc"]}
        log.warning("client options are not understood and left out: %s", ", ".join(sorted(wrong)) or "all")
    if not isinstance(given, dict):
        return ClientOptions()
    members = cast("dict[str, Any]", given)
    return ClientOptions.model_validate({name: value for name, value in members.items() if name not in wrong})
