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


def test_a_neovim_that_ends_in_mid_stream_finds_the_session_again_and_it_goes_on(desk: Desk) -> None:
    model = desk.model({"events": [{"delta": {"content": "Half an answer"}}, "hang"]}, {"text": "The other half."})
    nvim = desk.chat()
    send(nvim, "Go")
    nvim.screen.wait_for("Half an answer")
    nvim.close()
    desk.open.remove(nvim)
    nvim = desk.chat()
    command(nvim, "AgentSessions")
    nvim.screen.wait_for("2: ")
    nvim.keys("2<CR>")
    nvim.screen.wait_for("Half an answer")
    nvim.screen.wait_for("■ stopped")
    send(nvim, "And then?")
    nvim.screen.wait_for("The other half.")
    assert "Half an answer" in model.heard()


def test_a_session_that_another_neovim_runs_can_be_read_only_and_says_whose_it_is(desk: Desk) -> None:
    model = desk.model(
        {"events": [{"delta": {"content": "Still at it"}}, {"gate": "end"}, {"finish": "stop"}, "done"]},
        {"text": "Second."},
    )
    first = desk.chat()
    send(first, "Go")
    first.screen.wait_for("Still at it")
    second = desk.chat()
    command(second, "AgentSessions")
    second.screen.wait_for("2: ")
    second.keys("2<CR>")
    second.screen.wait_for(f"Process {server_pid(first)} runs this session")
    second.screen.wait_for("read only: process")
    second.screen.wait_for("▍ You")
    send(second, "let me in")
    second.screen.wait_for("Not sent:")
    second.screen.wait_for("let me in")
    model.open("end")
    idle(first)
    second.keys("<CR>")
    second.screen.wait_for("Second.")
    assert "Still at it" in second.screen.wait_gone("read only")


def test_after_a_resync_what_was_missed_is_there(desk: Desk) -> None:
    model = desk.model({"events": [{"gate": "go"}, {"delta": {"content": "Unheard of"}}, {"finish": "stop"}, "done"]})
    nvim = desk.chat()
    send(nvim, "Go")
    nvim.screen.wait_for("● working")
    nvim.lua("""
        local store = require('agentls.agent').store
        function store:notified(method) _G.ended = _G.ended or method == 'turn/ended' end
    """)
    model.open("go")
    nvim.wait_lua("_G.ended")
    assert "Unheard of" not in nvim.screen.text()
    nvim.lua("""
        local agent, client = require('agentls.agent'), require('agentls.server').client
        agent.store.notified = nil
        local params = { sessionId = agent.current.id, reason = 'overflow' }
        client.handlers['session/resync'](nil, params, { client_id = client.id })
    """)
    nvim.screen.wait_for("Unheard of")
    nvim.screen.wait_gone("● working")


def program(desk: Desk, text: str) -> str:
    """A program in the place of the server."""
    file = desk.folder / "program"
    file.write_text(text, encoding="utf-8")
    file.chmod(0o755)
    return str(file)


def failed(desk: Desk, text: str) -> Nvim:
    """A chat whose server is that program, with a prompt that was sent to it."""
    nvim = desk.editor(options="")
    nvim.lua("require('agentls').setup({ cmd = ..., backoff = { 10, 10 } })", program(desk, text))
    nvim.keys(":Agent<CR>")
    nvim.screen.wait_for("prompt  ")
    send(nvim, "a long and careful prompt")
    nvim.wait_lua("require('agentls.server').state == 'failed'")
    nvim.wait_lua("require('agentls.prompt').text(require('agentls.agent').current) == 'a long and careful prompt'")
    return nvim


def test_a_server_that_ends_again_and_again_is_given_up_with_a_reason(
    desk: Desk, picture: Callable[[Nvim, str], None]
) -> None:
    nvim = failed(desk, "#!/bin/sh\nexit 3\n")
    text = nvim.screen.wait_for("ended with code 3")
    assert ":AgentLog" in text
    picture(nvim, "crashes")


def test_a_server_whose_python_is_gone_is_said_with_what_to_do(
    desk: Desk, picture: Callable[[Nvim, str], None]
) -> None:
    nvim = failed(desk, "#!/nowhere/bin/python3\nprint()\n")
    text = nvim.screen.wait_for("cannot run: it needs")
    assert "/nowhere/bin/python3" in text
    assert "uv tool install" in text
    picture(nvim, "no-python")


def test_another_server_than_ours_is_refused_with_a_reason(desk: Desk) -> None:
    nvim = failed(desk, OTHER % (sys.executable, {}))
    nvim.screen.wait_for("Update both.")
    assert "is no agentls server" in nvim.lua("return require('agentls.server').reason")


def test_a_server_of_another_version_is_refused_with_what_to_do(desk: Desk) -> None:
    nvim = failed(desk, OTHER % (sys.executable, {"experimental": {"agentls": {"protocolVersion": 2}}}))
    text = nvim.screen.wait_for("Update both.")
    assert "speaks protocol version 2" in nvim.lua("return require('agentls.server').reason")
    assert "This plugin needs version 1." in text


def test_checkhealth_names_what_is_found(desk: Desk) -> None:
    nvim = desk.editor()
    command(nvim, "checkhealth agentls")
    nvim.screen.wait_for("The server is not running")
    text = nvim.screen.text()
    assert "agentls 0." in text
    assert str(desk.project)[-20:] in text


OTHER = """#!%s
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
            body = json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": {"capabilities": %r}}).encode()
            sys.stdout.buffer.write(b"Content-Length: " + str(len(body)).encode() + b"\\r\\n\\r\\n" + body)
            sys.stdout.buffer.flush()
"""
