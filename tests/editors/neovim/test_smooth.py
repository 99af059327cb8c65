"""Long streams: Neovim's loop never stands still for long."""

import json
from pathlib import Path
from typing import Any

import pytest
from nvim import Nvim
from steps import send

from conftest import Desk

FEED = (Path(__file__).parent / "feed.lua").read_text(encoding="utf-8")
DELTAS = 20_000
LIMIT = 50  # milliseconds
LINES = "some words of an answer with `code` and **bold** here\n"

PROBE = """
local last, worst = vim.uv.hrtime(), 0
_G.probe = vim.uv.new_timer()
_G.probe:start(0, 2, function()
  local now = vim.uv.hrtime()
  worst = math.max(worst, (now - last) / 1e6)
  last = now
  _G.worst = worst
end)
"""


def shown(nvim: Nvim) -> int:
    """The bytes in the chat, once all is drawn."""
    nvim.wait_lua("require('agentls.agent').current.drawing == false")
    lines = "vim.api.nvim_buf_get_lines(require('agentls.agent').current.buf, 0, -1, false)"
    return int(nvim.lua(f"return #table.concat({lines}, '.')"))


def finished(nvim: Nvim) -> float:
    nvim.wait_lua(
        "(function() local t = require('agentls.agent').current.copy.turn return t and t.state == 'ended' end)()", 60
    )
    nvim.wait_lua("require('agentls.agent').current.drawing == false", 60)
    return float(nvim.lua("_G.probe:stop() return _G.worst"))


def test_20000_deltas_from_the_server_never_stall_the_editor(desk: Desk, record_property: Any) -> None:
    events: list[Any] = [{"gate": "go"}, {"raw": "".join(chunk(n) for n in range(DELTAS))}, {"finish": "stop"}, "done"]
    model = desk.model({"events": events})
    nvim = desk.chat()
    send(nvim, "At length")
    nvim.screen.wait_for("● working")
    nvim.lua(PROBE)
    model.open("go")
    worst = finished(nvim)
    record_property("worst_ms", worst)
    nvim.screen.wait_gone("● working")
    assert shown(nvim) >= DELTAS * 27
    assert worst < LIMIT, f"stood still for {worst:.1f} ms"


@pytest.mark.parametrize("size", [1, 54])
def test_20000_single_notifications_never_stall_the_editor(desk: Desk, record_property: Any, size: int) -> None:
    """As with `coalesceMs: 0`: each delta a notification, as fast as the pipe gives them."""
    nvim = desk.chat()
    nvim.lua(FEED, DELTAS, LINES[:size])
    nvim.lua(PROBE)
    nvim.lua("_G.feed()")
    worst = finished(nvim)
    record_property("worst_ms", worst)
    assert worst < LIMIT, f"stood still for {worst:.1f} ms"
    assert shown(nvim) >= DELTAS * size


def chunk(number: int) -> str:
    """No two are alike: what repeats itself is cut by the server."""
    words = f"{number * 7919 % 99991:05d} `words` of an " if number % 2 == 0 else f"**answer** of {number:05d} words\n"
    body = {"choices": [{"index": 0, "delta": {"content": words.rjust(27)}, "finish_reason": None}]}
    return f"data: {json.dumps(body)}\n\n"
