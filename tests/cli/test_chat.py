"""`agentls chat` at a terminal: the reference client, with a server of its own."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import psutil
import pytest

from cli.program import Program, runs, says
from cli.terminal import Terminal

READY = "/model chooses another."
DONE = "done · "


def begun(program: Program, *words: str) -> Terminal:
    terminal = program.terminal("chat", *words)
    terminal.until(READY)
    return terminal


def gated(*texts: str, gate: str) -> dict[str, Any]:
    """Says the first text, and the rest once the gate is open."""
    first, *rest = [{"delta": {"content": text}} for text in texts]
    return {"events": [first, {"gate": gate}, *rest, {"finish": "stop"}, "done"]}


def server_of(terminal: Terminal) -> psutil.Process:
    (child,) = psutil.Process(terminal.process.pid).children()
    assert "--stdio" in child.cmdline()
    return child


def sessions(program: Program) -> list[dict[str, Any]]:
    return json.loads(program.run("sessions", "list", "--json").stdout)


def exported(program: Program) -> str:
    (session,) = sessions(program)
    return program.run("sessions", "export", session["id"]).stdout


def asked(program: Program, number: int) -> str:
    """The last thing that the model was told by the person, in that request."""
    return json.dumps([one for one in program.requests()[number]["messages"] if one["role"] == "user"][-1])


def test_prompts_are_answered_one_after_another_in_one_session(program: Program) -> None:
    program.model(says("Hello there."), says("Still here."))
    terminal = begun(program)
    terminal.type("Who are you?\r")
    terminal.until("› Who are you?")
    terminal.until("Hello there.")
    terminal.until(DONE)
    terminal.type("And now?\r")
    terminal.until("Still here.")
    terminal.until(DONE)
    terminal.type("\x04")
    assert terminal.end() == 0
    assert len(sessions(program)) == 1
    assert "Hello there." in json.dumps(program.requests()[1])


def test_nothing_is_stored_before_the_first_prompt(program: Program) -> None:
    program.model(says("never asked"))
    terminal = begun(program)
    terminal.type("/quit\r")
    assert terminal.end() == 0
    assert sessions(program) == []


def test_the_terminal_is_as_it_was_afterwards(program: Program) -> None:
    program.model(says("never asked"))
    terminal = program.terminal("chat")
    usual = terminal.modes()
    terminal.until(READY)
    assert terminal.modes() != usual
    terminal.type("\x04")
    assert terminal.end() == 0
    assert terminal.modes() == usual


def test_tool_calls_are_shown_with_their_status_and_asked_for(program: Program) -> None:
    program.model(says("I look. ", ("read", {"filePath": "a.txt"})), runs("touch made"), says("All done."))
    terminal = begun(program)
    terminal.type("Do it\r")
    terminal.until("✓ read a.txt")
    shown = terminal.until("Allow it? [y/a/p/n] ")
    assert "$ touch made" in shown
    assert "always in this session: `touch *`" in shown
    assert not (program.project / "made").exists()
    terminal.type("y\r")
    terminal.until("✓ bash touch made")
    terminal.until("All done.")
    terminal.type("\x04")
    assert terminal.end() == 0
    assert (program.project / "made").exists()


def test_always_in_this_project_is_stored(program: Program) -> None:
    program.model(runs("touch made"), says("Done."), runs("touch later"), says("Done too."))
    terminal = begun(program)
    terminal.type("Do it\r")
    assert "stored for all its sessions: `touch *`" in terminal.until("Allow it?")
    terminal.type("p\r")
    terminal.until(DONE)
    terminal.type("\x04")
    assert terminal.end() == 0
    assert program.run("prompt", "Once more").returncode == 0
    assert (program.project / "later").exists()


def test_words_with_a_no_reach_the_model(program: Program) -> None:
    program.model(runs("touch made"), says("Then otherwise."))
    terminal = begun(program)
    terminal.type("Do it\r")
    terminal.until("Allow it?")
    terminal.type("n write it by hand\r")
    terminal.until("Then otherwise.")
    terminal.type("\x04")
    assert terminal.end() == 0
    assert "write it by hand" in json.dumps(program.requests()[-1])


def test_a_question_is_answered(program: Program) -> None:
    questions = {"questions": [{"header": "Way", "question": "Which way?", "options": [{"label": "Left"}]}]}
    program.model(says("", ("question", questions)), says("Thanks."))
    terminal = begun(program)
    terminal.type("Ask me\r")
    terminal.until("Which way?")
    terminal.until("no answer): ")
    terminal.type("1\r")
    terminal.until("Thanks.")
    terminal.type("\x04")
    assert terminal.end() == 0
    assert "→ Left" in json.dumps(program.requests()[-1], ensure_ascii=False)


def test_a_draft_is_no_answer_and_comes_back_after_the_question(program: Program) -> None:
    program.model(
        {"events": [{"delta": {"content": "Wait "}}, {"gate": "on"}, *call("touch made"), "done"]},
        says("It ran."),
        says("Next."),
    )
    terminal = begun(program)
    terminal.type("Do it\r")
    terminal.until("Wait")
    terminal.type("y and then")
    terminal.until("› y and then")
    program.open("on")
    terminal.until("Allow it?")
    terminal.type("y\r")
    terminal.until("› y and then")
    terminal.until("It ran.")
    terminal.until(DONE)
    terminal.type(" go on\r")
    terminal.until("Next.")
    terminal.type("\x04")
    assert terminal.end() == 0
    assert "y and then go on" in asked(program, -1)


def call(command: str) -> list[Any]:
    function = {"name": "bash", "arguments": json.dumps({"command": command, "description": "A try"})}
    delta = {"tool_calls": [{"index": 0, "id": "c1", "type": "function", "function": function}]}
    return [{"delta": delta}, {"finish": "tool_calls"}]


def test_what_is_sent_while_it_works_steers_the_turn(program: Program) -> None:
    program.model(gated("Beginning ", "and end.", gate="on"), says("Steered."))
    terminal = begun(program)
    terminal.type("Do it\r")
    terminal.until("Beginning")
    terminal.type("no, otherwise\r")
    terminal.until("› no, otherwise")
    program.open("on")
    terminal.until("Steered.")
    terminal.until(DONE)
    terminal.type("\x04")
    assert terminal.end() == 0
    assert "no, otherwise" in asked(program, 1)
    assert terminal.text.count(DONE) == 1


def test_ctrl_c_stops_the_turn_and_the_chat_goes_on(program: Program) -> None:
    program.model({"events": [{"delta": {"content": "Beginning "}}, "hang"]}, says("Here again."))
    terminal = begun(program)
    terminal.type("Do it\r")
    terminal.until("Beginning")
    terminal.type("\x03")
    terminal.until("aborted")
    terminal.until("cancelled · ")
    terminal.type("Are you there?\r")
    terminal.until("Here again.")
    terminal.type("\x04")
    assert terminal.end() == 0


def test_ctrl_c_while_it_asks_stops_the_turn(program: Program) -> None:
    program.model(runs("touch made"), says("Here again."))
    terminal = begun(program)
    terminal.type("Do it\r")
    terminal.until("Allow it?")
    terminal.type("\x03")
    terminal.until("cancelled · ")
    terminal.type("Are you there?\r")
    terminal.until("Here again.")
    terminal.type("\x04")
    assert terminal.end() == 0
    assert not (program.project / "made").exists()


def test_ctrl_c_twice_leaves_and_says_what_was_not_sent(program: Program) -> None:
    program.model({"events": [{"delta": {"content": "Beginning "}}, "hang"]})
    terminal = begun(program)
    terminal.type("Do it\r")
    terminal.until("Beginning")
    terminal.type("half a thought")
    terminal.until("half a thought")
    terminal.type("\x03")
    terminal.until("aborted")
    terminal.type("\x03")
    terminal.until("this was not sent:")
    assert terminal.end() == 130
    assert terminal.text.endswith("agentls: this was not sent:\nhalf a thought\n")
    (session,) = sessions(program)
    assert "owner" not in session


def test_ctrl_c_on_a_draft_puts_it_aside(program: Program) -> None:
    program.model(says("Got it."))
    terminal = begun(program)
    terminal.type("a thought")
    terminal.until("a thought")
    terminal.type("\x03")
    terminal.until("brings it back")
    terminal.type("\x1b[A\r")
    terminal.until("Got it.")
    terminal.type("\x04")
    assert terminal.end() == 0
    assert "a thought" in asked(program, 0)


@pytest.mark.parametrize("keys", ["one\\\rtwo\r", "one\x1b\rtwo\r", "one\ntwo\r", "\x1b[200~one\r\ntwo\x1b[201~\r"])
def test_a_prompt_may_have_many_lines(program: Program, keys: str) -> None:
    program.model(says("Got both."))
    terminal = begun(program)
    terminal.type(keys)
    terminal.until("Got both.")
    terminal.type("\x04")
    assert terminal.end() == 0
    assert r"one\ntwo" in asked(program, 0)


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
