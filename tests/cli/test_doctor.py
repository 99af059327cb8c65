"""`agentls doctor`: what it finds, what it says to do, and what its exit code means."""

import json
import re
import shutil
import sqlite3
import subprocess
from pathlib import Path

import pytest

from cli.program import Program, says


def line(ran: subprocess.CompletedProcess, what: str) -> str:
    """The first line about that, with its advice."""
    found = re.search(rf"^. {re.escape(what)}: .*(\n  → .*)?", ran.stdout, re.MULTILINE)
    assert found, ran.stdout
    return found[0]


@pytest.fixture
def well(program: Program) -> Program:
    program.model(says("never asked"))
    return program


def test_where_all_is_well_every_line_is_ticked_and_nothing_is_left_behind(well: Program) -> None:
    ran = well.run("doctor")
    assert (ran.returncode, ran.stderr) == (0, "")
    assert {row[0] for row in ran.stdout.splitlines()} == {"✓"}
    assert str(well.machine.config) in line(ran, "settings")
    assert "fake/test-model: http://127.0.0.1:" in line(ran, "model")
    assert "a-key-of-the-tests" not in ran.stdout
    assert not well.machine.data.exists()
    assert well.requests() == [], "no model was paid for it"


def test_json_says_the_same(well: Program) -> None:
    ran = well.run("doctor", "--json")
    told = json.loads(ran.stdout)
    assert told["ok"] is True
    assert {check["state"] for check in told["checks"]} == {"ok"}
    assert {"agentls", "settings", "data", "database", "ripgrep", "model"} <= {
        check["name"] for check in told["checks"]
    }


def test_a_provider_that_is_not_there_fails_with_its_address(program: Program) -> None:
    ran = program.run("doctor")
    assert ran.returncode == 1
    said = line(ran, "model")
    assert said.startswith("✗ ")
    assert "Is the server running at http://127.0.0.1:9?" in said
    failed = [
        check for check in json.loads(program.run("doctor", "--json").stdout)["checks"] if check["state"] == "failed"
    ]
    assert [check["name"] for check in failed] == ["model"]


def test_a_default_that_the_server_does_not_list_is_a_warning_with_what_there_is(well: Program) -> None:
    well.machine.settings(well.url, model="fake/other")
    ran = well.run("doctor")
    assert ran.returncode == 0
    assert line(ran, "model").startswith("! ")
    assert "test-model" in line(ran, "model").partition("→")[2]


def test_a_missing_key_says_where_it_belongs(program: Program) -> None:
    program.machine.config.write_text('{"model": "openai/gpt-5"}', encoding="utf-8")
    ran = program.run("doctor")
    assert ran.returncode == 1
    assert "OPENAI_API_KEY" in line(ran, "model")


def test_another_provider_that_is_not_there_is_a_warning(well: Program) -> None:
    settings = json.loads(well.machine.config.read_text(encoding="utf-8"))
    settings["provider"]["away"] = {"options": {"baseURL": "http://127.0.0.1:9/v1"}, "models": {"m": {}}}
    well.machine.config.write_text(json.dumps(settings), encoding="utf-8")
    ran = well.run("doctor")
    assert ran.returncode == 0
    assert line(ran, "provider").startswith("! ")
    assert "away/m at http://127.0.0.1:9" in line(ran, "provider")


def test_with_no_model_it_says_how_to_get_one(program: Program) -> None:
    program.machine.config.unlink()
    ran = program.run("doctor")
    assert ran.returncode == 0
    assert line(ran, "model").startswith("! ")
    assert "OPENAI_API_KEY" in line(ran, "model")
    assert "no file, and none is needed" in line(ran, "settings")


def test_a_mistake_in_a_file_fails_with_its_place(well: Program) -> None:
    (well.project / "agentls.json").write_text('{\n  "model" "x"\n}\n', encoding="utf-8")
    ran = well.run("doctor")
    assert ran.returncode == 1
    assert re.search(r"^✗ settings: .*project/agentls\.json:2:\d+: ", ran.stdout, re.MULTILINE)


def test_settings_that_do_not_hold_are_named(well: Program) -> None:
    (well.project / "agentls.json").write_text('{"permission": {"bash": "allow"}}', encoding="utf-8")
    ran = well.run("doctor")
    assert ran.returncode == 0
    assert line(ran, "trust").startswith("! ")
    assert "allow bash" in line(ran, "trust")


def test_a_database_that_is_none_or_damaged_or_newer_fails(well: Program) -> None:
    well.run("prompt", "Hi", "--model", "demo/demo")
    path = well.machine.data / "agentls.db"
    assert "whole, 1 sessions" in line(well.run("doctor"), "database")
    whole = path.read_bytes()
    path.write_bytes(whole[:4096] + b"\x55" * 8192 + whole[12288:])
    ran = well.run("doctor")
    assert ran.returncode == 1
    assert line(ran, "database").startswith("✗ ")
    assert f"Move {path} away" in line(ran, "database")
    path.write_bytes(b"This is no database. " * 100)
    assert "is not a database" in line(well.run("doctor"), "database")
    path.unlink()
    with sqlite3.connect(path) as database:
        database.execute("PRAGMA user_version = 9999")
    assert "Update agentls" in line(well.run("doctor"), "database")


def test_a_data_folder_that_cannot_be_made_fails(well: Program) -> None:
    (well.project / "file").write_text("", encoding="utf-8")
    ran = well.run("doctor", AGENTLS_DATA_DIR=str(well.project / "file" / "data"))
    assert ran.returncode == 1
    assert "file/data cannot be written" in line(ran, "data")


def test_tools_that_are_missing_are_named_with_what_to_do(well: Program, tmp_path: Path) -> None:
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "bash").symlink_to(shutil.which("bash") or "")
    broken = tools / "git"
    broken.write_text("#!/bin/sh\nexit 3\n", encoding="utf-8")
    broken.chmod(0o755)
    ran = well.run("doctor", PATH=str(tools))
    assert line(ran, "bash").startswith("✓ ")
    assert "ends with 3" in line(ran, "git")
    assert "install git" in line(ran, "git")
    assert "uv tool update-shell" in line(ran, "on the path")


def test_a_terminal_sees_what_it_is_busy_with(well: Program) -> None:
    terminal = well.terminal("doctor")
    assert terminal.end() == 0
    assert "Asking the providers" in terminal.text
