"""What the editor answers when the server asks it to change a text, to save it, and what the user sees."""

from pathlib import Path
from typing import Any

import pytest
from nvim import Nvim
from steps import command

from conftest import Desk

TEXT = "one\ntwo\nthree\nfour\nfive\n"


@pytest.fixture
def nvim(desk: Desk) -> Nvim:
    """An editor with `a.txt` open and known to the server."""
    (desk.project / "a.txt").write_text(TEXT, encoding="utf-8")
    nvim = desk.editor()
    nvim.keys(":edit a.txt<CR>")
    nvim.lua("require('agentls.server').ready(function() end)")
    attached(nvim, "a.txt")
    return nvim


def attached(nvim: Nvim, name: str) -> None:
    nvim.wait_lua(f"#vim.lsp.get_clients({{ bufnr = vim.fn.bufnr('{name}'), name = 'agentls' }}) == 1")


def ask(nvim: Nvim, method: str, params: dict[str, Any]) -> Any:
    """As the server would: through the client's own handler."""
    code = (
        "local c = require('agentls.server').client return c.handlers[...](nil, select(2, ...), { client_id = c.id })"
    )
    return nvim.lua(code, method, params)


def uri(nvim: Nvim, name: str = "a.txt") -> str:
    return nvim.lua("return vim.uri_from_fname(vim.fn.getcwd() .. '/' .. ...)", name)


def version(nvim: Nvim) -> int:
    return nvim.lua("return vim.lsp.util.buf_versions[vim.fn.bufnr('a.txt')]")


def insert(nvim: Nvim, line: int, text: str, of: int | None = None) -> dict[str, Any]:
    place = {"line": line, "character": 0}
    document = {"uri": uri(nvim), "version": version(nvim) if of is None else of}
    change = {"textDocument": document, "edits": [{"range": {"start": place, "end": place}, "newText": text}]}
    return ask(nvim, "workspace/applyEdit", {"edit": {"documentChanges": [change]}})


def lines(nvim: Nvim) -> list[str]:
    return nvim.lua("return vim.api.nvim_buf_get_lines(vim.fn.bufnr('a.txt'), 0, -1, false)")


def save(nvim: Nvim, of: int | None = None) -> bool:
    params = {"uri": uri(nvim), "version": version(nvim) if of is None else of}
    return ask(nvim, "document/save", params)["saved"]


def test_the_server_is_told_of_every_file_also_of_those_opened_later_and_of_nothing_else(desk: Desk) -> None:
    for name in ("early.txt", "late.txt", "listed.txt"):
        (desk.project / name).write_text(name, encoding="utf-8")
    nvim = desk.editor()
    nvim.keys(":edit early.txt<CR>:Agent<CR>")
    attached(nvim, "early.txt")
    nvim.keys("<C-w>h:edit late.txt<CR>:badd listed.txt<CR>:enew<CR>")
    attached(nvim, "late.txt")
    nvim.lua("vim.cmd.saveas('named.txt')")
    attached(nvim, "named.txt")
    nvim.lua("vim.cmd.edit('some://thing') vim.cmd.help() vim.cmd.edit('.')")
    told = """vim.tbl_map(
        function(b) return vim.fs.basename(vim.api.nvim_buf_get_name(b)) end,
        vim.tbl_keys(require('agentls.server').client.attached_buffers))"""
    names = {name for name in nvim.lua(f"return {told}") if name}
    assert names == {"early.txt", "late.txt", "named.txt"}


def test_an_edit_is_one_step_of_undo_and_cursors_and_marks_stay_on_their_text(nvim: Nvim) -> None:
    nvim.keys(":split<CR>G<C-w>wgg3Gmajj")
    places = "return vim.tbl_map(vim.api.nvim_win_get_cursor, vim.api.nvim_list_wins())"
    nvim.wait_lua("vim.api.nvim_win_get_cursor(0)[1] == 5")
    assert insert(nvim, 1, "new\nlines\n") == {"applied": True}
    assert [row for row, _ in nvim.lua(places)] == [7, 7]
    assert nvim.lua("return vim.api.nvim_buf_get_mark(0, 'a')")[0] == 5
    assert lines(nvim) == ["one", "new", "lines", "two", "three", "four", "five"]
    nvim.keys("u")
    nvim.wait_lua("vim.api.nvim_buf_line_count(0) == 5")
    assert lines(nvim) == TEXT.split()


