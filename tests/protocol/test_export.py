"""The generated files."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from agentls.protocol.digest import SCHEMA_DIGEST
from agentls.protocol.export import generated, main, stale
from agentls.protocol.jsonschema import digest_of, schema_bundle
from agentls.protocol.methods import NOTIFICATIONS, REQUESTS

ROOT = Path(__file__).parents[2]


def test_the_generated_files_are_up_to_date() -> None:
    assert stale(ROOT / "editor-clients") == []


def test_the_digest_is_that_of_the_schema() -> None:
    assert digest_of(schema_bundle()) == SCHEMA_DIGEST


def test_check_names_what_is_stale(tmp_path: Path) -> None:
    assert main(["--check", str(tmp_path)]) == 1
    run = subprocess.run(
        [sys.executable, "-m", "agentls.protocol.export", "--check", str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 1
    assert "protocol.schema.json is out of date" in run.stderr


def test_every_reference_of_the_schema_has_a_definition() -> None:
    bundle = schema_bundle()
    wanted = set(re.findall(r'"#/\$defs/([^"]+)"', json.dumps(bundle)))
    assert wanted <= set(bundle["$defs"])
    assert set(bundle["requests"]) == {row.name for row in REQUESTS}
    assert set(bundle["notifications"]) == {row.name for row in NOTIFICATIONS}


def test_the_schema_knows_no_null() -> None:
    def kinds(value: Any) -> set[str]:
        if isinstance(value, dict):
            own = {value["type"]} if isinstance(value.get("type"), str) else set()
            return own.union(*map(kinds, value.values()))
        return set().union(*map(kinds, value)) if isinstance(value, list) else set()

    assert "null" not in kinds(schema_bundle())


def test_what_is_sent_requires_members_that_always_have_a_value() -> None:
    defs = schema_bundle()["$defs"]
    assert {"mode", "usage", "rules"} <= set(defs["Session"]["required"])
    assert "parentId" not in defs["Session"]["required"]
    assert defs["PromptParams"]["required"] == ["sessionId", "parts"]


def test_the_typescript_is_made_of_defined_types(tmp_path: Path) -> None:
    text = next(text for path, text in generated(tmp_path).items() if path.name == "protocol.ts")
    defined = set(re.findall(r"^export (?:interface|type) (\w+)", text, re.MULTILINE))
    code = re.sub(r'/\*\*.*?\*/|"[^"]*"|//.*', "", text)
    used = set(re.findall(r"\b[A-Z]\w+\b", code)) - {"PROTOCOL_VERSION", "Record"}
    assert used <= defined


def test_the_lua_names_every_message_once(tmp_path: Path) -> None:
    text = next(text for path, text in generated(tmp_path).items() if path.name == "protocol.lua")
    named = re.findall(r"^  ([a-z_A-Z]+) = '([^']+)',$", text, re.MULTILINE)
    assert sorted(method for _, method in named) == sorted(row.name for row in (*REQUESTS, *NOTIFICATIONS))
    assert all(key == method.replace("/", "_") for key, method in named)
    tables = re.findall(r"^M\.(\w+) = \{$", text, re.MULTILINE)
    assert tables == ["request", "editor", "notification"]


def test_the_page_has_every_message(tmp_path: Path) -> None:
    text = next(text for path, text in generated(tmp_path).items() if path.name == "PROTOCOL.md")
    for row in (*REQUESTS, *NOTIFICATIONS):
        assert f"#### `{row.name}`" in text
