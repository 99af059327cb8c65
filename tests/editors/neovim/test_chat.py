"""The conversation: first prompt, streaming, tools, thoughts, todos, steering, the queue, stopping, shell."""

from collections.abc import Callable

from nvim import Nvim
from steps import command, dialog, idle, send

from conftest import Desk


def test_a_new_user_gets_a_first_answer_without_a_setting_touched(desk: Desk) -> None:
    nvim = desk.editor(options="")
    nvim.keys(":lua require('agentls').setup{}<CR>:Agent<CR>")
    nvim.screen.wait_for("@ attach")
    send(nvim, "Hello")
    nvim.screen.wait_for("▍ build  demo")
    nvim.screen.wait_for("I am the demo model")


def test_text_appears_while_it_is_written(desk: Desk, picture: Callable[[Nvim, str], None]) -> None:
    first, rest = "# A heading\n\nSome **bold** words and ", "`code`.\n\n```lua\nlocal x = 1\n```\n\n- a point"
    model = desk.model(
        {
            "events": [
                {"delta": {"content": first}},
                {"gate": "half"},
                {"delta": {"content": rest}},
                {"finish": "stop"},
                "done",
            ]
        }
    )
    nvim = desk.chat()
    send(nvim, "Tell me")
    nvim.screen.wait_for("Some bold words and")
    assert "local x" not in nvim.screen.wait_for("● working")
    model.open("half")
    nvim.screen.wait_for("- a point")
    idle(nvim)
    nvim.screen.wait_gone("● working")
    shown = nvim.screen.text().splitlines()
    assert not any(sign in line for sign in ("**", "`", "# A heading") for line in shown)
    nvim.keys("<C-w>kggVGy")
    assert nvim.wait_lua("vim.fn.getreg('\"')").count("```") == 2  # what is copied is the source
    picture(nvim, "text")


def test_thoughts_are_folded_and_open_on_request(desk: Desk) -> None:
    desk.model({"reasoning": "first this\nthen that", "text": "Done thinking."})
    nvim = desk.chat()
    send(nvim, "Think")
    nvim.screen.wait_for("Done thinking.")
    idle(nvim)
    assert "then that" not in nvim.screen.wait_for("∴ thought")
    nvim.keys("<C-w>kgg/thought<CR><CR>")
    nvim.screen.wait_for("│ then that")
    nvim.keys("za")
    nvim.screen.wait_gone("│ then that")


def test_a_commands_output_shows_while_it_runs_and_folds_when_done(
    desk: Desk, picture: Callable[[Nvim, str], None]
) -> None:
    script = "echo first; while [ ! -f go ]; do sleep 0.05; done; echo second"
    desk.model({"calls": [{"name": "bash", "arguments": {"command": script}}]}, {"text": "It ran."})
    nvim = desk.chat()
    send(nvim, "Run it")
    dialog(nvim, "Permission · bash")
    nvim.keys("o")
    text = nvim.screen.wait_for("│ first")
    assert "◐ bash" in text
    picture(nvim, "live")
    (desk.project / "go").touch()
    nvim.screen.wait_for("It ran.")
    idle(nvim)
    assert "│ first" not in nvim.screen.wait_for("✓ bash")
    nvim.keys("<C-w>kgg/bash<CR><CR>")
    nvim.screen.wait_for("│ second")


def test_todos_stand_below_the_conversation(desk: Desk, picture: Callable[[Nvim, str], None]) -> None:
    todos = [
        {"content": "look around", "status": "completed", "priority": "high"},
        {"content": "fix it", "status": "in_progress", "priority": "high"},
        {"content": "tell", "status": "pending", "priority": "low"},
    ]
    desk.model({"calls": [{"name": "todowrite", "arguments": {"todos": todos}}]}, {"text": "I have a plan."})
    nvim = desk.chat()
    send(nvim, "Plan")
    nvim.screen.wait_for("To do  1 of 3")
    nvim.screen.wait_for("◐ fix it")
    idle(nvim)
    picture(nvim, "todos")


def test_a_second_prompt_steers_the_turn_that_runs(desk: Desk) -> None:
    script = "while [ ! -f go ]; do sleep 0.05; done"
    model = desk.model({"calls": [{"name": "bash", "arguments": {"command": script}}]}, {"text": "As you wish."})
    nvim = desk.chat()
    send(nvim, "Run it")
    dialog(nvim, "Permission · bash")
    nvim.keys("o")
    nvim.screen.wait_for("◐ bash")
    nvim.screen.wait_for("<C-s> steer")
    send(nvim, "and be quick")
    nvim.screen.wait_for("and be quick")
    (desk.project / "go").touch()
    nvim.screen.wait_for("As you wish.")
    idle(nvim)
    assert len(model.requests()) == 2
    assert "and be quick" in model.heard()


def test_a_queued_prompt_shows_waits_and_runs_after_the_turn(desk: Desk, picture: Callable[[Nvim, str], None]) -> None:
    model = desk.model(
        {"events": [{"delta": {"content": "One"}}, {"gate": "one"}, {"finish": "stop"}, "done"]}, {"text": "Two."}
    )
    nvim = desk.chat()
    send(nvim, "the first")
    nvim.screen.wait_for("● working")
    send(nvim, "the second", key="<C-q>")
    nvim.screen.wait_for("Queued  1")
    nvim.screen.wait_for("→ the second")
    picture(nvim, "queue")
    model.open("one")
    nvim.screen.wait_for("Two.")
    nvim.screen.wait_gone("Queued")