def test_typed_words_around_an_edit_are_steps_of_undo_of_their_own(nvim: Nvim) -> None:
    nvim.keys("GAabc")
    nvim.wait_lua("vim.fn.getline('.') == 'fiveabc'")
    assert insert(nvim, 1, "new\n") == {"applied": True}
    nvim.keys("def<Esc>")
    nvim.wait_lua("vim.fn.getline('.') == 'fiveabcdef' and vim.fn.mode() == 'n'")
    steps = []
    for _ in range(3):
        nvim.lua("vim.cmd.undo()")
        steps.append(lines(nvim))
    assert steps == [
        ["one", "new", "two", "three", "four", "fiveabc"],
        ["one", "two", "three", "four", "fiveabc"],
        TEXT.split(),
    ]


def test_an_edit_for_another_version_is_refused_even_the_first_one(nvim: Nvim) -> None:
    first = version(nvim)
    nvim.keys("ggOtyped<Esc>")
    nvim.wait_lua("vim.fn.getline(1) == 'typed'")
    for of in (first, version(nvim) + 1):
        answer = insert(nvim, 3, "new\n", of)
        assert answer["applied"] is False
        assert "version" in answer["failureReason"]
    assert lines(nvim) == ["typed", *TEXT.split()]
    assert "newer than edits" not in nvim.messages()


def test_a_file_that_is_not_open_or_may_not_be_changed_is_left_alone(nvim: Nvim) -> None:
    nvim.lua("vim.bo.readonly = true")
    assert insert(nvim, 0, "new\n")["applied"] is False
    nvim.lua("vim.bo.readonly, vim.bo.modifiable = false, false")
    assert insert(nvim, 0, "new\n")["applied"] is False
    nvim.lua("vim.bo.modifiable = true")
    command(nvim, "enew")
    assert insert(nvim, 0, "hidden\n")["applied"] is True
    assert lines(nvim)[0] == "hidden"
    command(nvim, "%bwipeout!")
    nvim.wait_lua("vim.fn.bufexists('a.txt') == 0")
    assert insert(nvim, 0, "new\n", 5)["applied"] is False
    assert nvim.lua("return vim.fn.bufexists('a.txt')") == 0


def test_a_save_writes_that_version_with_what_the_user_runs_at_a_save(nvim: Nvim, desk: Desk) -> None:
    nvim.lua("vim.api.nvim_create_autocmd('BufWritePre', { callback = function() vim.fn.setline(1, 'ONE') end })")
    old = version(nvim)
    insert(nvim, 5, "six\n")
    assert save(nvim, old) is False
    assert (desk.project / "a.txt").read_text(encoding="utf-8") == TEXT
    assert save(nvim) is True
    assert (desk.project / "a.txt").read_text(encoding="utf-8") == TEXT.replace("one", "ONE") + "six\n"
    assert save(nvim) is True


def test_a_save_never_asks_and_never_overwrites_what_somebody_else_wrote(nvim: Nvim, desk: Desk) -> None:
    nvim.lua("vim.o.confirm = true")
    insert(nvim, 0, "mine\n")
    (desk.project / "a.txt").write_text("theirs, which is longer\n", encoding="utf-8")
    assert save(nvim) is False
    assert (desk.project / "a.txt").read_text(encoding="utf-8") == "theirs, which is longer\n"
    assert nvim.api.request("nvim_get_mode") == {"mode": "n", "blocking": False}
    assert nvim.lua("return vim.o.confirm") is True


