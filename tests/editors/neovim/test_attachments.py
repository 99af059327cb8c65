"""What goes along with a prompt: files, the selection, diagnostics."""

from steps import idle, send

from conftest import Desk

CODE = "def add(a, b):\n    return a - b\n\n\ndef other():\n    pass\n"


def test_files_are_completed_after_an_at_and_sent(desk: Desk) -> None:
    (desk.project / "calculator.py").write_text(CODE, encoding="utf-8")
    model = desk.model({"text": "Read."})
    nvim = desk.chat()
    nvim.wait_lua("require('agentls.server').state == 'up'")
    nvim.keys("iLook at @calc")
    nvim.wait_lua("vim.fn.pumvisible() == 1")
    nvim.screen.wait_for("@calculator.py")
    nvim.keys("<C-n><C-y> please<C-s><Esc>")
    nvim.screen.wait_for("Read.")
    idle(nvim)
    assert "Look at @calculator.py please" in model.heard()
    assert "return a - b" in model.heard()


def test_sending_closes_what_is_offered(desk: Desk) -> None:
    (desk.project / "calculator.py").write_text(CODE, encoding="utf-8")
    desk.model({"text": "Read."})
    nvim = desk.chat()
    nvim.wait_lua("require('agentls.server').state == 'up'")
    nvim.keys("i@calculator.py")
    nvim.wait_lua("vim.fn.pumvisible() == 1")
    nvim.keys("<C-s>")
    nvim.wait_lua("vim.fn.pumvisible() == 0")
    nvim.screen.wait_for("Read.")


def test_lines_of_a_range_are_sent(desk: Desk) -> None:
    (desk.project / "a.py").write_text(CODE, encoding="utf-8")
    model = desk.model({"text": "Seen."})
    nvim = desk.editor()
    nvim.keys(":edit a.py<CR>:1,2AgentSend What is wrong here?<CR>")
    nvim.screen.wait_for("Seen.")
    assert "What is wrong here?" in model.heard()
    assert "return a - b" in model.heard()
    assert "def other" not in model.heard()


def test_the_selection_is_sent_by_name(desk: Desk) -> None:
    (desk.project / "a.py").write_text(CODE, encoding="utf-8")
    model = desk.model({"text": "Seen."})
    nvim = desk.editor()
    nvim.keys(":edit a.py<CR>Vj<Esc>:Agent<CR>")
    nvim.screen.wait_for("@ attach")
    send(nvim, "Explain @selection")
    nvim.screen.wait_for("Seen.")
    assert "return a - b" in model.heard()
    assert "def other" not in model.heard()


def test_diagnostics_are_sent_by_name(desk: Desk) -> None:
    (desk.project / "a.py").write_text(CODE, encoding="utf-8")
    model = desk.model({"text": "Seen."})
    nvim = desk.editor()
    nvim.keys(":edit a.py<CR>")
    nvim.lua("""vim.diagnostic.set(vim.api.nvim_create_namespace('t'), 0,
        {{ lnum = 1, col = 4, message = 'subtracts where it should add', severity = 2, source = 'lint' }})""")
    nvim.keys(":Agent<CR>")
    nvim.screen.wait_for("@ attach")
    send(nvim, "Fix @diagnostics")
    nvim.screen.wait_for("Seen.")
    assert "subtracts where it should add" in model.heard()


def test_a_word_with_an_at_is_known_before_a_full_stop_and_dots_alone_are_no_file(desk: Desk) -> None:
    (desk.project / "a.py").write_text(CODE, encoding="utf-8")
    nvim = desk.editor()
    nvim.keys(":edit a.py<CR>Vj<Esc>")
    found = nvim.lua(
        "return require('agentls.prompt').parts('See @selection, then @... and @a.py.', ...)", str(desk.project)
    )
    kinds = [part["type"] for part in found]
    assert kinds == ["text", "selection", "file"]


def test_a_selection_that_is_none_is_said_and_the_words_stay(desk: Desk) -> None:
    desk.model({"text": "unused"})
    nvim = desk.chat()
    send(nvim, "Explain @selection")
    nvim.wait_lua("vim.api.nvim_exec2('messages', {output = true}).output:find('Nothing is selected', 1, true)")
    nvim.screen.wait_for("Explain @selection")
