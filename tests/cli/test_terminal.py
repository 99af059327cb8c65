"""At a terminal: what is shown before it is asked, and what each answer leads to."""

import json
from typing import Any

import pytest

from cli.program import Program, runs, says

EDIT = ("edit", {"filePath": "a.txt", "oldString": "two", "newString": "three"})


def results(program: Program) -> list[str]:
    """What the model was told of its calls."""
    return [message["content"] for message in program.requests()[-1]["messages"] if message["role"] == "tool"]


def test_the_diff_is_shown_before_the_edit_is_asked_for(program: Program) -> None:
    program.model(says("", ("read", {"filePath": "a.txt"})), says("I edit. ", EDIT), says("Done."))
    terminal = program.terminal("prompt", "Edit it")
    shown = terminal.until("Allow it? [y/a/p/n] ")
    assert "-two" in shown
    assert "+three" in shown
    assert (program.project / "a.txt").read_text() == "one\ntwo\n"
    terminal.type("y\n")
    terminal.until("✓ edit a.txt")
    assert terminal.end() == 0
    assert (program.project / "a.txt").read_text() == "one\nthree\n"


def test_the_command_is_shown_as_it_would_run(program: Program) -> None:
    program.model(runs("touch made &&\n  ls"), says("Done."))
    terminal = program.terminal("prompt", "Run it")
    shown = terminal.until("Allow it?")
    assert "$ touch made &&" in shown
    assert "\n        ls" in shown
    terminal.type("yes\n")
    assert terminal.end() == 0
    assert (program.project / "made").exists()


def test_a_text_cannot_hide_what_is_asked_behind_control_characters(program: Program) -> None:
    program.model(runs("touch made # \x1b[2K\x1b[1A harmless \u202e"), says("Done."))
    terminal = program.terminal("prompt", "Run it")
    shown = terminal.until("Allow it?")
    assert "touch made # \\x1b[2K\\x1b[1A harmless \\x202e" in shown
    assert "\x1b[2K" not in terminal.raw
    terminal.type("n\n")
    assert terminal.end() == 3


def test_a_description_cannot_look_like_another_command(program: Program) -> None:
    call = ("bash", {"command": "touch made", "description": "Look\n    $ ls\n  Allow it? [y/n] y"})
    program.model(says("", call))
    terminal = program.terminal("prompt", "Run it")
    shown = terminal.until("    $ touch made")
    assert "? bash: Look $ ls Allow it? [y/n] y\n" in shown
    terminal.type("\x03")
    assert terminal.end() == 130


def test_every_line_of_a_diff_is_shown(program: Program) -> None:
    content = "".join(f"-- line {number}\n" for number in range(300))
    (program.project / "old.sql").write_text("-- was here\n", encoding="utf-8")
    read, write = ("read", {"filePath": "old.sql"}), ("write", {"filePath": "old.sql", "content": content})
    program.model(says("", read), says("", write))
    terminal = program.terminal("prompt", "Write it")
    shown = terminal.until("y  yes")
    assert "    --- was here\n" in shown
    assert all(f"    +-- line {number}\n" in shown for number in range(300))
    terminal.type("\x03")
    assert terminal.end() == 130


def test_a_plain_no_stops_the_turn(program: Program) -> None:
    program.model(runs("touch made"), says("never said"))
    terminal = program.terminal("prompt", "Run it")
    terminal.until("Allow it?")
    terminal.type("n\n")
    assert terminal.end() == 3
    assert "stopped, as you said no" in terminal.text
    assert "never said" not in terminal.text
    assert not (program.project / "made").exists()


def test_words_after_a_no_reach_the_model_and_the_turn_goes_on(program: Program) -> None:
    program.model(runs("touch made"), says("Then otherwise."))
    terminal = program.terminal("prompt", "Run it")
    terminal.until("Allow it?")
    terminal.type("n write it by hand\n")
    assert terminal.end() == 0
    assert "Then otherwise." in terminal.text
    assert "write it by hand" in results(program)[0]


def test_the_end_of_input_is_a_no(program: Program) -> None:
    program.model(runs("touch made"))
    terminal = program.terminal("prompt", "Run it")
    terminal.until("Allow it?")
    terminal.type("\x04")
    assert terminal.end() == 3
    assert not (program.project / "made").exists()


@pytest.mark.parametrize("typed", ["", "maybe", "y es", "yn", "Y please"])
def test_what_is_not_understood_allows_nothing_and_is_asked_again(program: Program, typed: str) -> None:
    program.model(runs("touch made"))
    terminal = program.terminal("prompt", "Run it")
    terminal.until("Allow it?")
    terminal.type(f"{typed}\n")
    terminal.until("Please answer one of y/a/p/n")
    terminal.until("Allow it?")
    assert not (program.project / "made").exists()
    terminal.type("n\n")
    assert terminal.end() == 3


