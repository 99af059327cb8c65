"""Permissions: the dialog, its answers, and that it never gets in the way."""

import json
from collections.abc import Callable

from nvim import Nvim
from steps import command, dialog, idle, send

from conftest import Desk


def bash(*commands: str) -> dict[str, object]:
    return {"calls": [{"name": "bash", "arguments": {"command": one}} for one in commands]}


def test_once_runs_it_and_asks_again_the_next_time(desk: Desk, picture: Callable[[Nvim, str], None]) -> None:
    desk.model(bash("touch one"), bash("touch two"), {"text": "Both."})
    nvim = desk.chat()
    send(nvim, "Touch")
    dialog(nvim, "$ touch one")
    picture(nvim, "permission-command")
    nvim.keys("o")
    dialog(nvim, "$ touch two")
    assert (desk.project / "one").exists()
    assert not (desk.project / "two").exists()
    nvim.keys("o")
    nvim.screen.wait_for("Both.")
    assert (desk.project / "two").exists()


def test_always_stores_what_it_shows_for_this_session(desk: Desk) -> None:
    desk.model(bash("touch one"), bash("touch two"), {"text": "Both."}, bash("touch three"))
    nvim = desk.chat()
    send(nvim, "Touch")
    assert "allow bash: touch *" in dialog(nvim, "stores:")
    nvim.keys("a")
    nvim.screen.wait_for("Both.")
    assert (desk.project / "two").exists()
    command(nvim, "Agent!")
    send(nvim, "In another session")
    dialog(nvim, "$ touch three")


def test_always_in_the_project_holds_in_other_sessions_and_can_be_taken_back(desk: Desk) -> None:
    desk.model(bash("touch one"), {"text": "One."}, bash("touch two"), {"text": "Two."})
    nvim = desk.chat()
    send(nvim, "Touch")
    dialog(nvim, "$ touch one")
    nvim.keys("p")
    nvim.screen.wait_for("One.")
    command(nvim, "Agent!")
    send(nvim, "In another session")
    nvim.screen.wait_for("Two.")
    command(nvim, "AgentPermissions!")
    nvim.screen.wait_for("allow bash: touch *  (project)")
    nvim.keys("1<CR>")
    nvim.screen.wait_for("Taken back")


def test_a_pattern_can_be_left_out_of_always(desk: Desk, picture: Callable[[Nvim, str], None]) -> None:
    desk.model(bash("touch one && mkdir two"), bash("mkdir three"), {"text": "End."})
    nvim = desk.chat()
    send(nvim, "Both")
    dialog(nvim, "[x] allow bash: mkdir")
    nvim.keys("2")
    nvim.screen.wait_for("[ ] allow bash: mkdir")
    picture(nvim, "permission-patterns")
    nvim.keys("a")
    dialog(nvim, "$ mkdir three")


def test_a_reject_with_words_reaches_the_model_and_the_turn_goes_on(desk: Desk) -> None:
    model = desk.model(bash("rm -rf build"), {"text": "I will not, then."})
    nvim = desk.chat()
    send(nvim, "Clean up")
    dialog(nvim, "$ rm -rf build")
    nvim.keys("w")
    nvim.screen.wait_for("What should the agent do instead?")
    nvim.keys("use make clean<CR>")
    nvim.screen.wait_for("I will not, then.")
    assert "use make clean" in model.heard()


def test_a_reject_without_words_stops_the_turn(desk: Desk) -> None:
    desk.model(bash("rm -rf build"))
    nvim = desk.chat()
    send(nvim, "Clean up")
    dialog(nvim, "$ rm -rf build")
    nvim.keys("r")
    nvim.screen.wait_for("■ stopped: you said no")


def test_an_edit_shows_its_diff(desk: Desk, picture: Callable[[Nvim, str], None]) -> None:
    (desk.project / "a.py").write_text("def add(a, b):\n    return a - b\n", encoding="utf-8")
    path = str(desk.project / "a.py")
    desk.model(
        {"calls": [{"name": "read", "arguments": {"filePath": path}}]},
        {"calls": [{"name": "edit", "arguments": {"filePath": path, "oldString": "a - b", "newString": "a + b"}}]},
        {"text": "Fixed."},
    )
    nvim = desk.editor()
    nvim.keys(":edit a.py<CR>:Agent<CR>")
    nvim.screen.wait_for("@ attach")
    send(nvim, "Fix it")
    text = dialog(nvim, "Permission · edit")
    assert "-    return a - b" in text
    assert "+    return a + b" in text
    picture(nvim, "permission-diff")
    nvim.keys("o")
    nvim.screen.wait_for("Fixed.")
    idle(nvim)
    assert nvim.lua("return vim.api.nvim_buf_get_lines(vim.fn.bufnr('a.py'), 1, 2, false)[1]") == "    return a + b"


