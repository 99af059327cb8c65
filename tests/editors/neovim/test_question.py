"""Questions of the agent: one choice, several, own words, dismissed, several one after another."""

from collections.abc import Callable
from typing import Any

from nvim import Nvim
from steps import command, dialog, send

from conftest import Desk

COLOURS = {
    "header": "Colour",
    "question": "Which colour?",
    "options": [{"label": "red", "description": "like fire"}, {"label": "blue"}],
}


def question(*items: dict[str, Any]) -> dict[str, Any]:
    return {"calls": [{"name": "question", "arguments": {"questions": list(items)}}]}


def test_one_choice_is_made_with_its_number(desk: Desk, picture: Callable[[Nvim, str], None]) -> None:
    model = desk.model(question(COLOURS), {"text": "Thank you."})
    nvim = desk.chat()
    send(nvim, "Paint")
    dialog(nvim, "Which colour?")
    picture(nvim, "question")
    nvim.keys("2")
    nvim.screen.wait_for("Thank you.")
    assert "→ blue" in model.heard()


def test_one_choice_is_made_under_the_cursor(desk: Desk) -> None:
    model = desk.model(question(COLOURS), {"text": "Thank you."})
    nvim = desk.chat()
    send(nvim, "Paint")
    dialog(nvim, "Which colour?")
    nvim.keys("j<CR>")
    nvim.screen.wait_for("Thank you.")
    assert "→ blue" in model.heard()


def test_several_are_ticked(desk: Desk, picture: Callable[[Nvim, str], None]) -> None:
    model = desk.model(question(COLOURS | {"multiple": True}), {"text": "Thank you."})
    nvim = desk.chat()
    send(nvim, "Paint")
    dialog(nvim, "[ ] red")
    nvim.keys("1j<Space>")
    nvim.screen.wait_for("[x] red")
    nvim.screen.wait_for("[x] blue")
    picture(nvim, "question-multiple")
    nvim.keys("<CR>")
    nvim.screen.wait_for("Thank you.")
    assert "→ red, blue" in model.heard()


def test_own_words_answer(desk: Desk) -> None:
    model = desk.model(question(COLOURS), {"text": "Thank you."})
    nvim = desk.chat()
    send(nvim, "Paint")
    dialog(nvim, "Which colour?")
    nvim.keys("i")
    nvim.screen.wait_for("Your answer:")
    nvim.keys("a shade of green<CR>")
    nvim.screen.wait_for("Thank you.")
    assert "→ a shade of green" in model.heard()


def test_what_was_ticked_and_written_stays_while_a_question_is_put_off(desk: Desk) -> None:
    model = desk.model(question(COLOURS | {"multiple": True}), {"text": "Thank you."})
    nvim = desk.chat()
    send(nvim, "Paint")
    dialog(nvim, "[ ] red")
    nvim.keys("1i")
    nvim.screen.wait_for("Your answer:")
    nvim.keys("a shade of green<CR>")
    nvim.screen.wait_for("own words: a shade of green")
    nvim.keys("q")
    nvim.screen.wait_gone("own words:")
    command(nvim, "AgentPermissions")
    dialog(nvim, "own words: a shade of green")
    nvim.keys("<CR>")
    nvim.screen.wait_for("Thank you.")
    assert "→ red, a shade of green" in model.heard()
    assert nvim.lua("return require('agentls.prompt').text(require('agentls.agent').current)") == ""


def test_own_words_for_a_question_that_was_settled_elsewhere_come_back(desk: Desk) -> None:
    desk.model(question(COLOURS | {"multiple": True}))
    nvim = desk.chat()
    send(nvim, "Paint")
    dialog(nvim, "[ ] red")
    nvim.keys("i")
    nvim.screen.wait_for("Your answer:")
    nvim.keys("a shade of green<CR>")
    nvim.screen.wait_for("own words: a shade of green")
    nvim.lua("local agent = require('agentls.agent'); agent.abort(agent.current)")
    nvim.screen.wait_for("■ stopped")
    nvim.wait_lua("require('agentls.prompt').text(require('agentls.agent').current) == 'a shade of green'")


def test_what_a_model_writes_into_a_question_breaks_no_line(desk: Desk) -> None:
    odd = {"label": "r\ned\u0000", "description": "like\nfire\u0000"}
    model = desk.model(
        question({"header": "Co\nlour\u0000", "question": "Which\u0000?", "options": [odd]}), {"text": "Ok."}
    )
    nvim = desk.chat()
    send(nvim, "Paint")
    dialog(nvim, "Co lour")
    nvim.keys("1")
    nvim.screen.wait_for("Ok.")
    assert "E976" not in nvim.messages()
    assert "r\\ned" in model.heard()


def test_several_questions_come_one_after_another(desk: Desk) -> None:
    size = {"header": "Size", "question": "How large?", "options": [{"label": "small"}, {"label": "large"}]}
    model = desk.model(question(COLOURS, size), {"text": "Thank you."})
    nvim = desk.chat()
    send(nvim, "Paint")
    dialog(nvim, "Which colour?")
    nvim.keys("1")
    nvim.screen.wait_for("How large?")
    nvim.keys("2")
    nvim.screen.wait_for("Thank you.")
    assert "→ red" in model.heard()
    assert "→ large" in model.heard()


def test_dismissed_it_stops_the_turn(desk: Desk) -> None:
    desk.model(question(COLOURS))
    nvim = desk.chat()
    send(nvim, "Paint")
    dialog(nvim, "Which colour?")
    nvim.keys("x")
    nvim.screen.wait_for("■ stopped")
    command(nvim, "AgentPermissions")
    nvim.screen.wait_for("No question is open.")
