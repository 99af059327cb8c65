"""The agent and the user's own text: read before it is saved, changed with undo, never overwritten."""

import json
from typing import Any

import pytest
from nvim import Nvim
from steps import command, dialog, idle, send

from conftest import ROOT, Desk, Model

TEXT = "one\ntwo\nthree\nfour\nfive\n"
END: dict[str, Any] = {"text": "That is all."}


def calls(*made: tuple[str, dict[str, Any]], gate: str = "") -> dict[str, Any]:
    """An answer with tool calls, held back until the gate opens."""
    functions = [
        {
            "index": at,
            "id": f"c{gate}{at}",
            "type": "function",
            "function": {"name": name, "arguments": json.dumps(args)},
        }
        for at, (name, args) in enumerate(made)
    ]
    held = [{"gate": gate}] if gate else []
    return {"events": [*held, {"delta": {"tool_calls": functions}}, {"finish": "tool_calls"}, "done"]}


class Pair:
    """A user with `a.txt` open beside the chat, and an agent that may edit without asking."""

    def __init__(self, desk: Desk, *script: dict[str, Any], width: int = 120) -> None:
        self.desk = desk
        self.path = desk.project / "a.txt"
        self.path.write_text(TEXT, encoding="utf-8")
        self.model: Model = desk.model(*script)
        self.nvim: Nvim = desk.editor(width=width)
        self.nvim.keys(":edit a.txt<CR>:Agent<CR>")
        self.nvim.screen.wait_for("@ attach")
        command(self.nvim, "AgentMode acceptEdits")
        self.nvim.screen.wait_for("acceptEdits · ")

    def file(self) -> None:
        """Goes to the file's window, in Normal mode."""
        self.nvim.keys("<Esc><C-w>t")
        self.nvim.wait_lua("vim.fn.expand('%:t') == 'a.txt' and vim.fn.mode() == 'n'")

    def type(self, keys: str, seen: str) -> None:
        """Types in the file until that line is there."""
        self.file()
        self.nvim.keys(f"{keys}<Esc>")
        self.nvim.wait_lua(f"vim.fn.search('\\\\V{seen}', 'nw') > 0 and vim.fn.mode() == 'n'")

    def ask(self, words: str = "Do it") -> None:
        self.nvim.keys("<Esc><C-w>b")
        send(self.nvim, words)

    def done(self) -> str:
        self.nvim.screen.wait_for(END["text"])
        idle(self.nvim)
        return self.model.heard()

    def lines(self) -> list[str]:
        return self.nvim.lua("return vim.api.nvim_buf_get_lines(vim.fn.bufnr('a.txt'), 0, -1, false)")

    def modified(self) -> bool:
        return bool(self.nvim.lua("return vim.bo[vim.fn.bufnr('a.txt')].modified"))

    def on_disk(self) -> str:
        return self.path.read_text(encoding="utf-8")


def edit(old: str, new: str, path: str = "a.txt") -> tuple[str, dict[str, Any]]:
    return "edit", {"filePath": path, "oldString": old, "newString": new}


READ = ("read", {"filePath": "a.txt"})


def test_e17_the_agent_reads_what_is_not_saved_and_its_edit_is_undone_in_one_step(desk: Desk) -> None:
    pair = Pair(desk, calls(READ), calls(edit("typed by the user", "changed by the agent")), END)
    pair.type("Otyped by the user", "typed by the user")
    pair.ask()
    heard = pair.done()
    assert "typed by the user" in heard
    assert pair.lines() == ["changed by the agent", *TEXT.split()]
    assert pair.on_disk() == TEXT
    pair.file()
    pair.nvim.keys("u")
    pair.nvim.wait_lua("vim.fn.getline(1) == 'typed by the user'")
    assert pair.lines() == ["typed by the user", *TEXT.split()]


def test_an_edit_of_a_saved_file_is_saved_too_and_can_be_undone(desk: Desk) -> None:
    pair = Pair(desk, calls(READ), calls(edit("two\n", "2\n2b\n"), edit("five\n", "five\nsix\n")), END)
    pair.ask()
    pair.done()
    assert pair.lines() == ["one", "2", "2b", "three", "four", "five", "six"]
    assert pair.on_disk() == "one\n2\n2b\nthree\nfour\nfive\nsix\n"
    assert not pair.modified()
    pair.file()
    pair.nvim.keys("uu")
    pair.nvim.wait_lua("vim.api.nvim_buf_line_count(0) == 5")
    assert pair.lines() == TEXT.split()


