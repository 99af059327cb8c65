"""The reference page, from the JSON Schema."""

import json
from pathlib import Path
from typing import Any

from agentls.protocol.jsonschema import Schema
from agentls.protocol.typescript import type_name, type_of

_INTRODUCTION = Path(__file__).with_name("introduction.md")
_CLIENT = Path(__file__).with_name("client.md")
_TRANSCRIPT = Path(__file__).with_name("transcript.txt")


def reference(bundle: Schema) -> str:
    lines = [_text(_INTRODUCTION), "", _text(_CLIENT), "", "```text", _text(_TRANSCRIPT), "```", "", "## Requests", ""]
    for noun, rows in _by_noun(bundle["requests"]).items():
        lines += [f"### {noun}", ""]
        for name, row in rows.items():
            lines += [*_request(name, row, bundle["$defs"]), ""]
    lines += ["## Notifications", ""]
    for noun, rows in _by_noun(bundle["notifications"]).items():
        lines += [f"### {noun}", ""]
        for name, row in rows.items():
            later = "" if row["served"] else " *Not sent yet.*"
            lines += [f"#### `{name}`", "", f"{row['does']}{later}", "", *_members(row["params"], bundle["$defs"]), ""]
    lines += ["## Values", ""]
    shown = _roots(bundle)
    for name, schema in bundle["$defs"].items():
        if name not in shown:
            lines += [f"### {type_name(name)}", "", *_value(schema), ""]
    return "\n".join(lines).rstrip() + "\n"


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8").rstrip()


def _by_noun(rows: dict[str, Schema]) -> dict[str, dict[str, Schema]]:
    nouns: dict[str, dict[str, Schema]] = {}
    for name, row in rows.items():
        nouns.setdefault(name.partition("/")[0], {})[name] = row
    return nouns


def _roots(bundle: Schema) -> set[str]:
    """Definitions that are shown with their message."""
    rows = [*bundle["requests"].values(), *bundle["notifications"].values()]
    return {row[role]["$ref"].rpartition("/")[2] for row in rows for role in ("params", "result") if role in row}


def _request(name: str, row: Schema, defs: Schema) -> list[str]:
    notes = [row["does"]]
    if row["direction"] == "toClient":
        notes.append("*From the server to a client that said in `documents` that it answers this.*")
    elif not row["served"]:
        notes.append("*Later: answers `not_supported`.*")
    lines = [f"#### `{name}`", "", " ".join(notes), "", "Params:", "", *_members(row["params"], defs), ""]
    lines += ["Result:", "", *_members(row["result"], defs)]
    if row["errors"]:
        lines += ["", f"Errors: {', '.join(f'`{kind}`' for kind in row['errors'])}."]
    return lines


def _members(reference: Schema, defs: Schema) -> list[str]:
    return _value(defs[reference["$ref"].rpartition("/")[2]])


def _value(schema: Schema) -> list[str]:
    lines = [" ".join(schema["description"].split()), ""] if "description" in schema else []
    if "properties" not in schema:
        return [*lines, f"`{type_of(schema)}`" if schema.get("type") != "object" else "`{}`"]
    required = set(schema.get("required", ()))
    return lines + [_member(name, member, name in required) for name, member in schema["properties"].items()]


def _member(name: str, schema: Schema, required: Any) -> str:
    default = f", else `{json.dumps(schema['default'])}`" if "default" in schema else ""
    return f"- `{name}{'' if required else '?'}`: `{type_of(schema)}`{default}"
