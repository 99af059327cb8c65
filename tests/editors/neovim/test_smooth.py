"""Long streams: Neovim's loop never stands still for long."""

import json
from pathlib import Path
from typing import Any

import pytest
from nvim import Nvim
from steps import send

from conftest import Desk

FEED = (Path(__file__).parent / "feed.lua").read_text(encoding="utf-8")
HISTORY = (Path(__file__).parent / "history.lua").read_text(encoding="utf-8")
DELTAS = 20_000
LIMIT = 50  # milliseconds of work between two turns of Neovim's loop
PAUSE = 1000  # milliseconds between them, others' work on a busy machine included
LINES = "some words of an answer with `code` and **bold** here\n"

PROBE = """
local last, worked = vim.uv.hrtime(), 0
_G.worst, _G.pause = 0, 0
local function work()
  local used = vim.uv.getrusage()
  return (used.utime.sec + used.stime.sec) * 1e3 + (used.utime.usec + used.stime.usec) / 1e3
end
worked = work()
_G.probe = vim.uv.new_timer()
_G.probe:start(0, 2, function()
  local now, used = vim.uv.hrtime(), work()
  _G.worst, _G.pause = math.max(_G.worst, used - worked), math.max(_G.pause, (now - last) / 1e6)
  last, worked = now, used
end)
"""


def shown(nvim: Nvim) -> int:
    """The bytes in the chat, once all is drawn."""
    nvim.wait_lua("require('agentls.agent').current.drawing == false")
    lines = "vim.api.nvim_buf_get_lines(require('agentls.agent').current.buf, 0, -1, false)"
    return int(nvim.lua(f"return #table.concat({lines}, '.')"))


def never_stood_still(nvim: Nvim, record_property: Any) -> None:
    nvim.wait_lua(
        "(function() local t = require('agentls.agent').current.copy.turn return t and t.state == 'ended' end)()", 60
    )
    nvim.wait_lua("require('agentls.agent').current.drawing == false", 60)
    worst, pause = nvim.lua("_G.probe:stop() return { _G.worst, _G.pause }")
    record_property("worst_ms", worst)
    record_property("pause_ms", pause)
    assert worst < LIMIT, f"worked for {worst:.1f} ms"
    assert pause < PAUSE, f"stood still for {pause:.1f} ms"


def test_20000_deltas_from_the_server_never_stall_the_editor(desk: Desk, record_property: Any) -> None:
    events: list[Any] = [{"gate": "go"}, {"raw": "".join(chunk(n) for n in range(DELTAS))}, {"finish": "stop"}, "done"]
    model = desk.model({"events": events})
    nvim = desk.chat()
    send(nvim, "At length")
    nvim.screen.wait_for("● working")
    nvim.lua(PROBE)
    model.open("go")
    never_stood_still(nvim, record_property)
    nvim.screen.wait_gone("● working")
    assert shown(nvim) >= DELTAS * 27


@pytest.mark.parametrize("size", [1, 54])
def test_20000_single_notifications_never_stall_the_editor(desk: Desk, record_property: Any, size: int) -> None:
    """As with `coalesceMs: 0`: each delta a notification, as fast as the pipe gives them."""
    nvim = desk.chat()
    nvim.lua(FEED, DELTAS, LINES[:size])
    nvim.lua(PROBE)
    nvim.lua("_G.feed()")
    never_stood_still(nvim, record_property)
    assert shown(nvim) >= DELTAS * size


def test_a_session_of_2000_messages_opens_without_a_stall(desk: Desk, record_property: Any) -> None:
    nvim = desk.chat()
    nvim.lua(HISTORY, 2000)
    nvim.lua(PROBE)
    nvim.lua("_G.feed()")
    nvim.screen.wait_for("message 2000")
    never_stood_still(nvim, record_property)
    assert shown(nvim) > 100_000


def chunk(number: int) -> str:
    """No two are alike: what repeats itself is cut by the server."""
    words = f"{number * 7919 % 99991:05d} `words` of an " if number % 2 == 0 else f"**answer** of {number:05d} words\n"
    body = {"choices": [{"index": 0, "delta": {"content": words.rjust(27)}, "finish_reason": None}]}
    return f"data: {json.dumps(body)}\n\n"
