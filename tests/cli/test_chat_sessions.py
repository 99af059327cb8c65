"""`agentls chat`: sessions, choices, and servers that die."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

from cli.chat import DONE, READY, asked, begun, server_of, sessions
from cli.program import Program, runs, says


def test_a_session_is_gone_on_with(program: Program) -> None:
    program.model(says("I am called One."), says("Still One."), says("One for ever."))
    session = json.loads(program.run("prompt", "Who are you?", "--json").stdout.splitlines()[0])["params"]["sessionId"]
    terminal = program.terminal("chat", "--continue")
    terminal.until("› Who are you?")
    terminal.until("I am called One.")
    terminal.type("And now?\r")
    terminal.until("Still One.")
    terminal.until(DONE)
    terminal.type("\x04")
    assert terminal.end() == 0
    terminal = program.terminal("chat", "--session", session)
    terminal.until("Still One.")
    terminal.type("Sure?\r")
    terminal.until("One for ever.")
    terminal.type("\x04")
    assert terminal.end() == 0
    assert [one["id"] for one in sessions(program)] == [session]


def test_a_session_that_there_is_not_or_that_is_worked_on_is_told(program: Program) -> None:
    program.model({"events": [{"delta": {"content": "Beginning"}}, "hang"]})
    terminal = program.terminal("chat", "--session", "ses_00000000000000000000000000")
    assert terminal.end() == 1
    assert "There is no session ses_00000000000000000000000000" in terminal.text
    process = program.start("prompt", "Hi", "--json")
    assert process.stdout
    line = next(line for line in process.stdout if '"part/delta"' in line)
    terminal = program.terminal("chat", "--session", json.loads(line)["params"]["sessionId"])
    assert terminal.end() == 1
    assert f"Process {process.pid} works on session" in terminal.text


def test_new_sessions_and_going_back(program: Program) -> None:
    program.model(says("First answer."), says("Second answer."), says("Third answer."))
    terminal = begun(program)
    terminal.type("One\r")
    terminal.until("First answer.")
    terminal.until(DONE)
    terminal.type("/new\r")
    terminal.until("begins a new session")
    terminal.type("Two\r")
    terminal.until("Second answer.")
    terminal.until(DONE)
    terminal.type("/sessions\r")
    terminal.until("goes on with one")
    terminal.type("/sessions 2\r")
    terminal.until("First answer.")
    terminal.type("Three\r")
    terminal.until("Third answer.")
    terminal.type("\x04")
    assert terminal.end() == 0
    assert len(sessions(program)) == 2
    assert "First answer." in json.dumps(program.requests()[2])


def test_model_and_mode_hold_for_the_session_to_come_and_for_the_one_that_is(program: Program) -> None:
    program.model(runs("touch made"), says("Done."), runs("touch more"), says("Not that."))
    terminal = begun(program, "--mode", "auto")
    terminal.type("/model\r")
    terminal.until("* is the default")
    terminal.type("/model fake/other\r")
    terminal.until("fake/other answers")
    terminal.type("Do it\r")
    terminal.until("✓ bash touch made")
    terminal.until(DONE)
    terminal.type("/mode ask\r")
    terminal.until("The mode is ask.")
    terminal.type("Again\r")
    terminal.until("Allow it?")
    terminal.type("\x03")
    terminal.until("cancelled · ")
    terminal.type("\x04")
    assert terminal.end() == 0
    assert {request["model"] for request in program.requests()} == {"other"}


def test_a_slash_that_is_no_command_is_told_and_comes_back(program: Program) -> None:
    program.model(says("A file."))
    terminal = begun(program)
    terminal.type("/etc/hosts is what?\r")
    terminal.until("There is no /etc/hosts: see /help")
    terminal.type("\x01 \r")
    terminal.until("A file.")
    terminal.type("/help\r")
    terminal.until("/sessions [NUMBER]")
    terminal.type("\x04")
    assert terminal.end() == 0
    assert "/etc/hosts is what?" in asked(program, 0)


def test_a_dead_server_is_started_again_and_nothing_is_lost(program: Program) -> None:
    program.model({"events": [{"delta": {"content": "Beginning "}}, "hang"]}, says("Went on."), says("And on."))
    terminal = begun(program)
    terminal.type("Do it\r")
    terminal.until("Beginning")
    terminal.type("a draft")
    terminal.until("a draft")
    server_of(terminal).kill()
    terminal.until("The server ended")
    terminal.until("/continue goes on with it")
    terminal.type("\r")
    terminal.until("Went on.")
    terminal.until(DONE)
    terminal.type("\x04")
    assert terminal.end() == 0
    assert "a draft" in asked(program, 1)
    assert terminal.text.count("Beginning") == 1
    assert len(sessions(program)) == 1


def test_a_question_is_asked_again_by_the_next_server(program: Program) -> None:
    program.model(runs("touch made"), says("It ran."))
    terminal = begun(program)
    terminal.type("Do it\r")
    terminal.until("Allow it?")
    server_of(terminal).kill()
    terminal.until("The server ended")
    terminal.until("Allow it?")
    terminal.type("y\r")
    terminal.until("It ran.")
    terminal.type("\x04")
    assert terminal.end() == 0
    assert (program.project / "made").exists()


def test_a_server_that_cannot_start_is_told_in_its_words(program: Program) -> None:
    program.machine.data.mkdir(parents=True)
    (program.machine.data / "agentls.db").mkdir()
    terminal = program.terminal("chat")
    assert terminal.end() == 1
    assert "the server ended: " in terminal.text
    assert "database" in terminal.text


def test_a_folder_with_settings_is_asked_about(program: Program) -> None:
    (program.project / "agentls.json").write_text('{"permission": {"bash": {"touch *": "allow"}}}', encoding="utf-8")
    program.model(runs("touch made"), says("Done."))
    terminal = program.terminal("chat")
    assert "allow bash: touch *" in terminal.until("[y/N] ")
    terminal.type("y\r")
    terminal.until(READY)
    terminal.type("Do it\r")
    terminal.until("✓ bash touch made")
    terminal.type("\x04")
    assert terminal.end() == 0


def test_demo_needs_no_model(program: Program) -> None:
    program.machine.config.unlink()
    terminal = program.terminal("chat", "--demo")
    terminal.until("/help")
    terminal.type("Hi\r")
    terminal.until("Allow it?")
    terminal.type("n\r")
    terminal.until("rejected · ")
    terminal.type("\x04")
    assert terminal.end() == 0


def test_a_turn_that_fails_says_why(program: Program) -> None:
    program.model({"status": 401, "body": {"error": {"message": "Incorrect API key"}}})
    terminal = begun(program)
    terminal.type("Hi\r")
    terminal.until("refused the key")
    terminal.until("error · ")
    terminal.type("\x04")
    assert terminal.end() == 0


def test_a_terminal_that_goes_away_ends_it_with_its_server(program: Program) -> None:
    program.model({"events": [{"delta": {"content": "Beginning "}}, "hang"]})
    terminal = begun(program)
    terminal.type("Hi\r")
    terminal.until("Beginning")
    server = server_of(terminal)
    os.kill(terminal.process.pid, signal.SIGHUP)
    assert terminal.end() == 129
    assert not server.is_running()


def test_it_knows_the_wire_and_not_the_engine() -> None:
    """The reference client has what any client has."""
    code = (
        "import sys, agentls.cli.chat.talk; print(*sorted(name for name in sys.modules if name.startswith('agentls.')))"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=Path(__file__).parent
    )
    floors = {name.split(".")[1] for name in ran.stdout.split()}
    assert floors <= {"cli", "errors", "lsp", "protocol", "schema"}
