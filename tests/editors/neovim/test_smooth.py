"""Long streams: Neovim's loop never stands still for long."""

import json
from typing import Any

import pytest
from conftest import Desk
from nvim import Nvim
from steps import send

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
    return int(nvim.lua("return #table.concat(vim.api.nvim_buf_get_lines(require('agentls.agent').current.buf, 0, -1, false), '\\n')"))


def finished(nvim: Nvim) -> float:
    nvim.wait_lua("(function() local t = require('agentls.agent').current.copy.turn return t and t.state == 'ended' end)()", 60)
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
    print(f"worst stall, {DELTAS} deltas of a real server: {worst:.1f} ms")
    nvim.screen.wait_gone("● working")
    assert shown(nvim) >= DELTAS * 27
    assert worst < LIMIT


@pytest.mark.parametrize("size", [1, 54])
def test_20000_single_notifications_never_stall_the_editor(desk: Desk, record_property: Any, size: int) -> None:
    """As with `coalesceMs: 0`: each delta a notification, as fast as the pipe gives them."""
    nvim = desk.chat()
    nvim.lua(FEED, DELTAS, LINES[:size] if size == 1 else LINES)
    nvim.lua(PROBE)
    nvim.lua("_G.feed()")
    worst = finished(nvim)
    record_property("worst_ms", worst)
    print(f"worst stall, {DELTAS} notifications of {size} bytes: {worst:.1f} ms")
    assert worst < LIMIT
    assert shown(nvim) >= DELTAS * size


def chunk(number: int) -> str:
    words = LINES[:27] if number % 2 == 0 else LINES[27:]
    body = {"choices": [{"index": 0, "delta": {"content": words}, "finish_reason": None}]}
    return f"data: {json.dumps(body)}\n\n"


FEED = """
local count, words = ...
local agent = require('agentls.agent')
local store, chat = agent.store, agent.current
chat.id = 's'
chat.copy = store:open('s')
store:attached('s', { position = { epoch = 'e', seq = 0 }, status = { type = 'busy' }, pending = { permissions = {}, questions = {} },
  snapshot = { session = { id = 's', title = '', mode = 'ask', agent = 'build', usage = {} }, todos = {}, queue = {},
    messages = {{ message = { id = 'm', pos = 1, role = 'assistant', agent = 'build', model = { modelId = 'x' } },
      parts = {{ id = 'p', messageId = 'm', pos = 1, rev = 1, type = 'text', text = '' }} }} } })
local text = string.rep(words, count)
function _G.feed()
  local at = 0
  local function some()
    local start = vim.uv.hrtime()
    while at < count and vim.uv.hrtime() - start < 5e6 do
      at = at + 1
      store:notified('part/delta', { sessionId = 's', messageId = 'm', partId = 'p', field = 'text', base = at, rev = at + 1, delta = words })
    end
    if at < count then return vim.schedule(some) end
    store:notified('part/updated', { sessionId = 's', seq = 5, part = { id = 'p', messageId = 'm', pos = 1, rev = at + 2, type = 'text', text = text } })
    store:notified('turn/ended', { sessionId = 's', seq = 6, turnId = 't', stopReason = 'done', usage = {} })
  end
  some()
end
"""
