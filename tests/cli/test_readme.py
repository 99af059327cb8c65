"""What the README says holds: its settings load, its commands are there, its links lead somewhere."""

import re
import shlex
from pathlib import Path

import pytest

from agentls.config.load import SettingsLoader
from agentls.config.paths import Paths
from agentls.config.trust import Trust, TrustStore
from cli.program import Program

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", TEXT, re.DOTALL | re.MULTILINE)


def test_the_first_block_is_the_demo_and_the_tests() -> None:
    demo, tests = blocks("sh")[0].splitlines()
    assert demo.endswith("agentls demo")
    assert tests.endswith("poe test")


@pytest.mark.parametrize("example", blocks("jsonc"))
def test_settings_load_without_a_complaint(example: str, tmp_path: Path) -> None:
    env = {"HOME": str(tmp_path), "WORK_KEY": "a-key"}
    paths = Paths.from_environment(env)
    paths.config.mkdir(parents=True)
    (paths.config / "agentls.json").write_text(example, encoding="utf-8")
    loaded = SettingsLoader(paths, env, Trust(TrustStore(paths.trust))).load(tmp_path, tmp_path)
    assert loaded.problems == ()
    assert loaded.settings.model or any(layer.rules for layer in loaded.layers)


def test_commands_and_options_are_there(program: Program) -> None:
    listed = program.run("--help").stdout
    words = [shlex.split(row, comments=True) for row in blocks("sh")[1].splitlines()]
    named = {row[row.index("agentls") + 1] for row in words if len(row) > row.index("agentls") + 1}
    assert named == {"chat", "prompt", "sessions", "models", "doctor", "demo", "schema"}
    assert all(f"\n  {name} " in listed for name in named)
    options = re.findall(r"(--[a-z]+)", program.run("prompt", "--help").stdout.partition("Options:")[2])
    assert [option for option in options if option != "--help" and option not in TEXT] == []


def test_links_lead_to_files() -> None:
    targets = re.findall(r"\]\(([^)]+)\)", TEXT)
    assert len(targets) >= 4
    assert [target for target in targets if not (ROOT / target).exists()] == []


def test_every_setting_that_is_named_is_one(program: Program) -> None:
    text = " ".join(TEXT.split())
    sentence = text[text.index("The keys of this") : text.index("`AGENTS.md`")]
    keys = re.findall(r"`(\w+)`", sentence)
    assert {"model", "permission", "instructions"} <= set(keys)
    program.machine.config.write_text("{" + ", ".join(f'"{key}": null' for key in keys) + "}", encoding="utf-8")
    assert "unknown key" not in program.run("prompt", "Hi").stderr
