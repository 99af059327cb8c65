"""`agentls sessions`: list, show, export, delete."""

import json
import signal
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from cli.program import Program, runs, says

NOBODY = "ses_00000000000000000000000000"


def talk(program: Program, text: str = "Hi", *words: str, folder: Path | None = None) -> str:
    """The id of a session in which that was prompted."""
    ran = program.run("prompt", text, "--json", *words, folder=folder)
    assert ran.returncode in {0, 3}, ran.stderr
    return json.loads(ran.stdout.splitlines()[0])["params"]["sessionId"]


def ids(stdout: str) -> list[str]:
    return [row.split()[0] for row in stdout.splitlines()]


@pytest.fixture
def spoken(program: Program) -> Program:
    program.model(says("One answer.") | {"repeat": True})
    return program


def test_the_sessions_of_this_folder_are_listed_the_newest_first(spoken: Program) -> None:
    other = spoken.machine.project("other", {})
    first, second, elsewhere = talk(spoken), talk(spoken), talk(spoken, folder=other)
    ran = spoken.run("sessions", "list")
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ids(ran.stdout) == [second, first]
    every = spoken.run("sessions", "list", "--all").stdout
    assert ids(every) == [elsewhere, second, first]
    assert str(other) in every.splitlines()[0]
    assert ids(spoken.run("sessions", "list", "-C", str(other)).stdout) == [elsewhere]


def test_a_limit_is_said_and_json_has_the_values(spoken: Program) -> None:
    talk(spoken)
    newest = talk(spoken)
    ran = spoken.run("sessions", "list", "--limit", "1")
    assert ids(ran.stdout) == [newest]
    assert "--limit shows more" in ran.stderr
    listed = json.loads(spoken.run("sessions", "list", "--json").stdout)
    assert listed[0]["id"] == newest
    assert listed[0]["directory"] == str(spoken.project)


def test_none_is_said(program: Program) -> None:
    ran = program.run("sessions", "list")
    assert (ran.returncode, ran.stdout) == (0, "")
    assert "there are no sessions in" in ran.stderr
    assert "--all" in ran.stderr
    assert json.loads(program.run("sessions", "list", "--json").stdout) == []


def test_show_tells_what_it_is_and_the_end_of_what_was_said(spoken: Program) -> None:
    session = talk(spoken, "What is the answer?")
    for _ in range(2):
        talk(spoken, "And now?", "--session", session)
    ran = spoken.run("sessions", "show", session, "--last", "2")
    assert (ran.returncode, ran.stderr) == (0, "")
    assert session in ran.stdout
    assert str(spoken.project) in ran.stdout
    assert "fake/test-model" in ran.stdout
    assert "earlier messages: agentls sessions export" in ran.stdout
    assert ran.stdout.count("And now?") == 1
    assert ran.stdout.endswith("One answer.\n")


def test_markdown_holds_the_whole_conversation(program: Program) -> None:
    program.model(says("I look. ", ("read", {"filePath": "a.txt"})), runs("echo '```'; ls gone"), says("Done."))
    session = talk(program, "Look around", "--mode", "auto")
    text = program.run("sessions", "export", session).stdout
    assert text.startswith("# ")
    order = ["Look around", "I look.", "**read** `a.txt`", "**bash** ```` echo '```'; ls gone ````", "Done."]
    places = [text.index(words) for words in order]
    assert places == sorted(places)
    assert "\n````\n" in text, "a fence inside an output does not end the block"


def test_an_edit_is_exported_as_its_diff(program: Program) -> None:
    edit = ("edit", {"filePath": "a.txt", "oldString": "two", "newString": "three"})
    program.model(says("", ("read", {"filePath": "a.txt"})), says("", edit), says("Done."))
    session = talk(program, "Edit", "--mode", "acceptEdits")
    text = program.run("sessions", "export", session).stdout
    assert "```diff\n" in text
    assert "\n-two\n+three\n" in text


def test_json_holds_all_messages_and_parts(spoken: Program) -> None:
    session = talk(spoken)
    exported = json.loads(spoken.run("sessions", "export", session, "--json").stdout)
    assert exported["session"]["id"] == session
    assert [one["message"]["role"] for one in exported["messages"]] == ["user", "assistant"]
    texts = [part["text"] for one in exported["messages"] for part in one["parts"] if part["type"] == "text"]
    assert texts == ["Hi", "One answer."]