def test_a_file_that_was_only_touched_is_saved_too(desk: Desk) -> None:
    """As a checkout or a formatter leaves it: another time, the same text."""
    pair = Pair(desk, calls(READ), calls(edit("two", "2")), calls(edit("three", "3")), END)
    pair.path.with_name("b.txt").write_text(TEXT, encoding="utf-8")
    pair.path.with_name("b.txt").replace(pair.path)
    pair.ask()
    pair.done()
    assert pair.on_disk() == "one\n2\n3\nfour\nfive\n"
    assert not pair.modified()


def test_a_whole_new_text_leaves_what_stays_alone(desk: Desk) -> None:
    """`write` on an open file: its cursor and marks stay on their lines."""
    pair = Pair(desk, calls(READ), calls(("write", {"filePath": "a.txt", "content": f"zero\n{TEXT}six\n"})), END)
    pair.file()
    pair.nvim.keys("4Gma")
    pair.ask()
    pair.done()
    assert pair.on_disk() == f"zero\n{TEXT}six\n"
    assert pair.lines() == ["zero", *TEXT.split(), "six"]
    assert pair.nvim.lua("return vim.api.nvim_buf_get_mark(vim.fn.bufnr('a.txt'), 'a')")[0] == 5


def test_the_user_types_on_while_the_edit_comes(desk: Desk) -> None:
    pair = Pair(desk, calls(READ), calls(edit("four", "4"), gate="now"), END)
    pair.ask()
    pair.nvim.screen.wait_for("✓ read")
    pair.file()
    pair.nvim.keys("ggO")
    pair.nvim.wait_lua("vim.fn.mode() == 'i'")
    pair.model.open("now")
    for letter in "while it comes":
        pair.nvim.keys(letter)
    pair.nvim.screen.wait_for(END["text"])
    pair.nvim.keys(", and after<Esc>")
    pair.nvim.wait_lua("vim.fn.getline(1) == 'while it comes, and after'")
    heard = pair.done()
    if "4" in pair.lines():
        assert "1 place replaced" in heard
    else:  # the user was faster, and the agent was told so
        assert "did not take" in heard or "since you" in heard


def test_a_conflict_is_refused_and_said(desk: Desk) -> None:
    pair = Pair(desk, calls(READ), calls(edit("two", "2"), gate="now"), END)
    pair.ask()
    pair.nvim.screen.wait_for("✓ read")
    pair.type("ggOtyped by the user", "typed by the user")
    pair.path.write_text("written by somebody else\n", encoding="utf-8")
    pair.model.open("now")
    heard = pair.done()
    pair.nvim.screen.wait_for("✗ edit")
    assert "changes in the editor that are not saved" in heard
    assert pair.on_disk() == "written by somebody else\n"
    assert pair.lines() == ["typed by the user", *TEXT.split()]
    assert pair.nvim.api.request("nvim_get_mode")["blocking"] is False


HANDLERS = {
    "ours": "require('agentls.server').client.handlers['workspace/applyEdit']",
    "neovim's": "vim.lsp.handlers['workspace/applyEdit']",
}


@pytest.mark.parametrize(("whose", "said"), [("ours", "did not take"), ("neovim's", "not known whether")])
def test_a_stale_edit_is_detected(desk: Desk, whose: str, said: str) -> None:
    """The user's key is faster than the edit that is on its way. Neovim's own handler throws it away as `applied`, with
    a message that must fit the screen, or it waits for a key.
    """
    pair = Pair(desk, calls(READ), calls(edit("two", "2"), gate="now"), END, width=220)
    pair.type("ggOfirst", "first")
    pair.ask()
    pair.nvim.screen.wait_for("✓ read")
    pair.nvim.lua(f"""
        local apply, client = {HANDLERS[whose]}, require('agentls.server').client
        client.handlers['workspace/applyEdit'] = function(...)
            vim.api.nvim_buf_set_lines(vim.fn.bufnr('a.txt'), 0, 0, false, {{ 'faster' }})
            return apply(...)
        end
    """)
    pair.model.open("now")
    heard = pair.done()
    assert said in heard
    assert pair.lines() == ["faster", "first", *TEXT.split()]


