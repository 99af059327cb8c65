"""Several sessions: side by side, and chosen from the list."""

from collections.abc import Callable

from nvim import Nvim
from steps import command, idle, send

from conftest import Desk


def gated(words: str, gate: str, rest: str) -> dict[str, object]:
    return {
        "events": [
            {"delta": {"content": words}},
            {"gate": gate},
            {"delta": {"content": rest}},
            {"finish": "stop"},
            "done",
        ]
    }


def test_two_sessions_stream_side_by_side(desk: Desk, picture: Callable[[Nvim, str], None]) -> None:
    model = desk.model(
        gated("Left is here", "left", ", left is done"), gated("Right is here", "right", ", right is done")
    )
    nvim = desk.chat(width=160)
    send(nvim, "to the left")
    nvim.screen.wait_for("Left is here")
    command(nvim, "Agent!")
    send(nvim, "to the right")
    text = nvim.screen.wait_for("Right is here")
    assert "Left is here" in text
    nvim.screen.wait_times("● working", 2)
    picture(nvim, "two")
    model.open("left")
    text = nvim.screen.wait_for("Left is here, left is done")
    assert "right is done" not in text
    model.open("right")
    nvim.screen.wait_for("Right is here, right is done")


def test_stopping_one_leaves_the_other_alone(desk: Desk) -> None:
    model = desk.model(gated("Left is here", "left", ", left is done"), gated("Right is here", "right", ""))
    nvim = desk.chat(width=160)
    send(nvim, "to the left")
    nvim.screen.wait_for("Left is here")
    command(nvim, "Agent!")
    send(nvim, "to the right")
    nvim.screen.wait_for("Right is here")
    nvim.keys("<C-c>")
    nvim.screen.wait_for("■ stopped")
    model.open("left")
    nvim.screen.wait_for("Left is here, left is done")


def test_a_session_is_chosen_from_the_list_and_shows_its_history(desk: Desk) -> None:
    desk.model({"text": "An old answer."}, {"text": "A new answer."})
    nvim = desk.chat()
    send(nvim, "an old question")
    nvim.screen.wait_for("An old answer.")
    idle(nvim)
    nvim.close()
    desk.open.remove(nvim)
    nvim = desk.chat()
    command(nvim, "AgentSessions")
    nvim.screen.wait_for("Start a new one")
    nvim.keys("2<CR>")
    nvim.screen.wait_for("An old answer.")
    send(nvim, "a new question")
    nvim.screen.wait_for("A new answer.")
    assert "An old answer." in nvim.screen.text()


def test_hidden_and_shown_again_the_chat_has_what_came_meanwhile(desk: Desk) -> None:
    model = desk.model(gated("Before", "go", " and after"))
    nvim = desk.chat()
    send(nvim, "go on")
    nvim.screen.wait_for("Before")
    command(nvim, "Agent")
    nvim.screen.wait_gone("Before")
    model.open("go")
    idle(nvim)
    command(nvim, "Agent")
    nvim.screen.wait_for("Before and after")
