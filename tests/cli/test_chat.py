"""`agentls chat` at a terminal: the reference client, with a server of its own."""

import json

from cli.chat import DONE, READY, asked, begun, call, sessions
from cli.program import Program, runs, says


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
