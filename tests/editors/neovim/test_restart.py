"""The server ends, is missing, is wrong, or Neovim starts anew: nothing that was typed or asked is lost."""

import os
import signal
import sys
from collections.abc import Callable

from nvim import Nvim
from steps import command, dialog, idle, send

from conftest import Desk

TOUCH = {"calls": [{"name": "bash", "arguments": {"command": "touch one"}}]}


def server_pid(nvim: Nvim) -> int:
    nvim.lua("""
        vim.g.pid = nil
        require('agentls.agent').request('server/status', {}, function(_, r) vim.g.pid = r and r.pid end)
    """)
    return int(nvim.wait_lua("vim.g.pid"))


def test_a_server_killed_in_mid_question_comes_back_with_the_question(
    desk: Desk, picture: Callable[[Nvim, str], None]
) -> None:
    desk.model(TOUCH, {"text": "It is touched."})
    nvim = desk.chat()
    send(nvim, "Touch")
    dialog(nvim, "$ touch one")
    first = server_pid(nvim)
    os.kill(first, signal.SIGKILL)
    nvim.screen.wait_for("agentls was killed by signal 9")
    picture(nvim, "down")
    assert server_pid(nvim) != first
    nvim.screen.wait_gone("agentls was killed by signal 9")
    dialog(nvim, "$ touch one")
    nvim.keys("o")
    nvim.screen.wait_for("It is touched.")
    assert (desk.project / "one").exists()


def test_a_server_killed_in_mid_stream_ends_the_turn_and_the_session_goes_on(desk: Desk) -> None:
    desk.model({"events": [{"delta": {"content": "Half an answer"}}, "hang"]}, {"text": "A new one."})
    nvim = desk.chat()
    send(nvim, "Go")
    nvim.screen.wait_for("Half an answer")
    os.kill(server_pid(nvim), signal.SIGKILL)
    nvim.screen.wait_for("■ stopped")
    send(nvim, "Again")
    nvim.screen.wait_for("A new one.")
    text = nvim.screen.text()
    assert text.count("▍ You") == 2
    assert text.count("Half an answer") <= 1  # what the killed server had not saved yet is gone


def test_what_is_sent_while_the_server_is_down_arrives_once(desk: Desk) -> None:
    model = desk.model({"text": "First."}, {"text": "Second."})
    nvim = desk.chat()
    send(nvim, "one")
    nvim.screen.wait_for("First.")
    idle(nvim)
    os.kill(server_pid(nvim), signal.SIGKILL)
    nvim.screen.wait_for("starting again")
    send(nvim, "two")
    nvim.screen.wait_for("Second.")
    assert model.heard().count('"two"') == 1


def test_a_new_editor_finds_the_session_and_its_open_question(desk: Desk) -> None:
    desk.model(TOUCH, {"text": "It is touched."})
    nvim = desk.chat()
    send(nvim, "Touch")
    dialog(nvim, "$ touch one")
    nvim.close()
    desk.open.remove(nvim)
    nvim = desk.editor()
    command(nvim, "AgentSessions")
    nvim.screen.wait_for("2: ")
    nvim.keys("2<CR>")
    dialog(nvim, "$ touch one")
    nvim.keys("o")
    nvim.screen.wait_for("It is touched.")


def test_the_user_may_restart_the_agent_alone(desk: Desk) -> None:
    desk.model({"text": "First."}, {"text": "Second."})
    nvim = desk.chat()
    send(nvim, "one")
    nvim.screen.wait_for("First.")
    idle(nvim)
    first = server_pid(nvim)
    nvim.keys("ihalf typed<Esc>")
    command(nvim, "AgentRestart")
    nvim.screen.wait_for("agentls runs again.")
    assert server_pid(nvim) != first
    nvim.screen.wait_for("half typed")
    nvim.keys("<CR>")
    nvim.screen.wait_for("Second.")


def test_a_missing_server_is_said_with_the_way_to_install_it_and_the_words_stay(desk: Desk) -> None:
    desk.env["PATH"] = "/usr/bin:/bin"
    nvim = desk.chat()
    send(nvim, "a long and careful prompt")
    nvim.screen.wait_for("uv tool install .")
    nvim.wait_lua("require('agentls.prompt').text(require('agentls.agent').current) == 'a long and careful prompt'")


def test_the_projects_own_environment_is_looked_into(desk: Desk) -> None:
    server = desk.env["PATH"].split(os.pathsep)[0]
    desk.env["PATH"] = "/usr/bin:/bin"
    (desk.project / ".venv" / "bin").mkdir(parents=True)
    (desk.project / ".venv" / "bin" / "agentls").symlink_to(f"{server}/agentls")
    nvim = desk.chat()
    send(nvim, "Hello")
    nvim.screen.wait_for("I am the demo model")


def test_a_server_that_ends_again_and_again_is_given_up_with_a_reason(desk: Desk) -> None:
    program = desk.folder / "broken"
    program.write_text("#!/bin/sh\nexit 3\n", encoding="utf-8")
    program.chmod(0o755)
    nvim = desk.editor(options="")
    nvim.lua("require('agentls').setup({ cmd = ..., backoff = { 10, 10 } })", str(program))
    nvim.keys(":Agent<CR>")
    nvim.wait_lua("require('agentls.server').state == 'failed'")
    reason = nvim.lua("return require('agentls.server').reason")
    assert "ended with code 3" in reason
    assert ":AgentLog" in reason


def test_another_server_than_ours_is_refused_with_a_reason(desk: Desk) -> None:
    program = desk.folder / "other"
    program.write_text(OTHER.format(python=sys.executable), encoding="utf-8")
    program.chmod(0o755)
    nvim = desk.editor(options="")
    nvim.lua("require('agentls').setup({ cmd = ... })", str(program))
    nvim.keys(":Agent<CR>")
    nvim.wait_lua("require('agentls.server').state == 'failed'")
    assert "is no agentls server" in nvim.lua("return require('agentls.server').reason")


def test_checkhealth_names_what_is_found(desk: Desk) -> None:
    nvim = desk.editor()
    command(nvim, "checkhealth agentls")
    nvim.screen.wait_for("The server is not running")
    text = nvim.screen.text()
    assert "agentls 0." in text
    assert str(desk.project)[-20:] in text


OTHER = """#!{python}
import json, sys
length = 0
while True:
    line = sys.stdin.buffer.readline()
    if not line:
        break
    if line.lower().startswith(b"content-length"):
        length = int(line.split(b":")[1])
    if line == b"\\r\\n":
        message = json.loads(sys.stdin.buffer.read(length))
        if message.get("method") == "exit":
            break
        if "id" in message:
            body = json.dumps({{"jsonrpc": "2.0", "id": message["id"], "result": {{"capabilities": {{}}}}}}).encode()
            sys.stdout.buffer.write(b"Content-Length: %d\\r\\n\\r\\n" % len(body) + body)
            sys.stdout.buffer.flush()
"""
