"""The protocol as one JSON Schema (2020-12): a definition for each value, and for each message what it carries."""

import hashlib
import json
from typing import Any, cast

from pydantic.json_schema import GenerateJsonSchema, JsonSchemaMode, JsonSchemaValue, models_json_schema
from pydantic_core import core_schema

from agentls.protocol.methods import NOTIFICATIONS, REQUESTS
from agentls.protocol.options import PROTOCOL_VERSION, ClientOptions, ServerOffer
from agentls.protocol.registry import Notification, Request
from agentls.schema.base import Value

Schema = dict[str, Any]
_DIALECT = "https://json-schema.org/draft/2020-12/schema"


class _Generator(GenerateJsonSchema):
    """Absent members are left out on the wire, never null. What we send holds every member that has a value."""

    def nullable_schema(self, schema: core_schema.NullableSchema) -> JsonSchemaValue:
        return self.generate_inner(schema["schema"])

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> JsonSchemaValue:
        inner = self.generate_inner(schema["schema"])
        default = schema.get("default")
        if self.mode == "serialization" or "const" in inner or not isinstance(default, bool | int | str):
            return inner
        return {**inner, "default": default}

    def field_is_required(
        self,
        field: core_schema.ModelField | core_schema.DataclassField | core_schema.TypedDictField,
        total: Any,
    ) -> bool:
        schema = cast("Schema", field["schema"])
        if schema["type"] != "default":
            return super().field_is_required(field, total)
        inner = schema["schema"]
        if inner["type"] == "literal" and len(inner["expected"]) == 1:
            # The tag of a union.
            return True
        return self.mode == "serialization" and ("default_factory" in schema or schema.get("default") is not None)


def schema_bundle() -> Schema:
    """`requests` and `notifications` by name, with references into `$defs`."""
    models = _models()
    refs, definitions = models_json_schema(
        [(model, mode) for model, mode in models], by_alias=True, schema_generator=_Generator
    )
    defs = cast("Schema", _plain(definitions["$defs"]))

    def ref(model: type[Value], mode: JsonSchemaMode) -> Schema:
        return refs[model, mode]

    return {
        "$schema": _DIALECT,
        "title": "agentls",
        "protocolVersion": PROTOCOL_VERSION,
        "options": {"client": ref(ClientOptions, "validation"), "server": ref(ServerOffer, "serialization")},
        "requests": {row.name: _request(row, ref) for row in REQUESTS},
        "notifications": {row.name: _notification(row, ref) for row in NOTIFICATIONS},
        "$defs": defs,
    }


def digest_of(bundle: Schema) -> str:
    text = json.dumps(bundle, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def params_mode(row: Request[Any, Any]) -> JsonSchemaMode:
    """What the server receives is validated, what it sends is serialised."""
    return "validation" if row.direction == "toServer" else "serialization"


def result_mode(row: Request[Any, Any]) -> JsonSchemaMode:
    return "serialization" if row.direction == "toServer" else "validation"


def _models() -> list[tuple[type[Value], JsonSchemaMode]]:
    found: list[tuple[type[Value], JsonSchemaMode]] = [(ClientOptions, "validation"), (ServerOffer, "serialization")]
    for row in REQUESTS:
        found.append((row.params, params_mode(row)))
        found.append((row.result, result_mode(row)))
    told: list[tuple[type[Value], JsonSchemaMode]] = [(row.params, "serialization") for row in NOTIFICATIONS]
    return list(dict.fromkeys(found + told))


def _request(row: Request[Any, Any], ref: Any) -> Schema:
    return {
        "does": row.does,
        "direction": row.direction,
        "since": row.since,
        "served": row.served,
        "params": ref(row.params, params_mode(row)),
        "result": ref(row.result, result_mode(row)),
        "errors": [str(kind) for kind in row.errors],
    }


def _notification(row: Notification[Any], ref: Any) -> Schema:
    return {
        "does": row.does,
        "direction": row.direction,
        "since": row.since,
        "served": row.served,
        "params": ref(row.params, "serialization"),
    }


def _plain(value: Any, *, names: bool = True) -> Any:
    """Without the titles that pydantic makes of class names; `names`: the keys are names and not keywords."""
    if isinstance(value, list):
        return [_plain(item, names=False) for item in cast("list[Any]", value)]
    if not isinstance(value, dict):
        return value
    members = cast("Schema", value)
    return {
        key: _plain(member, names=not names and key in {"properties", "$defs"})
        for key, member in members.items()
        if names or key != "title" or not isinstance(member, str)
    }