def test_a_conversation_of_many_pages_is_exported_in_its_order(spoken: Program) -> None:
    session = talk(spoken)
    with sqlite3.connect(spoken.machine.data / "agentls.db") as database:
        row = "SELECT id, session_id, seq, pos, role, request, wire FROM messages WHERE role = 'user'"
        _, session_id, seq, _, role, request, wire = database.execute(row).fetchone()
        for number in range(600):
            message = json.loads(wire) | {"id": f"msg_{number:026}", "pos": 1000 + number}
            values = (message["id"], session_id, seq, message["pos"], role, request, json.dumps(message))
            database.execute("INSERT INTO messages VALUES (?, ?, ?, ?, ?, ?, ?)", values)
    exported = json.loads(spoken.run("sessions", "export", session, "--json").stdout)
    places = [one["message"]["pos"] for one in exported["messages"]]
    assert len(places) == 602
    assert places == sorted(places)


def test_a_file_gets_the_whole_or_nothing(spoken: Program) -> None:
    session = talk(spoken)
    out = spoken.project / "talk.md"
    ran = spoken.run("sessions", "export", session, "--output", str(out))
    assert (ran.returncode, ran.stdout) == (0, "")
    assert str(out) in ran.stderr
    assert "One answer." in out.read_text(encoding="utf-8")
    lost = spoken.run("sessions", "export", session, "-o", str(spoken.project / "not" / "there.md"))
    assert lost.returncode == 1
    assert "not/" in lost.stderr
    assert sorted(path.name for path in spoken.project.iterdir() if "talk" in path.name) == ["talk.md"]


@pytest.mark.parametrize("command", ["show", "export", "delete"])
@pytest.mark.parametrize("session", [NOBODY, "wrong"])
def test_a_session_that_there_is_not_is_named(program: Program, command: str, session: str) -> None:
    ran = program.run("sessions", command, session)
    assert (ran.returncode, ran.stdout) == (1, "")
    assert ran.stderr.startswith("agentls: ")
    assert session in ran.stderr


def test_delete_asks_and_only_a_yes_is_one(spoken: Program) -> None:
    session = talk(spoken)
    for typed, code in (("n\n", 3), ("\x04", 3), ("y\n", 0)):
        assert session in spoken.run("sessions", "list").stdout
        terminal = spoken.terminal("sessions", "delete", session)
        terminal.until("Delete this session for good? [y/N] ")
        terminal.type(typed)
        assert terminal.end() == code
    assert spoken.run("sessions", "list").stdout == ""


def test_without_a_terminal_only_yes_deletes(spoken: Program) -> None:
    first, second, third = talk(spoken), talk(spoken), talk(spoken)
    ran = spoken.run("sessions", "delete", first)
    assert ran.returncode == 3
    assert "--yes" in ran.stderr
    ran = spoken.run("sessions", "delete", "--yes", first, second)
    assert ran.returncode == 0
    assert "deleted 2 sessions" in ran.stderr
    assert ids(spoken.run("sessions", "list").stdout) == [third]


def test_one_that_is_not_there_keeps_the_others(spoken: Program) -> None:
    session = talk(spoken)
    assert spoken.run("sessions", "delete", "--yes", session, NOBODY).returncode == 1
    assert ids(spoken.run("sessions", "list").stdout) == [session]


def test_a_session_that_another_process_works_on_is_said_with_its_number(program: Program) -> None:
    program.model({"events": [{"delta": {"content": "Beginning"}}, "hang"]})
    process = program.start("prompt", "Hi", "--json")
    assert process.stdout
    begun: dict[str, Any] = json.loads(next(line for line in process.stdout if '"part/delta"' in line))
    session = begun["params"]["sessionId"]
    assert f"process {process.pid} works on it" in program.run("sessions", "list").stdout
    assert json.loads(program.run("sessions", "list", "--json").stdout)[0]["owner"] == {"pid": process.pid}
    assert f"process {process.pid} works on it" in program.run("sessions", "show", session).stdout
    ran = program.run("sessions", "delete", "--yes", session)
    assert ran.returncode == 1
    assert str(process.pid) in ran.stderr
    process.send_signal(signal.SIGINT)
    process.wait(60)
    assert program.run("sessions", "delete", "--yes", session).returncode == 0


def test_control_characters_of_a_model_do_not_reach_the_terminal(program: Program) -> None:
    program.model(says("Evil \x1b[2J text."))
    session = talk(program)
    terminal = program.terminal("sessions", "show", session)
    assert terminal.end() == 0
    assert "Evil \\x1b[2J text." in terminal.text
    assert "\x1b[2J" not in terminal.raw