@pytest.mark.parametrize(
    "hindrance",
    [
        "vim.bo.readonly = true",
        "vim.api.nvim_create_autocmd('BufWritePre', { callback = function() error('no') end })",
        "vim.fn.delete(vim.fn.getcwd(), 'rf')",
    ],
)
def test_a_save_that_fails_says_so(nvim: Nvim, hindrance: str) -> None:
    insert(nvim, 0, "mine\n")
    nvim.lua(hindrance)
    assert save(nvim) is False
    assert nvim.lua("return vim.bo.modified") is True
    assert nvim.api.request("nvim_get_mode")["blocking"] is False


def test_diagnostics_of_others_are_told_in_utf_16_and_of_no_version_for_none_is_known(nvim: Nvim) -> None:
    nvim.lua("vim.api.nvim_buf_set_lines(0, 0, 1, false, { 'é𝄞 wrong' })")
    nvim.lua("""vim.diagnostic.set(vim.api.nvim_create_namespace('lint'), 0, {
        { lnum = 0, col = 7, end_col = 12, message = 'is wrong', severity = 2, source = 'lint', code = 'W1' } })
        local ours = vim.lsp.diagnostic.get_namespace(require('agentls.server').client.id)
        vim.diagnostic.set(ours, 0, { { lnum = 1, col = 0, message = 'our own' } })""")
    nvim.keys("Gotyped since<Esc>")
    nvim.wait_lua("vim.fn.getline('$') == 'typed since'")
    item = {
        "message": "is wrong",
        "severity": 2,
        "source": "lint",
        "code": "W1",
        "range": {"start": {"line": 0, "character": 4}, "end": {"line": 0, "character": 9}},
    }
    expected = {"documents": [{"uri": uri(nvim), "items": [item]}]}
    assert ask(nvim, "editor/diagnostics", {}) == expected
    assert ask(nvim, "editor/diagnostics", {"uri": uri(nvim)}) == expected
    assert ask(nvim, "editor/diagnostics", {"uri": uri(nvim, "b.txt")}) == {"documents": []}


def test_the_context_is_the_file_that_the_user_was_in_and_what_is_selected_there(nvim: Nvim, desk: Desk) -> None:
    nvim.keys("2GVj")
    nvim.wait_lua("vim.fn.mode() == 'V'")
    selection = {"start": {"line": 1, "character": 0}, "end": {"line": 3, "character": 0}}
    assert ask(nvim, "editor/context", {}) == {"uri": uri(nvim), "selection": selection, "open": [uri(nvim)]}
    nvim.keys("<Esc>:Agent<CR>")
    nvim.screen.wait_for("@ attach")
    assert ask(nvim, "editor/context", {})["selection"] == selection
    nvim.keys("<C-w>hgg")
    nvim.wait_lua("vim.api.nvim_win_get_cursor(0)[1] == 1")
    assert ask(nvim, "editor/context", {}) == {"uri": uri(nvim), "open": [uri(nvim)]}


def test_other_servers_answers_are_not_disturbed(desk: Desk) -> None:
    """Requests of the user's go to those servers alone that serve them."""
    (desk.project / "a.txt").write_text("wrong\n", encoding="utf-8")
    nvim = desk.editor()
    nvim.lua((Path(__file__).parent / "other_server.lua").read_text(encoding="utf-8"))
    nvim.keys(":edit a.txt<CR>")
    nvim.lua("vim.lsp.start(_G.other, { bufnr = 0 }) require('agentls.server').ready(function() end)")
    nvim.wait_lua("#vim.lsp.get_clients({ bufnr = 0 }) == 2")
    nvim.lua("vim.lsp.buf.hover()")
    nvim.screen.wait_for("hover of the other")
    nvim.lua("vim.lsp.buf.format()")
    nvim.wait_lua("vim.fn.getline(1) == 'right'")
    nvim.lua("vim.lsp.buf.rename('renamed')")
    nvim.wait_lua("vim.fn.getline(1) == 'renamed'")
    nvim.lua("vim.lsp.codelens.refresh({ bufnr = 0 })")
    nvim.screen.wait_for("lens of the other")
    assert "not supported" not in nvim.messages()
    assert "rror" not in nvim.messages()