def test_a_queued_prompt_can_be_taken_out_and_comes_back_to_be_edited(desk: Desk) -> None:
    model = desk.model({"events": [{"delta": {"content": "One"}}, {"gate": "one"}, {"finish": "stop"}, "done"]})
    nvim = desk.chat()
    send(nvim, "the first")
    nvim.screen.wait_for("● working")
    send(nvim, "the second", key="<C-q>")
    nvim.screen.wait_for("→ the second")
    command(nvim, "AgentQueue")
    nvim.screen.wait_for("Take out of the queue")
    nvim.keys("1<CR>")
    nvim.screen.wait_gone("Queued")
    assert nvim.lua("return require('agentls.prompt').text(require('agentls.agent').current)") == "the second"
    model.open("one")
    idle(nvim)
    assert len(model.requests()) == 1


def test_stopping_ends_the_turn_at_once(desk: Desk) -> None:
    desk.model({"events": [{"delta": {"content": "On and on"}}, "hang"]}, {"text": "Fresh."})
    nvim = desk.chat()
    send(nvim, "Go")
    nvim.screen.wait_for("On and on")
    nvim.keys("<C-c>")
    nvim.screen.wait_for("■ stopped")
    nvim.screen.wait_gone("● working")
    send(nvim, "Again")
    nvim.screen.wait_for("Fresh.")


def test_the_users_own_command_runs_without_a_model(desk: Desk) -> None:
    model = desk.model({"text": "unused"})
    nvim = desk.chat()
    command(nvim, "AgentShell echo from-the-$((40+2))")
    nvim.screen.wait_for("✓ bash")
    nvim.keys("<C-w>kgg/✓ bash<CR><CR>")
    nvim.screen.wait_for("│ from-the-42")
    assert model.requests() == []


def test_a_failed_turn_says_why(desk: Desk) -> None:
    desk.model({"status": 401, "body": {"error": {"message": "that key is wrong"}}})
    nvim = desk.chat()
    send(nvim, "Hello")
    nvim.screen.wait_for("■ failed")
    nvim.screen.wait_for("that key is wrong")


def test_a_retry_counts_down_and_can_be_stopped(desk: Desk, picture: Callable[[Nvim, str], None]) -> None:
    desk.model({"status": 429, "headers": {"retry-after": "30"}, "body": {"error": {"message": "slow down"}}})
    nvim = desk.chat()
    send(nvim, "Hello")
    nvim.screen.wait_for("↻ attempt 2 in 27 s")
    nvim.screen.wait_for("slow down")
    picture(nvim, "retry")
    nvim.screen.wait_for("↻ attempt 2 in 25 s")
    nvim.keys("<C-c>")
    nvim.screen.wait_gone("↻")


def test_the_mode_and_model_are_changed_by_command(desk: Desk) -> None:
    desk.model({"text": "Hi."})
    nvim = desk.chat()
    command(nvim, "AgentMode acceptEdits")
    nvim.screen.wait_for("acceptEdits · ")
    command(nvim, "AgentModel fake/test-model")
    nvim.screen.wait_for("acceptEdits · test-model")


def test_the_agent_is_changed_and_names_are_completed(desk: Desk) -> None:
    desk.model({"text": "Hi."})
    nvim = desk.chat()
    nvim.wait_lua("require('agentls.server').state == 'up'")
    assert nvim.lua("return vim.fn.getcompletion('AgentMode a', 'cmdline')") == ["ask", "acceptEdits", "auto"]
    assert nvim.lua("return vim.fn.getcompletion('AgentModel fake', 'cmdline')") == ["fake/test-model"]
    agents = nvim.lua("return vim.fn.getcompletion('AgentAgent ', 'cmdline')")
    assert "plan" in agents
    command(nvim, "AgentAgent plan")
    nvim.screen.wait_for(" · plan")
    command(nvim, "AgentAgent")
    nvim.screen.wait_for("Agent (now plan)")
    nvim.keys(f"{agents.index('build') + 1}<CR>")
    nvim.screen.wait_for(" · build")


def test_what_no_line_of_a_buffer_can_hold_does_not_stop_the_drawing(desk: Desk) -> None:
    odd = [
        {"name": "no\nsuch\u0000tool", "arguments": {"path": "a\nb"}},
        {"name": "bash", "arguments": {"command": "echo a\u0000b", "description": "d\u0000"}},
        {"name": "todowrite", "arguments": {"todos": [{"content": "x\u0000\ny", "status": "pending"}]}},
    ]
    desk.model({"calls": odd}, {"text": "Still drawn."})
    nvim = desk.chat()
    send(nvim, "Go")
    nvim.screen.wait_for("Permission · bash")
    nvim.wait_lua("(vim.w.agentls_takes_keys or false)")
    nvim.keys("o")
    nvim.screen.wait_for("Still drawn.")
    assert nvim.lua("return vim.v.errmsg") == ""