def test_it_is_withdrawn_when_somebody_else_answers(desk: Desk) -> None:
    desk.model(bash("touch one"), {"text": "Went on."})
    nvim = desk.chat()
    send(nvim, "Touch")
    dialog(nvim, "$ touch one")
    nvim.lua("""
        local ask = require('agentls.asks').open()[1]
        local params = { permissionId = ask.permissionId, reply = 'once' }
        require('agentls.agent').request('permission/reply', params, function() end)
    """)
    nvim.screen.wait_gone("Permission · bash")
    nvim.screen.wait_for("Went on.")
    assert nvim.lua("return vim.bo.filetype") == "agentls-prompt"


def test_it_is_withdrawn_by_an_abort(desk: Desk) -> None:
    desk.model(bash("touch one"))
    nvim = desk.chat()
    send(nvim, "Touch")
    dialog(nvim, "$ touch one")
    nvim.keys("q")
    command(nvim, "AgentAbort")
    nvim.screen.wait_for("■ stopped")
    command(nvim, "AgentPermissions")
    nvim.screen.wait_for("No question is open.")
    assert not (desk.project / "one").exists()


def test_it_takes_no_focus_while_the_user_types(desk: Desk) -> None:
    model = desk.model(
        {"events": [{"gate": "ask"}, *tool_call("touch one"), {"finish": "tool_calls"}, "done"]}, {"text": "End."}
    )
    nvim = desk.chat()
    send(nvim, "Touch")
    nvim.screen.wait_for("● working")
    nvim.keys("ia prompt of mine, ")
    model.open("ask")
    nvim.screen.wait_for("<Esc> to answer")
    nvim.keys("which goes on")
    nvim.screen.wait_for("a prompt of mine, which goes on")
    assert "Permission · bash" not in nvim.screen.text()
    nvim.keys("<Esc>")
    dialog(nvim, "$ touch one")
    nvim.keys("o")
    nvim.screen.wait_for("End.")
    nvim.screen.wait_for("a prompt of mine, which goes on")


def test_it_opens_by_command_only_while_the_user_is_in_a_file(desk: Desk) -> None:
    model = desk.model(
        {"events": [{"gate": "ask"}, *tool_call("touch one"), {"finish": "tool_calls"}, "done"]}, {"text": "End."}
    )
    nvim = desk.chat()
    send(nvim, "Touch")
    nvim.screen.wait_for("● working")
    nvim.keys("<C-w>h")
    model.open("ask")
    nvim.screen.wait_for("agentls asks")
    nvim.screen.wait_for("? :AgentPermissions to answer")
    nvim.keys("ioa")
    assert "Permission · bash" not in nvim.screen.text()
    nvim.keys("<Esc>:AgentPermissions<CR>")
    dialog(nvim, "$ touch one")
    nvim.keys("o")
    nvim.screen.wait_for("End.")
    assert nvim.lua("return vim.api.nvim_get_current_line()") == "oa"


def test_put_off_it_stays_away_until_it_is_asked_for(desk: Desk) -> None:
    desk.model(bash("touch one"), {"text": "End."})
    nvim = desk.chat()
    send(nvim, "Touch")
    dialog(nvim, "$ touch one")
    nvim.keys("q")
    nvim.screen.wait_gone("Permission · bash")
    nvim.keys("<C-w>k<C-w>j")
    assert "Permission · bash" not in nvim.screen.text()
    nvim.screen.wait_for("waits for your answer")
    command(nvim, "AgentPermissions")
    dialog(nvim, "$ touch one")
    nvim.keys("o")
    nvim.screen.wait_for("End.")


def test_two_sessions_questions_stand_in_one_queue(desk: Desk) -> None:
    desk.model(bash("touch one"), bash("touch two"), {"text": "End."}, {"text": "End too."})
    nvim = desk.chat()
    send(nvim, "Touch one")
    dialog(nvim, "$ touch one")
    nvim.keys("q")
    command(nvim, "Agent!")
    send(nvim, "Touch two")
    dialog(nvim, "$ touch two")
    nvim.screen.wait_for("1 of 2")
    nvim.keys("]")
    dialog(nvim, "$ touch one")
    nvim.screen.wait_for("2 of 2")
    nvim.keys("o")
    dialog(nvim, "$ touch two")
    nvim.keys("o")
    nvim.screen.wait_for("End too.")


def test_several_questions_of_one_answer_come_one_after_another(desk: Desk) -> None:
    desk.model(bash("touch one", "touch two", "touch three"), {"text": "End."})
    nvim = desk.chat()
    send(nvim, "Touch")
    for name in ("one", "two", "three"):
        dialog(nvim, f"$ touch {name}")
        nvim.keys("o")
    nvim.screen.wait_for("End.")
    assert all((desk.project / name).exists() for name in ("one", "two", "three"))


def tool_call(text: str) -> list[dict[str, object]]:
    function = {"name": "bash", "arguments": json.dumps({"command": text})}
    return [{"delta": {"tool_calls": [{"index": 0, "id": "c1", "type": "function", "function": function}]}}]
