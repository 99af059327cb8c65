--- The line above the chat.
local Store = require('agentls.store')
local view = require('agentls.view')

local M = {}

local LABEL = { idle = '', busy = '● working', waiting = '? waits for you', compacting = '● summing up' }
local GROUP = {
  idle = 'AgentlsQuiet',
  busy = 'AgentlsBusy',
  waiting = 'AgentlsWait',
  compacting = 'AgentlsBusy',
  retry = 'AgentlsWait',
}

local function safe(text) return (tostring(text):gsub('%%', '%%%%')) end

--- Milliseconds since 1970.
local function now()
  local s, micro = vim.uv.gettimeofday()
  return s * 1000 + micro / 1000
end

---@param copy agentls.Copy
---@return string text
---@return string group
local function doing(copy)
  local status = copy.status
  if copy.owner then return ('read only: process %d runs it'):format(copy.owner.pid), GROUP.retry end
  if status.type == 'retry' then
    local left = math.max(0, math.ceil((status.nextAt - now()) / 1000))
    return ('↻ attempt %d in %d s'):format(status.attempt, left), GROUP.retry
  end
  local open = vim.tbl_count(copy.pending)
  local text = LABEL[status.type] or status.type
  if open > 0 and status.type ~= 'waiting' then text = ('%s  ? %d open'):format(text, open) end
  return text, GROUP[status.type] or 'AgentlsBusy'
end

--- The line above the chat: what goes on, with whom, how full the model's window is. What has no room is left out.
---@param copy? agentls.Copy
---@param link string the connection's state; empty if it is up
---@param width integer
---@return string winbar
function M.text(copy, link, width)
  if link ~= '' then return '%#AgentlsError# ' .. safe(link) .. '%<' end
  if not copy or not copy.session then return '%#AgentlsTitle# New session' end
  local session = copy.session
  local text, group = doing(copy)
  local title = view.one_line(view.title(copy), 40)
  local right = {
    copy.context and ('%d%%'):format(math.floor(copy.context * 100 + 0.5)) or '',
    session.agent,
    session.model and session.model.modelId or '',
    session.mode,
  }
  local function room()
    return width - vim.fn.strdisplaywidth(text) - vim.fn.strdisplaywidth(table.concat(right, ' · ')) - 6
  end
  right = vim.tbl_filter(function(one) return one ~= '' end, right)
  while #right > 1 and room() < math.min(vim.fn.strdisplaywidth(title), 12) do
    table.remove(right, 1)
  end
  title = view.one_line(title, math.max(room(), 8))
  local reversed = {}
  for at = #right, 1, -1 do
    reversed[#reversed + 1] = right[at]
  end
  return ('%%#AgentlsTitle# %s  %%#%s#%s%%<%%=%%#AgentlsQuiet#%s '):format(
    safe(title),
    group,
    safe(text),
    safe(table.concat(reversed, ' · '))
  )
end

--- What the oldest open question is about, and how to answer it.
---@param copy agentls.Copy
---@param how fun(ask: table): string
---@return string? winbar
local function question(copy, how)
  local ask = Store.pending_of(copy)[1]
  if not ask then return nil end
  local words = view.one_line(ask.title or ask.questions[1].question, 60)
  return ('%%#AgentlsWait# ? %s: %s%%<'):format(how(ask), safe(words))
end

--- The line above the prompt: what is on its way, what waits for an answer, and the keys.
---@param chat agentls.Chat
---@param keys table<string, table<string, string>>
---@param how fun(ask: table): string
---@return string winbar
function M.hint(chat, keys, how)
  local sending = #chat.outbox > 0 and ('%%#AgentlsWait# %d being sent '):format(#chat.outbox) or ''
  local asked = chat.copy and question(chat.copy, how)
  if asked then return sending .. asked end
  local busy = chat.copy and chat.copy.status.type ~= 'idle'
  local function key(name, does)
    local pressed = keys[name].i or keys[name].n or ''
    return pressed ~= '' and ('%s %s'):format(safe(pressed), does) or nil
  end
  local known = {}
  known[#known + 1] = key('send', busy and 'steer' or 'send')
  known[#known + 1] = key('queue', 'queue')
  known[#known + 1] = busy and key('abort', 'stop') or nil
  known[#known + 1] = '@ attach'
  return ('%s%%#AgentlsQuiet# %s%%<'):format(sending, table.concat(known, ' · '))
end

return M
