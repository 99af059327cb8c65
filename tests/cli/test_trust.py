"""Folders that bring settings of their own: nothing of them that runs or allows holds before somebody said so."""

import json

import pytest

from cli.program import Program, runs, says


@pytest.fixture
def allowing(program: Program) -> Program:
    """Its project allows a command; the model runs it in each of two prompts."""
    settings = {"permission": {"bash": {"touch *": "allow"}}}
    (program.project / "agentls.json").write_text(json.dumps(settings), encoding="utf-8")
    program.model(runs("touch made"), says("Done."), runs("touch more"), says("Done."))
    return program


def test_untrusted_it_says_what_does_not_hold(allowing: Program) -> None:
    ran = allowing.run("prompt", "Run it")
    assert ran.returncode == 3
    assert "not trusted" in ran.stderr
    assert "allow bash: touch *" in ran.stderr
    assert not (allowing.project / "made").exists()


def test_trust_on_the_command_line_holds_for_that_run(allowing: Program) -> None:
    ran = allowing.run("prompt", "Run it", "--trust")
    assert (ran.returncode, ran.stderr) == (0, "")
    assert (allowing.project / "made").exists()
    assert "not trusted" in allowing.run("prompt", "Run it").stderr
    assert not (allowing.project / "more").exists()


def test_a_yes_at_the_terminal_is_remembered(allowing: Program) -> None:
    terminal = allowing.terminal("prompt", "Run it")
    assert "allow bash: touch *" in terminal.until("Trust the folder as it is now? It is remembered. [y/N] ")
    terminal.type("y\n")
    assert terminal.end() == 0
    assert (allowing.project / "made").exists()
    assert allowing.run("prompt", "Run it").stderr == ""
    assert (allowing.project / "more").exists()


@pytest.mark.parametrize("typed", ["\n", "n\n", "yeah\n", "\x04"])
def test_anything_but_a_clear_yes_is_a_no(allowing: Program, typed: str) -> None:
    terminal = allowing.terminal("prompt", "Run it")
    terminal.until("[y/N] ")
    terminal.type(typed)
    terminal.until("not trusted")
    terminal.until("Allow it?")
    terminal.type("n\n")
    assert terminal.end() == 3
    assert not (allowing.project / "made").exists()


def test_settings_that_changed_are_asked_about_again(allowing: Program) -> None:
    terminal = allowing.terminal("prompt", "Run it")
    terminal.until("[y/N] ")
    terminal.type("y\n")
    assert terminal.end() == 0
    (allowing.project / "agentls.json").write_text('{"permission": {"bash": "allow"}}', encoding="utf-8")
    again = allowing.terminal("prompt", "Run it")
    assert "settings changed since you trusted them" in again.until("[y/N] ")
    again.type("n\n")
    again.until("Allow it?")
    again.type("n\n")
    assert again.end() == 3
