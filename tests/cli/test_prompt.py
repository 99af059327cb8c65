"""`agentls prompt` without a terminal: what it prints, and how it ends."""

import json
import signal
from typing import Any

import pytest

from cli.program import Program, runs, says


def events(stdout: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in stdout.splitlines()]


def test_the_answer_is_on_stdout_and_nothing_else(program: Program) -> None:
    program.model(says("Hello, all is well."))
    ran = program.run("prompt", "How are you?")
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "Hello, all is well.\n", "")
    assert "\x1b" not in ran.stdout


def test_a_locale_without_the_signs_is_no_fault(program: Program) -> None:
    program.model(says("Fünf ✓ 日本."))
    ran = program.run("prompt", "Hi", PYTHONIOENCODING="latin-1")
    assert ran.returncode == 0
    assert ran.stderr == ""


def test_tool_calls_are_a_line_each_with_their_result(program: Program) -> None:
    read, missing = ("read", {"filePath": "a.txt"}), ("read", {"filePath": "b.txt"})
    program.model(says("I look. ", read, missing), says("Two lines."))
    ran = program.run("prompt", "What is in a.txt?")
    assert ran.returncode == 0
    rows = ran.stdout.splitlines()
    assert "✓ read a.txt" in rows
    assert any(row.startswith("✗ read b.txt: ") for row in rows)
    assert rows[-1] == "Two lines."


def test_the_prompt_may_come_from_stdin(program: Program) -> None:
    program.model(says("Yes."))
    assert program.run("prompt", "-", stdin="A long question\nof two lines\n").stdout == "Yes.\n"
    assert "of two lines" in json.dumps(program.requests()[0])


def test_where_nobody_can_answer_it_is_not_done_and_said(program: Program) -> None:
    program.model(runs("touch made"), says("I could not run it."))
    ran = program.run("prompt", "Make a file")
    assert ran.returncode == 3
    assert "nobody could answer, so this was not done: bash touch made" in ran.stderr
    assert not (program.project / "made").exists()
    assert ran.stdout.endswith("I could not run it.\n")


def test_a_question_that_nobody_can_answer_is_said_too(program: Program) -> None:
    program.model(says("", ("question", {"questions": [{"header": "Way", "question": "Which?"}]})), says("Then not."))
    ran = program.run("prompt", "Ask me")
    assert ran.returncode == 3
    assert "nobody could answer" in ran.stderr


def test_mode_auto_runs_without_asking(program: Program) -> None:
    program.model(runs("touch made"), says("Done."))
    ran = program.run("prompt", "Make a file", "--mode", "auto")
    assert ran.returncode == 0
    assert (program.project / "made").exists()
    assert "✓ bash touch made" in ran.stdout


def test_a_command_that_fails_shows_its_exit_code(program: Program) -> None:
    program.model(runs("ls gone; exit 3"), says("It failed."))
    ran = program.run("prompt", "Try", "--mode", "auto")
    assert "✗ bash ls gone; exit 3: exit code 3" in ran.stdout


def test_mode_accept_edits_edits_but_does_not_run(program: Program) -> None:
    edit = ("edit", {"filePath": "a.txt", "oldString": "two", "newString": "three"})
    program.model(says("", ("read", {"filePath": "a.txt"})), says("", edit), runs("touch made"), says("Half done."))
    ran = program.run("prompt", "Edit", "--mode", "acceptEdits")
    assert ran.returncode == 3
    assert (program.project / "a.txt").read_text() == "one\nthree\n"
    assert not (program.project / "made").exists()


def test_directory_says_where_to_work(program: Program) -> None:
    other = program.machine.project("other", {"b.txt": "here\n"})
    program.model(says("", ("read", {"filePath": "b.txt"})), says("Seen."))
    ran = program.run("prompt", "Look", "-C", str(other))
    assert "✓ read b.txt" in ran.stdout


