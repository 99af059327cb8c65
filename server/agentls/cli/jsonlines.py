"""Events as JSON, one a line: the protocol's notifications."""

import sys
from typing import assert_never

from agentls.lsp.encode import encode
from agentls.schema.event import Changed, Delta, Event, FileEdited, Noticed, Scope, StatusChanged, UsageChanged

_ASKS = ("permission/", "question/")


def show(event: Event) -> None:
    method, members = told(event)
    sys.stdout.buffer.write(b'{"method":%b,"params":{%b}}\n' % (encode(method), members))
    sys.stdout.buffer.flush()


def told(event: Event) -> tuple[str, bytes]:
    """The method and its params, without the outer braces."""
    match event:
        case Changed():
            return event.method, _head(event.scope, event.method) + b'"seq":%d,' % event.seq + event.params
        case Delta():
            members: dict[str, object] = {"messageId": event.message_id, "partId": event.part_id, "field": event.field}
            members |= {"base": event.base, "rev": event.rev, "delta": event.text}
            return "part/delta", _of(event.scope, members)
        case StatusChanged():
            members = {"status": event.status.members()} | _present(turnId=event.turn_id)
            return "session/status", _of(event.scope, members)
        case UsageChanged():
            members = {"usage": event.usage.members()} | _present(context=event.context)
            return "session/usage", _of(event.scope, members)
        case FileEdited():
            return "file/edited", _of(event.scope, {"uri": event.uri, "via": event.via, "partId": event.part_id})
        case Noticed():
            members = {"severity": event.severity, "title": event.title} | _present(description=event.description)
            return "notice", _of(event.scope, members)
        case _:
            assert_never(event)


def _of(scope: Scope | None, members: dict[str, object]) -> bytes:
    return (_head(scope) if scope else b"") + encode(members)[1:-1]


def _head(scope: Scope, method: str = "") -> bytes:
    head = b'"sessionId":%b,' % encode(scope.session_id)
    if scope.root_id != scope.session_id or method.startswith(_ASKS):
        head += b'"rootSessionId":%b,' % encode(scope.root_id)
    return head


def _present(**members: object) -> dict[str, object]:
    return {name: value for name, value in members.items() if value is not None}
