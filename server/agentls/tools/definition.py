"""A tool as a model sees it: its text and parameters from `prompts/tools`, its JSON Schema from the code."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from agentls.config.prompts import filled
from agentls.tools.tool import Params

_HEADING = re.compile(r"^## parameters$", re.MULTILINE)
_ENTRY = re.compile(r"^- ([\w.]+): (.*(?:\n(?!- ).*)*)", re.MULTILINE)

Schema = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Definition:
    name: str
    description: str
    parameters: Schema

    def wire(self) -> dict[str, Any]:
        """As an element of a chat's `tools`."""
        function = {"name": self.name, "description": self.description, "parameters": self.parameters}
        return {"type": "function", "function": function}


def definition(name: str, params: type[Params], text: str, values: Mapping[str, str]) -> Definition:
    """The text's part under `## parameters` (`- name: …`, `- list.member: …`) describes the parameters."""
    text = filled(text, values)
    heading = _HEADING.search(text)
    description = text[: heading.start()].strip() if heading else text.strip()
    entries = _ENTRY.findall(text[heading.end() :]) if heading else []
    words = {entry: " ".join(said.split()) for entry, said in entries}
    raw = params.model_json_schema(by_alias=True)
    return Definition(name, description, _plain(raw, raw.get("$defs", {}), words, ""))


def parameters_in_words(parameters: Schema) -> str:
    required = parameters.get("required", [])
    members = cast("dict[str, Schema]", parameters.get("properties", {}))
    return ", ".join(
        f"{key} ({member.get('type', 'any')}{', required' if key in required else ''})"
        for key, member in members.items()
    )


def _plain(schema: Schema, defs: Schema, words: Mapping[str, str], place: str) -> Schema:
    """Without titles, references and nulls, and with the descriptions of the prompt."""
    plain: Schema = {}
    for key, value in _direct(schema, defs).items():
        match key:
            case "title" | "$defs" | "description":
                continue
            case "default" if value is None:
                continue
            case "properties":
                plain[key] = {name: _member(one, defs, words, _join(place, name)) for name, one in value.items()}
            case "items":
                plain[key] = _plain(value, defs, words, place)
            case _:
                plain[key] = value
    return plain


def _member(schema: Schema, defs: Schema, words: Mapping[str, str], place: str) -> Schema:
    said = {"description": words[place]} if place in words else {}
    return {**_plain(schema, defs, words, place), **said}


def _direct(schema: Schema, defs: Schema) -> Schema:
    """The schema behind a reference, and of a choice between something and null the something."""
    while True:
        reference = schema.get("$ref")
        choices = [one for one in cast("list[Schema]", schema.get("anyOf", [])) if one.get("type") != "null"]
        rest = {key: value for key, value in schema.items() if key not in {"$ref", "anyOf"}}
        if isinstance(reference, str):
            schema = {**cast("Schema", defs[reference.rpartition("/")[2]]), **rest}
        elif len(choices) == 1:
            schema = {**choices[0], **rest}
        else:
            return schema


def _join(place: str, name: str) -> str:
    return f"{place}.{name}" if place else name
