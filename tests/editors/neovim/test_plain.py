"""Neovim with `vim.lsp.start` and nothing of ours: commands, code actions, progress, dialogs."""

from typing import Any

from nvim import Nvim

from conftest import Desk, neovim

START = """
_G.seen = {}
vim.api.nvim_create_autocmd('LspProgress', { callback = function(event)
    local value = event.data.params.value
    table.insert(_G.seen, { value.kind, vim.lsp.status() })
end })
_G.client_id = vim.lsp.start({ name = 'agentls', cmd = { 'agentls' }, root_dir = vim.fn.getcwd() })
"""
LONG = "# What it does\n\nIt prints.\n\n- once\n- and again"
BASH = {"calls": [{"name": "bash", "arguments": {"command": "echo a > made"}}]}


def streamed(first: str, rest: str, gate: str) -> dict[str, Any]:
    events = [{"delta": {"content": first}}, {"gate": gate}, {"delta": {"content": rest}}, {"finish": "stop"}, "done"]
    return {"events": events}


def opened(desk: Desk) -> Nvim:
    """A file open in an editor that nothing was installed in."""
    (desk.project / "a.py").write_text("import os\nprint(undefined_name)\n", encoding="utf-8")
    nvim = Nvim(neovim(), desk.project, desk.env, plain=True)
    desk.open.append(nvim)
    nvim.keys(":edit a.py<CR>")
    nvim.screen.wait_for("undefined_name")
    nvim.lua(START)
    nvim.wait_lua("vim.lsp.get_client_by_id(_G.client_id).initialized")
    assert nvim.lua("return vim.fn.exists(':Agent')") == 0
    return nvim


def run(nvim: Nvim, name: str, *arguments: object) -> None:
    code = "vim.lsp.get_client_by_id(_G.client_id):exec_cmd({ title = '', command = ..., arguments = select(2, ...) })"
    nvim.lua(code, f"agentls.{name}", [*arguments])


def ended(nvim: Nvim) -> list[str]:
    """The kinds of progress, once it has ended."""
    nvim.wait_lua("_G.seen[#_G.seen] and _G.seen[#_G.seen][1] == 'end'")
    return nvim.lua("return vim.tbl_map(function(one) return one[1] end, _G.seen)")


def progress(nvim: Nvim, words: str) -> None:
    nvim.wait_lua(f"vim.iter(_G.seen):any(function(one) return one[2]:find({words!r}, 1, true) ~= nil end)")


def test_a_prompt_shows_progress_and_a_short_answer_as_a_message(desk: Desk) -> None:
    model = desk.model(streamed("It pr", "ints.", "go"))
    nvim = opened(desk)
    run(nvim, "prompt", "What does a.py do?")
    progress(nvim, "agentls: thinking")
    progress(nvim, "agentls: writing")
    model.open("go")
    nvim.screen.wait_for("It prints.")
    kinds = ended(nvim)
    assert (kinds[0], kinds[-1]) == ("begin", "end")
    assert kinds.count("begin") == kinds.count("end") == 1


def test_a_longer_answer_opens_beside_and_the_user_types_on(desk: Desk, picture: Any) -> None:
    model = desk.model(streamed(LONG[:5], LONG[5:], "go"))
    nvim = opened(desk)
    run(nvim, "prompt", "Explain")
    progress(nvim, "writing")
    nvim.keys("ggIabc")
    nvim.screen.wait_for("abcimport os")
    model.open("go")
    nvim.screen.wait_for("- and again")
    nvim.keys("def")
    nvim.screen.wait_for("abcdefimport os")
    nvim.keys("<Esc>")
    assert nvim.lua("return vim.fn.expand('%:t')") == "a.py"
    assert nvim.lua("return #vim.api.nvim_list_wins()") == 2
    picture(nvim, "plain-answer")


def test_a_permission_is_a_menu_of_the_editors_own(desk: Desk, picture: Any) -> None:
    desk.model(BASH, {"text": "Written."})
    nvim = opened(desk)
    run(nvim, "prompt", "Write")
    nvim.screen.wait_for("1: Allow once")
    picture(nvim, "plain-permission")
    assert "$ echo a > made" in nvim.screen.text()
    nvim.keys("1<CR>")
    nvim.screen.wait_for("Written.")
    assert (desk.project / "made").exists()