def test_e18_a_command_sees_the_agents_unsaved_edits_and_hears_of_other_unsaved_files(desk: Desk) -> None:
    (desk.project / "b.txt").write_text("of b\n", encoding="utf-8")
    pair = Pair(desk, calls(READ), calls(edit("two", "2")), calls(("bash", {"command": "cat a.txt b.txt"})), END)
    pair.type("ggOtyped by the user", "typed by the user")
    command(pair.nvim, "edit b.txt")
    pair.nvim.keys("ggOnot saved<Esc>")
    pair.nvim.wait_lua("vim.fn.getline(1) == 'not saved'")
    pair.ask()
    dialog(pair.nvim, "$ cat a.txt b.txt")
    assert pair.on_disk() == TEXT
    pair.nvim.keys("o")
    result = pair.done().rsplit("cat a.txt b.txt", 1)[-1]
    assert "typed by the user" in result
    assert pair.on_disk() == "typed by the user\none\n2\nthree\nfour\nfive\n"
    assert "of b" in result
    assert "on the disk: b.txt" in result
    assert (desk.project / "b.txt").read_text(encoding="utf-8") == "of b\n"


def test_two_windows_on_one_buffer_keep_their_places(desk: Desk) -> None:
    pair = Pair(desk, calls(READ), calls(edit("two\n", "2\nnew\n")), END)
    pair.file()
    pair.nvim.keys(":split<CR>4G<C-w>j5G")
    pair.nvim.wait_lua("vim.api.nvim_win_get_cursor(0)[1] == 5")
    pair.ask()
    pair.done()
    rows = pair.nvim.lua("""return vim.tbl_map(
        function(win) return vim.api.nvim_win_get_cursor(win)[1] end, vim.fn.win_findbuf(vim.fn.bufnr('a.txt')))""")
    assert sorted(rows) == [5, 6]


def test_a_buffer_that_is_not_shown_is_read_and_changed(desk: Desk) -> None:
    pair = Pair(desk, calls(READ), calls(edit("hidden", "found")), END)
    pair.type("Ohidden", "hidden")
    command(pair.nvim, "hide enew")
    pair.nvim.wait_lua("#vim.fn.win_findbuf(vim.fn.bufnr('a.txt')) == 0")
    pair.ask()
    pair.done()
    assert pair.lines() == ["found", *TEXT.split()]
    assert pair.on_disk() == TEXT


def test_a_file_that_is_not_open_is_written_and_opens_no_buffer(desk: Desk) -> None:
    made = ("write", {"filePath": "new.txt", "content": "made\n"})
    pair = Pair(desk, calls(made), END)
    pair.ask()
    pair.done()
    assert (desk.project / "new.txt").read_text(encoding="utf-8") == "made\n"
    assert pair.nvim.lua("return vim.fn.bufexists('new.txt')") == 0


def test_what_a_command_changed_on_the_disk_is_shown_at_the_turns_end(desk: Desk) -> None:
    pair = Pair(desk, calls(("bash", {"command": "echo six >> a.txt"})), END)
    pair.ask()
    dialog(pair.nvim, "echo six")
    pair.nvim.keys("o")
    pair.done()
    pair.nvim.wait_lua("vim.api.nvim_buf_line_count(vim.fn.bufnr('a.txt')) == 6")


def test_the_diagnostics_of_another_language_server_reach_the_agent(desk: Desk) -> None:
    ruff = ROOT / ".venv" / "bin" / "ruff"
    pair = Pair(desk, calls(("diagnostics", {"path": "b.py"})), END)
    (desk.project / "b.py").write_text("import os\n", encoding="utf-8")
    pair.file()
    command(pair.nvim, "edit b.py")
    pair.nvim.lua(
        "vim.lsp.start({ name = 'ruff', cmd = { ..., 'server' } }, { bufnr = vim.fn.bufnr('b.py') })", str(ruff)
    )
    pair.nvim.wait_lua("#vim.diagnostic.get(vim.fn.bufnr('b.py')) > 0")
    pair.ask()
    assert "b.py:1:8 warning: `os` imported but unused" in pair.done()
