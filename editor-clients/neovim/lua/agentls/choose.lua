--- Who answers, and how freely: the mode, the model and the agent of a session.
local agent = require('agentls.agent')
local protocol = require('agentls.protocol')

local request = protocol.request
local M = {}

local MODES = { 'ask', 'acceptEdits', 'auto' }
local WAIT = 2000 -- milliseconds that a completion may take

---@param model {providerId: string, modelId: string}
local function model_name(model) return model.providerId .. '/' .. model.modelId end

---@param method agentls.Request
---@param name 'models'|'agents'
---@param callback fun(list: table[])
local function list(method, name, callback)
  agent.request(method, { directory = agent.root() }, function(err, result)
    if err then return agent.tell(err.message, vim.log.levels.ERROR) end
    callback(result[name])
  end)
end

---@param callback fun(list: table[])
local function models(callback) list(request.model_list, 'models', callback) end

--- The agents that a session may have; the others are for the agents themselves.
---@param callback fun(list: table[])
local function agents(callback)
  list(request.agent_list, 'agents', function(all)
    callback(vim.tbl_filter(function(one) return one.mode ~= 'subagent' end, all))
  end)
end

---@param items table[]
---@param what string
---@param label fun(item: table): string
---@param now? string
---@param take fun(item: table)
local function choose(items, what, label, now, take)
  local words = what .. (now and (' (now %s)'):format(now) or '')
  vim.ui.select(items, { prompt = words, format_item = label }, function(item)
    if item then take(item) end
  end)
end

local function session()
  local copy = agent.here().copy
  return copy and copy.session or {}
end

function M.mode(opts)
  local function take(mode) agent.update(agent.here(), { mode = mode }) end
  if opts.args ~= '' then return take(opts.args) end
  choose(MODES, 'Mode', tostring, session().mode, take)
end

function M.model(opts)
  if opts.args ~= '' then
    local provider, model = opts.args:match('^([^/]+)/(.+)$')
    if not provider then return agent.tell('A model is named provider/model.', vim.log.levels.WARN) end
    return agent.update(agent.here(), { model = { providerId = provider, modelId = model } })
  end
  models(function(all)
    local now = session().model and model_name(session().model)
    choose(
      all,
      'Model',
      function(one) return ('%s  %s'):format(model_name(one), one.name) end,
      now,
      function(one) agent.update(agent.here(), { model = { providerId = one.providerId, modelId = one.modelId } }) end
    )
  end)
end

function M.agent(opts)
  local function take(one) agent.update(agent.here(), { agent = one.name }) end
  if opts.args ~= '' then return take({ name = opts.args }) end
  agents(function(all)
    choose(
      all,
      'Agent',
      function(one) return one.name .. (one.description and '  ' .. one.description or '') end,
      session().agent,
      take
    )
  end)
end

-- Completion ----------------------------------------------------------------------------------------------------------

--- The names that begin so, waiting a little for the server to tell them.
local function names(ask, name)
  return function(lead)
    local found ---@type string[]?
    ask(function(all) found = vim.tbl_map(name, all) end)
    vim.wait(WAIT, function() return found ~= nil end, 10)
    return vim.tbl_filter(function(one) return vim.startswith(one, lead) end, found or {})
  end
end

M.complete = {
  mode = names(function(callback) callback(MODES) end, tostring),
  model = names(models, model_name),
  agent = names(agents, function(one) return one.name end),
}

return M
