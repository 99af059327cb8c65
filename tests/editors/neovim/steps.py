"""What a user does in the chat, as keys."""

from nvim import Nvim

IDLE = """(function()
    local copy = require('agentls.agent').current.copy
    return copy and copy.turn and copy.turn.state == 'ended' and copy.status.type == 'idle'
end)()"""


def send(nvim: Nvim, words: str, key: str = "<C-s>") -> None:
    nvim.keys(f"i{words}{key}<Esc>")


def command(nvim: Nvim, text: str) -> None:
    nvim.keys(f":{text}<CR>")


def idle(nvim: Nvim) -> None:
    nvim.wait_lua(IDLE)


def dialog(nvim: Nvim, words: str) -> str:
    """Waits for a dialog that says so, and until it takes keys."""
    text = nvim.screen.wait_for(words)
    nvim.wait_lua("(vim.w.agentls_takes_keys or false)")
    return text
