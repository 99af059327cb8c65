"""JSON bodies of what is sent."""

import json
from collections.abc import Mapping
from typing import Any

from pydantic_core import PydanticSerializationError, to_json

from agentls.errors import AgentError, ErrorKind
from agentls.schema.base import Raw, Value
from agentls.schema.text import clean

RequestId = int | str

_CODES: dict[ErrorKind, int] = {
    ErrorKind.PARSE_ERROR: -32700,
    ErrorKind.INVALID_REQUEST: -32600,
    ErrorKind.SHUTTING_DOWN: -32600,
    ErrorKind.METHOD_NOT_FOUND: -32601,
    ErrorKind.INVALID_PARAMS: -32602,
    ErrorKind.INTERNAL: -32603,
    ErrorKind.NOT_INITIALIZED: -32002,
    ErrorKind.CANCELLED: -32800,
    ErrorKind.EDIT_CONFLICT: -32801,
    ErrorKind.DRAINING: -32802,
}
REQUEST_FAILED = -32803


def error_code(kind: ErrorKind) -> int:
    """What has no code of its own is a request that failed."""
    return _CODES.get(kind, REQUEST_FAILED)


def encode(data: object) -> bytes:
    """Any JSON value. Values and raw JSON are spliced in as they stand at the top only."""
    if isinstance(data, Raw):
        return data.json
    try:
        if isinstance(data, str):
            return to_json(data)
        return data.wire() if isinstance(data, Value) else to_json(data)
    except PydanticSerializationError:
        plain = data.model_dump(by_alias=True, exclude_none=True) if isinstance(data, Value) else data
        return clean(json.dumps(plain, ensure_ascii=False, default=str)).encode()


def response(request_id: RequestId, result: object) -> bytes:
    return b'{"jsonrpc":"2.0","id":%b,"result":%b}' % (encode(request_id), encode(result))


def failure(request_id: RequestId | None, error: AgentError) -> bytes:
    return error_response(
        request_id,
        error_code(error.kind),
        error.message.partition("\n")[0],
        {"kind": error.kind, "retryable": error.retryable, **error.data},
    )


def error_response(request_id: RequestId | None, code: int, message: str, data: Mapping[str, Any] | None) -> bytes:
    error: dict[str, Any] = {"code": code, "message": message}
    if data is not None:
        error["data"] = data
    return b'{"jsonrpc":"2.0","id":%b,"error":%b}' % (encode(request_id), encode(error))


def notification(method: str, params: bytes) -> bytes:
    """`params` is an encoded object."""
    return b'{"jsonrpc":"2.0","method":"%b","params":%b}' % (method.encode(), params)
