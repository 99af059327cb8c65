"""`agentls chat`: what is typed while a turn runs, and how it is stopped."""

import pytest

from cli.chat import DONE, asked, begun, gated, sessions
from cli.program import Program, runs, says


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
