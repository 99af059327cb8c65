"""What can go wrong outside: each gets a line that says what and where, an exit code, and never a traceback."""

import json
import re
import signal
import sqlite3
import subprocess
import sys

import pytest

from agentls.cli.ending import Ending
from agentls.errors import AgentError, ErrorKind
from cli.program import Program, says

KEY = "sk-a-key-that-is-secret-0123456789"


def complaint(ran: subprocess.CompletedProcess, code: int = 1) -> str:
    assert ran.returncode == code, ran.stderr
    assert ran.stdout == ""
    assert ran.stderr.startswith("agentls: ")
    return ran.stderr


def test_a_wrong_key_is_named_and_the_session_stays_usable(program: Program) -> None:
    program.model({"status": 401, "body": {"error": {"message": f"Incorrect API key: {KEY}"}}}, says("Here."))
    ran = program.run("prompt", "Hi", "--json")
    assert ran.returncode == 1
    assert "key" in ran.stderr
    assert ran.stderr.count("\n") == 1
    assert KEY not in program.machine.log()
    session = json.loads(ran.stdout.splitlines()[0])["params"]["sessionId"]
    assert program.run("prompt", "Again", "--session", session).stdout == "Here.\n"


def test_a_provider_that_is_not_there_is_told_with_its_address(program: Program) -> None:
    process = program.start("prompt", "Hi")
    assert process.stderr
    said = process.stderr.readline()
    assert said.startswith("agentls: ")
    assert "Is the server running at http://127.0.0.1:9?" in said
    assert "Attempt 2 in " in said
    process.send_signal(signal.SIGINT)
    assert process.wait(60) == 130


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (["--model", "nobody/model"], "nobody"),
        (["--agent", "nobody"], "nobody"),
        (["--session", "ses_00000000000000000000000000"], "ses_00000000000000000000000000"),
        (["--session", "wrong"], "wrong"),
    ],
)
def test_names_that_there_are_not(program: Program, words: list[str], named: str) -> None:
    said = complaint(program.run("prompt", "Hi", *words))
    assert named in said
    assert said.count("\n") == 1


def test_broken_settings_are_told_with_their_place_and_it_goes_on(program: Program) -> None:
    program.model(says("Hello."))
    (program.project / "agentls.json").write_text('{\n  "model" "x"\n}\n', encoding="utf-8")
    ran = program.run("prompt", "Hi")
    assert (ran.returncode, ran.stdout) == (0, "Hello.\n")
    assert re.search(r"project/agentls\.json:\d+:\d+: ", ran.stderr)


def test_a_data_folder_that_cannot_be_made_is_named(program: Program) -> None:
    (program.project / "file").write_text("", encoding="utf-8")
    said = complaint(program.run("prompt", "Hi", AGENTLS_DATA_DIR=str(program.project / "file" / "data")))
    assert "file/data" in said


def test_a_database_that_is_none_is_moved_aside_and_that_is_said(program: Program) -> None:
    program.machine.data.mkdir(parents=True)
    (program.machine.data / "agentls.db").write_bytes(b"This is no database. " * 100)
    ran = program.run("prompt", "Hi")
    [moved] = program.machine.data.glob("agentls.db.broken-*")
    assert moved.read_bytes().startswith(b"This is no database. ")
    assert str(moved) in ran.stderr
    assert str(moved) not in program.run("prompt", "Hi").stderr


@pytest.mark.parametrize("words", [["prompt", "Hi"], ["serve"]])
def test_a_database_of_a_newer_program_is_left_alone(program: Program, words: list[str]) -> None:
    program.machine.data.mkdir(parents=True)
    path = program.machine.data / "agentls.db"
    with sqlite3.connect(path) as database:
        database.execute("PRAGMA user_version = 9999")
    said = complaint(program.run(*words))
    assert "newer agentls" in said
    assert str(path) in said


def test_a_fault_of_ours_is_a_line_and_the_traceback_is_in_the_log(program: Program) -> None:
    script = (
        "import sys; from agentls.cli.ending import Ending\n"
        "with Ending() as ending: raise ZeroDivisionError('a fault')\n"
        "sys.exit(ending.code)"
    )
    ran = subprocess.run(
        [sys.executable, "-c", script], env=program.machine.environment(), capture_output=True, text=True
    )
    said = complaint(ran, 70)
    assert "ZeroDivisionError" in said
    assert "Traceback" not in said
    assert "agentls.log" in said
    log = program.machine.log()
    assert "Traceback" in log
    assert "a fault" in log


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (AgentError(ErrorKind.CONFLICT, "Two of them."), 1, "agentls: Two of them.\n"),
        (
            ExceptionGroup("both", [ValueError(), AgentError(ErrorKind.CONFLICT, "The cause.")]),
            1,
            "agentls: The cause.\n",
        ),
        (FileNotFoundError(2, "No such file", "/a/b"), 1, "agentls: /a/b: No such file\n"),
        (KeyboardInterrupt(), 130, "agentls: aborted\n"),
        (BaseExceptionGroup("both", [KeyboardInterrupt(), ValueError()]), 130, "agentls: aborted\n"),
    ],
)
def test_what_is_raised_becomes_a_code_and_a_line(
    error: BaseException, code: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with Ending() as ending:
        raise error
    assert ending.code == code
    assert capsys.readouterr().err == said


@pytest.mark.parametrize("gone", ["BrokenPipeError()", "OSError(5, 'Input/output error')"])
def test_a_reader_or_a_terminal_that_is_gone_ends_it_without_a_word(gone: str) -> None:
    code = (
        "import sys; from agentls.cli.ending import Ending\n"
        f"with Ending() as ending: raise {gone}\n"
        "sys.exit(ending.code)"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (ran.returncode, ran.stdout, ran.stderr) == (141, "", "")


def test_an_exit_is_let_through() -> None:
    with pytest.raises(SystemExit), Ending():
        raise SystemExit(4)
