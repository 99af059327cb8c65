"""A new user's path by the README, and that the plugin stays out of the way."""

import os
import re
import shutil
import subprocess
from pathlib import Path

from nvim import PLUGIN
from steps import command, send

from conftest import ROOT, Desk, neovim

MAPPINGS = """
local all = {}
for _, mode in ipairs({ 'n', 'i', 'x', 'o', 't', 'c' }) do
  for _, map in ipairs(vim.api.nvim_get_keymap(mode)) do
    if not map.lhs:find('<Plug>(agentls', 1, true) then all[#all + 1] = mode .. map.lhs end
  end
end
return all
"""


def test_the_readmes_lines_lead_an_empty_configuration_to_the_first_answer(desk: Desk) -> None:
    readme = (PLUGIN / "README.md").read_text(encoding="utf-8")
    shell, lua = (re.search(rf"```{kind}\n(.*?)```", readme, re.DOTALL).group(1) for kind in ("sh", "lua"))
    for name in [name for name in desk.env if name.startswith("XDG_")]:
        del desk.env[name]
    path = f"{Path(neovim()).parent}{os.pathsep}{desk.env['PATH']}"
    clone = desk.folder / "clone"  # what the lines write stays out of the tree under test
    shutil.copytree(PLUGIN, clone / PLUGIN.relative_to(ROOT), ignore=shutil.ignore_patterns("tags"))
    subprocess.run(["sh", "-ec", shell], cwd=clone, env={**desk.env, "PATH": path}, check=True)
    config = desk.home / ".config" / "nvim"
    config.mkdir(parents=True)
    (config / "init.lua").write_text(lua, encoding="utf-8")
    nvim = desk.editor(options="", plain=True)
    command(nvim, "Agent")
    nvim.screen.wait_for("A new session in")
    send(nvim, "Hello")
    nvim.screen.wait_for("I am the demo model")


def test_nothing_is_mapped_and_nothing_is_loaded_before_it_is_used(desk: Desk) -> None:
    nvim = desk.editor(options="")
    assert nvim.lua("return package.loaded['agentls'] == nil")
    before = nvim.lua(MAPPINGS)
    nvim.lua("require('agentls').setup({})")
    command(nvim, "Agent")
    nvim.screen.wait_for("@ attach")
    nvim.keys("<C-w>h")
    assert nvim.lua(MAPPINGS) == before


def test_a_command_works_without_setup(desk: Desk) -> None:
    nvim = desk.editor(options="")
    command(nvim, "Agent Hello there")
    nvim.screen.wait_for("I am the demo model")


def test_the_log_is_shown_and_no_server_is_told_of_it(desk: Desk) -> None:
    nvim = desk.chat()
    nvim.wait_lua("require('agentls.server').state == 'up'")
    nvim.keys(":AgentLog<CR>")
    nvim.wait_lua("vim.fn.expand('%:t') == 'agentls.log'")
    nvim.keys(":wincmd p<CR>:wincmd p<CR>")
    nvim.wait_lua("vim.fn.expand('%:t') == 'agentls.log'")
    assert nvim.lua("return #vim.lsp.get_clients({ bufnr = 0 })") == 0
    assert not nvim.lua("return vim.bo.modifiable")


def test_a_files_buffer_is_attached_beside_other_servers(desk: Desk) -> None:
    (desk.project / "a.py").write_text("x = 1\n", encoding="utf-8")
    nvim = desk.editor()
    nvim.keys(":edit a.py<CR>:Agent<CR>")
    nvim.wait_lua("#vim.lsp.get_clients({ bufnr = vim.fn.bufnr('a.py'), name = 'agentls' }) == 1")
    assert nvim.lua("return #vim.lsp.get_clients({ name = 'agentls' })") == 1


def test_the_help_is_there_and_names_every_command(desk: Desk) -> None:
    nvim = desk.chat()
    nvim.keys("g?")
    nvim.wait_lua("vim.fn.expand('%:t') == 'agentls.txt'")
    assert "An agent in Neovim" in nvim.lua("return vim.fn.getline(1)")
    names = [
        name for name in nvim.lua("return vim.tbl_keys(vim.api.nvim_get_commands({}))") if name.startswith("Agent")
    ]
    text = (PLUGIN / "doc" / "agentls.txt").read_text(encoding="utf-8")
    assert len(names) > 8
    assert [name for name in names if f"*:{name}*" not in text] == []
