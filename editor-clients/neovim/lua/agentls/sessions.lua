--- The picker of sessions.
local agent = require('agentls.agent')
local protocol = require('agentls.protocol')

local M = {}

local function age(time)
  local s = math.max(0, os.time() - math.floor(time / 1000))
  if s < 3600 then return ('%d min'):format(s / 60) end
  if s < 86400 then return ('%d h'):format(s / 3600) end
  return ('%d d'):format(s / 86400)
end

---@param session table
---@return string
function M.label(session)
  local title = session.title ~= '' and session.title or 'New session'
  return ('%s  (%s ago)'):format(title:gsub('\n', ' '), age(session.time.updated))
end

--- Lets the user choose a session of this folder, or of all folders.
---@param options {all?: boolean, query?: string}
function M.pick(options)
  local params = { directory = not options.all and agent.root() or nil, query = options.query }
  agent.request(protocol.request.session_list, params, function(err, result)
    if err then return agent.tell(err.message, vim.log.levels.ERROR) end
    local items = vim.list_extend({ false }, result.sessions)
    vim.ui.select(items, {
      prompt = 'Sessions',
      kind = 'agentls.session',
      format_item = function(session) return session and M.label(session) or 'Start a new one' end,
    }, function(session, index)
      if index then agent.open(session and session.id or nil) end
    end)
  end)
end

return M