def test_a_dismissed_permission_comes_back_by_command_and_may_be_rejected(desk: Desk) -> None:
    desk.model(BASH, {"text": "Written."})
    nvim = opened(desk)
    run(nvim, "prompt", "Write")
    nvim.screen.wait_for("1: Allow once")
    nvim.keys("<Esc>")
    nvim.screen.wait_gone("1: Allow once")
    progress(nvim, "agentls: waiting for your answer")
    run(nvim, "permissions")
    nvim.screen.wait_for("2: Reject")
    nvim.keys("2<CR>")
    nvim.screen.wait_for("The turn stopped at what you rejected.")
    assert ended(nvim)[-1] == "end"
    assert not (desk.project / "made").exists()


def test_abort_ends_the_turn(desk: Desk) -> None:
    desk.model(streamed("Never", " whole", "never"), {"text": "Still here."})
    nvim = opened(desk)
    run(nvim, "prompt", "Go")
    progress(nvim, "writing")
    run(nvim, "abort")
    nvim.screen.wait_for("The turn was aborted.")
    assert ended(nvim).count("end") == 1
    run(nvim, "prompt", "Are you there?")
    nvim.screen.wait_for("Still here.")


def test_the_editors_code_action_menu_asks_about_the_selection(desk: Desk) -> None:
    model = desk.model({"text": "It prints."})
    nvim = opened(desk)
    nvim.keys("ggVj:<C-u>lua vim.lsp.buf.code_action({ range = { start = { 1, 0 }, ['end'] = { 2, 3 } } })<CR>")
    nvim.screen.wait_for("1: Ask about the selection")
    nvim.keys("1<CR>")
    nvim.screen.wait_for("It prints.")
    assert "import os\\nprin" in model.heard()


def test_a_diagnostic_is_fixed_from_the_menu(desk: Desk) -> None:
    """The menu sends a server its own diagnostics alone; those of others are handed to it."""
    model = desk.model({"text": "Fixed."})
    nvim = opened(desk)
    nvim.lua("""
        vim.diagnostic.set(vim.api.nvim_create_namespace('lint'), 0,
            { { lnum = 1, col = 6, end_lnum = 1, end_col = 20, message = 'undefined name', source = 'lint' } })
        vim.api.nvim_win_set_cursor(0, { 2, 7 })
        _G.fix = function()
            local found = vim.lsp.diagnostic.from(vim.diagnostic.get(0, { lnum = vim.fn.line('.') - 1 }))
            vim.lsp.buf.code_action({ context = { only = { 'quickfix' }, diagnostics = found }, apply = true })
        end
    """)
    nvim.keys(":lua _G.fix()<CR>")
    nvim.screen.wait_for("Fixed.")
    assert "2:7 error: undefined name [lint]" in model.heard()
    assert "print(undefined_name)" in model.heard()


def test_what_a_command_wants_is_said(desk: Desk) -> None:
    desk.model()
    nvim = opened(desk)
    run(nvim, "prompt")
    nvim.screen.wait_for("there is no text to send")


def test_shell_shows_the_output(desk: Desk) -> None:
    desk.model()
    nvim = opened(desk)
    run(nvim, "shell", "echo from the shell")
    nvim.screen.wait_for("$ echo from the shell")
    nvim.screen.wait_for("Exit code: 0")


def test_unsaved_text_is_edited_in_the_buffer_and_can_be_undone(desk: Desk) -> None:
    """Neovim takes edits of a version, and does not say so."""
    path = str(desk.project / "a.py")
    edit = {"filePath": path, "oldString": "undefined_name", "newString": "'known'"}
    add = {"filePath": path, "oldString": "# mine", "newString": "# mine\n# added"}
    calls = [
        {"calls": [{"name": name, "arguments": given}]}
        for name, given in (("read", {"filePath": path}), ("edit", edit), ("edit", add))
    ]
    model = desk.model(*calls, {"text": "Edited."})
    nvim = opened(desk)
    nvim.keys("Go# mine<Esc>")
    nvim.wait_lua("vim.lsp.get_client_by_id(_G.client_id).attached_buffers[1]")
    run(nvim, "prompt", "Mend it")
    for added in ("+print('known')", "+# added"):
        nvim.screen.wait_for(added)
        nvim.screen.wait_for("Type number and <Enter>")
        nvim.keys("1<CR>")
    nvim.screen.wait_for("Edited.")
    lines = "vim.api.nvim_buf_get_lines(1, 0, -1, false)"
    assert nvim.lua(f"return {lines}") == ["import os", "print('known')", "# mine", "# added"]
    assert (desk.project / "a.py").read_text(encoding="utf-8") == "import os\nprint(undefined_name)\n"
    assert "# mine" in model.requests()[1]["messages"][-1]["content"]
    nvim.lua("vim.cmd('buffer 1 | undo | undo')")
    assert nvim.lua(f"return {lines}") == ["import os", "print(undefined_name)", "# mine"]
