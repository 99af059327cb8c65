"""What was typed and not sent outlives Neovim."""

from pathlib import Path

from nvim import Nvim
from steps import command, idle, send

from conftest import Desk

TYPED = "require('agentls.prompt').text(require('agentls.agent').current)"


def kept(desk: Desk) -> list[Path]:
    return list(Path(desk.env["XDG_STATE_HOME"]).glob("nvim/agentls/drafts/*"))


def restarted(desk: Desk, nvim: Nvim) -> Nvim:
    nvim.close()
    desk.open.remove(nvim)
    return desk.chat()


def test_a_draft_is_there_again_after_neovims_end_and_gone_once_it_was_sent(desk: Desk) -> None:
    desk.model({"text": "Well thought."})
    nvim = desk.chat()
    nvim.keys("ia long<CR>and careful prompt<Esc>")
    nvim.wait_lua(f"{TYPED} == 'a long\\nand careful prompt'")
    nvim = restarted(desk, nvim)
    nvim.screen.wait_for("and careful prompt")
    (file,) = kept(desk)
    assert file.stat().st_mode & 0o077 == 0
    nvim.keys("<CR>")
    nvim.screen.wait_for("Well thought.")
    nvim = restarted(desk, nvim)
    assert nvim.lua(f"return {TYPED}") == ""
    assert kept(desk) == []


def test_a_draft_outlives_a_neovim_that_was_killed(desk: Desk) -> None:
    nvim = desk.chat()
    nvim.keys("inot sent yet")
    nvim.wait_lua("#vim.fn.glob(vim.fn.stdpath('state') .. '/agentls/drafts/*.json') > 0")
    nvim.process.kill()
    nvim = restarted(desk, nvim)
    nvim.screen.wait_for("not sent yet")


def test_each_session_has_its_own_draft(desk: Desk) -> None:
    desk.model({"text": "First answer."})
    nvim = desk.chat()
    send(nvim, "one")
    nvim.screen.wait_for("First answer.")
    idle(nvim)
    nvim.keys("ifor the first session<Esc>")
    nvim.wait_lua(f"{TYPED} ~= ''")
    nvim = restarted(desk, nvim)
    assert nvim.lua(f"return {TYPED}") == ""
    command(nvim, "AgentSessions")
    nvim.screen.wait_for("2: ")
    nvim.keys("2<CR>")
    nvim.screen.wait_for("for the first session")


def test_a_deleted_buffer_takes_neither_the_conversation_nor_what_was_typed(desk: Desk) -> None:
    desk.model({"text": "First answer."}, {"text": "Second answer."})
    nvim = desk.chat()
    send(nvim, "one")
    nvim.screen.wait_for("First answer.")
    idle(nvim)
    nvim.keys("istill typing<Esc>")
    nvim.screen.wait_for("still typing")
    for buffer, way in (("prompt", "bwipeout!"), ("buf", "bwipeout!"), ("buf", "bdelete!")):
        nvim.lua(f"vim.cmd('{way} ' .. require('agentls.agent').current.{buffer})")
        nvim.screen.wait_gone("still typing")
        command(nvim, "Agent")
        nvim.screen.wait_for("still typing")
        nvim.screen.wait_for("First answer.")
    nvim.keys("<CR>")
    nvim.screen.wait_for("Second answer.")
    assert nvim.messages() == ""


def test_a_draft_that_cannot_be_written_is_said_once(desk: Desk) -> None:
    state = Path(desk.env["XDG_STATE_HOME"]) / "nvim"
    state.mkdir(parents=True)
    (state / "agentls").write_text("a file where the folder should be", encoding="utf-8")
    nvim = desk.chat()
    for typed in ("a", "ab"):
        nvim.keys(f"A{typed[-1]}<Esc>")
        nvim.wait_lua(f"{TYPED} == '{typed}'")
        nvim.lua("local agent = require('agentls.agent'); require('agentls.drafts').keep(agent.current)")
    assert nvim.messages().count("is not kept") == 1


def test_what_a_missing_server_could_not_take_is_kept(desk: Desk) -> None:
    path = desk.env["PATH"]
    desk.env["PATH"] = "/usr/bin:/bin"
    nvim = desk.chat()
    send(nvim, "a prompt for nobody")
    nvim.screen.wait_for("uv tool install .")
    desk.env["PATH"] = path
    nvim = restarted(desk, nvim)
    nvim.screen.wait_for("a prompt for nobody")
