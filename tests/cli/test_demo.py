"""`agentls demo`: the whole job, with nobody and with somebody at the terminal."""

import subprocess
from pathlib import Path

import pytest

from cli.program import Program


@pytest.fixture
def temporary(program: Program, tmp_path: Path) -> Path:
    folder = tmp_path / "temporary"
    folder.mkdir()
    return folder


def test_without_a_terminal_it_does_the_job_and_says_who_answered(program: Program, temporary: Path) -> None:
    before = {path for path in program.machine.home.rglob("*") if "cache" not in str(path)}
    ran = program.run("demo", TMPDIR=str(temporary))
    assert (ran.returncode, ran.stderr) == (0, "")
    assert "\x1b" not in ran.stdout
    assert "no terminal to ask you at" in ran.stdout
    assert ran.stdout.count("answered by the demo itself") == 2
    assert "add(2, 3) is -1, not 5" in ran.stdout
    assert "-    return a - b\n    +    return a + b\n" in ran.stdout
    assert "test_calc.py  2 tests passed" in ran.stdout
    assert list(temporary.iterdir()) == [], "nothing is left behind"
    assert {path for path in program.machine.home.rglob("*") if "cache" not in str(path)} == before


def test_it_needs_no_network_no_key_and_no_git(program: Program, temporary: Path) -> None:
    python = subprocess.run(["sh", "-c", "command -v python3"], capture_output=True, text=True, check=True).stdout
    tools = temporary.parent / "tools"
    tools.mkdir()
    for name in ("python3", "sh", "bash", "ls"):
        found = subprocess.run(["sh", "-c", f"command -v {name}"], capture_output=True, text=True).stdout.strip()
        if found:
            (tools / name).symlink_to(found)
    ran = program.run("demo", TMPDIR=str(temporary), PATH=str(tools), http_proxy="http://127.0.0.1:9")
    assert python
    assert ran.returncode == 0, ran.stdout
    assert "2 tests passed" in ran.stdout


def test_a_named_folder_keeps_the_sample(program: Program) -> None:
    ran = program.run("demo", "sample", "--", folder=program.machine.home)
    sample = program.machine.home / "sample"
    assert ran.returncode == 0
    assert str(sample) in ran.stdout
    assert "return a + b" in (sample / "calc.py").read_text()
    changed = subprocess.run(["git", "diff", "--name-only"], cwd=sample, capture_output=True, text=True).stdout
    assert changed == "calc.py\n"


def test_at_a_terminal_the_person_decides(program: Program) -> None:
    terminal = program.terminal("demo")
    assert "+    return a + b" in terminal.until("Allow it? [y/a/p/n] ")
    terminal.type("y\n")
    assert "$ python3 test_calc.py" in terminal.until("Allow it?")
    terminal.type("y\n")
    terminal.until("What to try next")
    assert terminal.end() == 0
    assert "2 tests passed" in terminal.text


def test_a_no_leaves_the_sample_as_it_was(program: Program) -> None:
    terminal = program.terminal("demo")
    terminal.until("Allow it?")
    terminal.type("n not now\n")
    terminal.until("Allow it?")
    terminal.type("n\n")
    terminal.until("you did not allow the change")
    assert terminal.end() == 3


def test_ctrl_c_ends_it_and_cleans_up(program: Program) -> None:
    terminal = program.terminal("demo")
    shown = terminal.until("It is removed at the end.")
    folder = Path(shown.partition("is in ")[2].split(".", 1)[0].strip())
    terminal.until("Allow it?")
    assert folder.parent.is_dir()
    terminal.type("\x03")
    assert terminal.end() == 130
    assert not folder.parent.exists()
