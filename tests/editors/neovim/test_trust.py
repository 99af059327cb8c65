"""A folder's own settings hold only once the user trusts it."""

import json
from collections.abc import Callable

from nvim import Nvim
from steps import command, dialog

from conftest import Desk

WANTS = {"permission": {"bash": {"touch *": "allow"}}}
STATE = """(function()
    require('agentls.agent').request('config/get', { directory = vim.fn.getcwd() }, function(_, r)
        vim.g.trust = r and r.config.trust.state
    end)
    return vim.g.trust
end)()"""


def folder(desk: Desk, options: str) -> Nvim:
    (desk.project / "agentls.json").write_text(json.dumps(WANTS), encoding="utf-8")
    nvim = desk.editor(options)
    nvim.keys(":Agent<CR>")
    return nvim


def test_what_waits_for_trust_is_hinted_at_shown_and_holds_once_trusted(
    desk: Desk, picture: Callable[[Nvim, str], None]
) -> None:
    nvim = folder(desk, "{}")
    nvim.screen.wait_for("wait for your trust (1)")
    nvim.keys("istill typing")
    nvim.screen.wait_for("still typing")
    nvim.keys("<Esc>")
    command(nvim, "AgentTrust")
    dialog(nvim, "allow bash: touch *")
    picture(nvim, "trust")
    nvim.keys("t")
    nvim.screen.wait_for("The settings of this folder hold now.")
    nvim.screen.wait_gone("wait for your trust (1)")
    nvim.wait_lua(f"{STATE} == 'trusted'")
    command(nvim, "AgentTrust!")
    nvim.screen.wait_for("is not trusted any more")
    nvim.wait_lua(f"{STATE} == 'untrusted'")


def test_not_now_leaves_it_as_it_is(desk: Desk) -> None:
    nvim = folder(desk, "{}")
    nvim.screen.wait_for("wait for your trust (1)")
    command(nvim, "AgentTrust")
    dialog(nvim, "allow bash: touch *")
    nvim.keys("q")
    nvim.screen.wait_gone("allow bash: touch *")
    nvim.wait_lua(f"{STATE} == 'untrusted'")
    nvim.screen.wait_for("wait for your trust (1)")


def test_who_said_no_by_an_option_is_not_asked(desk: Desk) -> None:
    nvim = folder(desk, "{ trusted = false }")
    nvim.wait_lua(f"{STATE} == 'untrusted'")
    assert "wait for your trust" not in nvim.screen.text()