def test_json_prints_the_notifications_of_the_protocol_one_a_line(program: Program) -> None:
    program.model(says("Hello, all is well."))
    ran = program.run("prompt", "Hi", "--json")
    assert (ran.returncode, ran.stderr) == (0, "")
    told = events(ran.stdout)
    assert all(set(event) == {"method", "params"} for event in told)
    assert told[0]["method"] == "session/created"
    deltas = [event["params"]["delta"] for event in told if event["method"] == "part/delta"]
    assert "".join(deltas) == "Hello, all is well."
    ended = next(event["params"] for event in told if event["method"] == "turn/ended")
    assert ended["stopReason"] == "done"
    stored = [event["params"] for event in told if event["method"] not in {"part/delta", "session/status"}]
    assert {params["sessionId"] for params in stored} == {ended["sessionId"]}


def test_a_session_is_gone_on_with(program: Program) -> None:
    program.model(says("I am called One."), says("Still One."))
    first = program.run("prompt", "Who are you?", "--json")
    session = events(first.stdout)[0]["params"]["sessionId"]
    again = program.run("prompt", "And now?", "--session", session, folder=program.machine.home)
    assert (again.returncode, again.stdout) == (0, "Still One.\n")
    assert "I am called One." in json.dumps(program.requests()[1])


@pytest.mark.parametrize(("finish", "code"), [("length", 4), ("content_filter", 5)])
def test_an_answer_that_was_cut_has_an_exit_code_of_its_own(program: Program, finish: str, code: int) -> None:
    program.model({"text": "Half an ans", "finish": finish})
    ran = program.run("prompt", "Hi")
    assert ran.returncode == code
    assert ran.stderr.startswith("agentls: ")


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_aborts_the_turn(program: Program, number: int, code: int) -> None:
    program.model({"events": [{"delta": {"content": "Beginning"}}, "hang"]}, says("Here again."))
    process = program.start("prompt", "Hi", "--json")
    assert process.stdout
    began = next(line for line in process.stdout if '"part/delta"' in line)
    process.send_signal(number)
    rest, complaint = process.communicate(timeout=60)
    assert process.returncode == code
    assert complaint == "agentls: aborted\n"
    ended = next(event for event in events(rest) if event["method"] == "turn/ended")
    assert ended["params"]["stopReason"] == "cancelled"
    session = json.loads(began)["params"]["sessionId"]
    assert program.run("prompt", "Are you there?", "--session", session).stdout == "Here again.\n"


def test_a_reader_that_goes_away_stops_the_turn_quietly(program: Program) -> None:
    program.model({"events": [*({"delta": {"content": f"{number}\n"}} for number in range(20_000)), "hang"]})
    process = program.start("prompt", "Hi")
    assert process.stdout
    assert process.stdout.readline() == "0\n"
    process.stdout.close()
    assert process.wait(60) == 141
    assert process.stderr
    assert process.stderr.read() == ""


def test_s28_the_wait_before_another_attempt_is_shown_and_the_end_is_one(program: Program) -> None:
    """Nobody sits before a silent program: each wait is a line, and after the last attempt it ends."""
    slow = {"status": 429, "body": {"error": {"message": "slow down"}}, "headers": {"retry-after": "0"}}
    program.model(slow, says("Here I am."))
    ran = program.run("prompt", "Hi")
    assert (ran.returncode, ran.stdout) == (0, "Here I am.\n")
    assert "slow down" in ran.stderr
    assert "Attempt 2" in ran.stderr

    program.model(*[slow] * 6)
    ran = program.run("prompt", "Hi")
    assert ran.returncode != 0
    assert ran.stdout == ""
    assert [f"Attempt {number}" in ran.stderr for number in range(2, 7)] == [True] * 5


def test_s28_a_wait_of_hours_ends_the_program_and_says_when_to_come_back(program: Program) -> None:
    program.model({"status": 429, "body": {"error": {"message": "daily"}}, "headers": {"retry-after": "86400"}})
    ran = program.run("prompt", "Hi")
    assert ran.returncode != 0
    assert "daily" in ran.stderr
    assert len(program.requests()) == 1