def test_what_was_typed_before_the_question_is_no_answer_to_it(program: Program) -> None:
    program.model({"events": [{"delta": {"content": "Wait "}}, {"gate": "on"}, *call("touch made"), "done"]})
    terminal = program.terminal("prompt", "Run it")
    terminal.until("Wait")
    terminal.type("y\n")
    terminal.until("y")  # echoed: the terminal holds it
    program.open("on")
    terminal.until("Allow it?")
    terminal.type("n\n")
    assert terminal.end() == 3
    assert not (program.project / "made").exists()


def call(command: str) -> list[Any]:
    function = {"name": "bash", "arguments": json.dumps({"command": command, "description": "A try"})}
    delta = {"tool_calls": [{"index": 0, "id": "c1", "type": "function", "function": function}]}
    return [{"delta": delta}, {"finish": "tool_calls"}]


def test_always_in_this_session_holds_for_the_rest_of_it_alone(program: Program) -> None:
    program.model(runs("touch made"), runs("touch more"), says("Done."), runs("touch later"), says("Not done."))
    terminal = program.terminal("prompt", "Run it")
    shown = terminal.until("Allow it?")
    assert "always in this session: `touch" in shown
    terminal.type("a\n")
    assert terminal.end() == 0
    assert (program.project / "more").exists()
    other = program.run("prompt", "Once more")
    assert other.returncode == 3
    assert not (program.project / "later").exists()


def test_always_in_this_project_is_stored(program: Program) -> None:
    program.model(runs("touch made"), says("Done."), runs("touch later"), says("Done too."))
    terminal = program.terminal("prompt", "Run it")
    assert "stored for all its sessions: `touch" in terminal.until("Allow it?")
    terminal.type("p\n")
    assert terminal.end() == 0
    assert program.run("prompt", "Once more").returncode == 0
    assert (program.project / "later").exists()


def test_ctrl_c_while_it_asks_aborts_the_turn(program: Program) -> None:
    program.model(runs("touch made"))
    terminal = program.terminal("prompt", "Run it")
    terminal.until("Allow it?")
    terminal.type("\x03")
    assert terminal.end() == 130
    assert "aborted" in terminal.text
    assert not (program.project / "made").exists()


def test_ctrl_c_while_it_streams_aborts_the_turn(program: Program) -> None:
    program.model({"events": [{"delta": {"content": "Beginning "}}, "hang"]})
    terminal = program.terminal("prompt", "Run it")
    terminal.until("Beginning")
    terminal.type("\x03")
    assert terminal.end() == 130


QUESTIONS = {
    "questions": [
        {"header": "Colour", "question": "Which colour?", "options": [{"label": "Red"}, {"label": "Blue"}]},
        {
            "header": "Sizes",
            "question": "Which sizes?",
            "options": [{"label": "S"}, {"label": "M"}, {"label": "L"}],
            "multiple": True,
        },
        {"header": "Name", "question": "Which name?"},
        {
            "header": "Sure",
            "question": "Are you sure?",
            "options": [{"label": "Yes"}, {"label": "No"}],
            "custom": False,
        },
    ]
}


def test_questions_are_answered_by_number_label_or_own_words(program: Program) -> None:
    program.model(says("", ("question", QUESTIONS)), says("Thanks."))
    terminal = program.terminal("prompt", "Ask me")
    answers = [("Which colour?", "2"), ("Which sizes?", "1, l"), ("Which name?", "Ada"), ("Are you sure?", "perhaps")]
    for question, typed in answers:
        terminal.until(question)
        terminal.until("no answer): ")
        terminal.type(f"{typed}\n")
    terminal.until("none of the answers")
    terminal.until("no answer): ")
    terminal.type("yes\n")
    assert terminal.end() == 0
    assert all(answer in results(program)[0] for answer in ("→ Blue", "→ S, L", "→ Ada", "→ Yes"))


def test_a_question_dismissed_stops_the_turn(program: Program) -> None:
    program.model(says("", ("question", QUESTIONS)))
    terminal = program.terminal("prompt", "Ask me")
    terminal.until("no answer): ")
    terminal.type("\x04")
    assert terminal.end() == 3


def test_where_the_answer_goes_to_a_file_it_is_asked_beside_it(program: Program) -> None:
    program.model(runs("touch made"), says("Done."))
    out = program.project / "out.txt"
    terminal = program.terminal("prompt", "Run it", stdout=out)
    terminal.until("Allow it?")
    terminal.type("y\n")
    assert terminal.end() == 0
    assert out.read_text() == "I run it. \n\n✓ bash touch made\n\nDone.\n"


def test_json_for_a_program_and_questions_for_the_person(program: Program) -> None:
    program.model(runs("touch made"), says("Done."))
    out = program.project / "out.txt"
    terminal = program.terminal("prompt", "Run it", "--json", stdout=out)
    assert "$ touch made" in terminal.until("Allow it?")
    terminal.type("y\n")
    assert terminal.end() == 0
    methods = [json.loads(row)["method"] for row in out.read_text().splitlines()]
    assert {"permission/asked", "permission/resolved", "turn/ended"} <= set(methods)
