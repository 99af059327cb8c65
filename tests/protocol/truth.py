"""Holds what a server sent against the table of messages: no member that no model has, none missing, none null."""

import json
from typing import Any

from pydantic import TypeAdapter, ValidationError

from agentls.protocol.methods import NOTIFICATIONS, REQUESTS
from agentls.protocol.session import Part, QueueItem
from agentls.schema.message import Message
from agentls.schema.permission import Permission
from agentls.schema.question import Question
from agentls.schema.session import Session, Todo, Turn
from e2e.client import Client

Json = dict[str, Any]
PARAMS: dict[str, TypeAdapter[Any]] = {
    row.name: TypeAdapter(row.params) for row in (*NOTIFICATIONS, *REQUESTS) if row.direction == "toClient"
}
RESULTS: dict[str, TypeAdapter[Any]] = {row.name: TypeAdapter(row.result) for row in REQUESTS}
ROWS: dict[str, TypeAdapter[Any]] = {
    "session": TypeAdapter(Session),
    "turn": TypeAdapter(Turn),
    "message": TypeAdapter(Message),
    "part": TypeAdapter(Part),
    "permission": TypeAdapter(Permission),
    "question": TypeAdapter(Question),
    "todo": TypeAdapter(tuple[Todo, ...]),
    "queue": TypeAdapter(QueueItem),
}
# What a model or a schema may hold as it likes.
FREE = frozenset({"input", "parameters", "config"})


def hold_to_the_table(client: Client) -> int:
    """All that a client was sent. Returns how many messages of ours there were."""
    count, wrong = 0, list[str]()
    for message in client.log:
        if "method" in message and not of_lsp(message["method"]):
            wrong += faults_of_call(message["method"], message["params"])
            count += 1
        elif "result" in message and client.sent.get(message["id"]) in RESULTS:
            wrong += faults_of_result(client.sent[message["id"]], message["result"])
            count += 1
    assert wrong == []
    return count


def of_lsp(method: str) -> bool:
    return method.startswith(("$/", "window/", "textDocument/")) or method == "workspace/applyEdit"


def faults_of_call(method: str, params: Json) -> list[str]:
    row = PARAMS.get(method)
    if row is None:
        return [f"{method} is not in the table"]
    child = params.get("rootSessionId") != params.get("sessionId")
    if "rootSessionId" in params and not child and not method.startswith(("permission/", "question/")):
        return [f"{method} names the root of a root"]
    return [f"{method}: {fault}" for fault in faults(row, params)]


def faults_of_result(method: str, result: Json) -> list[str]:
    found = faults(RESULTS[method], result)
    for change in result.get("changes", ()):
        if ("value" in change) == ("removed" in change):
            found.append(f"a change with both or neither: {change}")
        elif "value" in change:
            found += faults(ROWS[change["kind"]], change["value"])
    return [f"{method}: {fault}" for fault in found]


def faults(model: "TypeAdapter[Any]", sent: Any) -> list[str]:
    """What is wrong with a value: what does not fit the model, and what the model does not know."""
    try:
        value = model.validate_python(sent)
    except ValidationError as error:
        return [f"{'.'.join(map(str, item['loc']))}: {item['msg']}" for item in error.errors()]
    known = model.dump_python(value, mode="json", by_alias=True, exclude_unset=True)
    unknown = [] if known == sent else [f"sent {json.dumps(sent)}, of which is known {json.dumps(known)}"]
    return unknown + [f"{path} is null" for path in _nulls(sent, "")]


def _nulls(value: Any, path: str) -> list[str]:
    if value is None:
        return [path]
    if isinstance(value, dict):
        return [found for key, one in value.items() if key not in FREE for found in _nulls(one, f"{path}.{key}")]
    if isinstance(value, list):
        return [found for at, one in enumerate(value) for found in _nulls(one, f"{path}[{at}]")]
    return []
