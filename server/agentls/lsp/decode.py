"""From a body to a message: requests, notifications, responses, and what is none of these."""

import json
from dataclasses import dataclass
from typing import Any, cast

from pydantic_core import from_json

from agentls.errors import AgentError, ErrorKind
from agentls.lsp.encode import RequestId
from agentls.schema.text import clean


@dataclass(frozen=True, slots=True)
class RequestMessage:
    id: RequestId
    method: str
    params: Any


@dataclass(frozen=True, slots=True)
class NotificationMessage:
    method: str
    params: Any


@dataclass(frozen=True, slots=True)
class ResponseMessage:
    """An answer to a request of ours."""

    id: RequestId
    result: Any
    error: Any


@dataclass(frozen=True, slots=True)
class Malformed:
    """Answered with `error`; `id` is null where none could be read."""

    id: RequestId | None
    error: AgentError


Incoming = RequestMessage | NotificationMessage | ResponseMessage | Malformed


def decode(body: bytes) -> Incoming:
    try:
        data = _parse(body)
    except (ValueError, RecursionError) as error:
        reason = str(error).partition("\n")[0]
        return Malformed(None, AgentError(ErrorKind.PARSE_ERROR, f"the message is not valid JSON: {reason}"))
    if isinstance(data, list):
        return _invalid(None, "batches are not supported: send one message at a time")
    if not isinstance(data, dict):
        return _invalid(None, "a message is a JSON object")
    return _classify(cast("dict[str, Any]", data))


def _parse(body: bytes) -> object:
    try:
        return from_json(body)
    except ValueError:
        # JavaScript writes half an emoji as an escape, which is JSON but no text.
        return from_json(clean(json.dumps(json.loads(body), ensure_ascii=False)).encode())


def _classify(data: dict[str, Any]) -> Incoming:
    given = data.get("id")
    # True and False are ints to Python.
    request_id: RequestId | None = given if isinstance(given, int | str) and not isinstance(given, bool) else None
    if "method" not in data:
        if request_id is None or not ("result" in data or "error" in data):
            return _invalid(request_id, "the message has neither a method nor a result")
        return ResponseMessage(request_id, data.get("result"), data.get("error"))
    if "id" in data and request_id is None:
        return _invalid(None, "the id is an integer or a string")
    return _call(data, request_id)


def _call(data: dict[str, Any], request_id: RequestId | None) -> Incoming:
    method, params = data["method"], data.get("params")
    if not isinstance(method, str):
        return _invalid(request_id, "the method is a string")
    if data.get("jsonrpc") != "2.0":
        return _invalid(request_id, 'the member "jsonrpc" is "2.0"')
    return NotificationMessage(method, params) if request_id is None else RequestMessage(request_id, method, params)


def _invalid(request_id: RequestId | None, reason: str) -> Malformed:
    return Malformed(request_id, AgentError(ErrorKind.INVALID_REQUEST, f"Invalid request: {reason}"))
