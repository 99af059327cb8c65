--- What the user's commands do.
local agent = require('agentls.agent')
local asks = require('agentls.asks')
local choose = require('agentls.choose')
local prompt = require('agentls.prompt')
local protocol = require('agentls.protocol')
local server = require('agentls.server')

local M = {}
local request = protocol.request

--- `:Agent` shows or hides the chat, `:Agent!` opens a new session beside it, `:Agent words` sends them.
function M.agent(opts)
  if opts.bang then
    agent.open(nil, true)
  elseif opts.args == '' and agent.here():focused() then
    return agent.here():hide()
  else
    agent.here():show()
    server.ready(function() end)
  end
  if opts.args ~= '' then M.send({ args = opts.args, range = 0 }) end
end

--- `:AgentSend words`, with a range the lines too; with `!` after the turn that runs.
function M.send(opts)
  local chat = agent.here()
  local text = opts.args
  if opts.range == 0 and text == '' then return prompt.send(chat, opts.bang and 'queue' or 'steer') end
  local parts, problem = prompt.parts(text ~= '' and text or 'Look at the selected lines.', agent.root())
  if problem then return agent.tell(problem, vim.log.levels.WARN) end
  if opts.range > 0 then
    table.insert(parts, prompt.selection(vim.api.nvim_get_current_buf(), opts.line1, opts.line2))
  end
  agent.send(chat, { text = text, parts = parts, delivery = opts.bang and 'queue' or 'steer' })
  if not chat:visible() then chat:show() end
end

function M.abort(opts) agent.abort(agent.here(), opts.bang and 'clear' or 'keep') end

function M.shell(opts)
  local chat = agent.here()
  agent.shell(chat, opts.args)
  if not chat:visible() then chat:show() end
end

function M.sessions(opts)
  require('agentls.sessions').pick({ all = opts.bang, query = opts.args ~= '' and opts.args or nil })
end

function M.mode(opts) choose.mode(opts) end

function M.model(opts) choose.model(opts) end

--- `:AgentAgent`: which agent answers.
function M.who(opts) choose.agent(opts) end

--- For the completion of a command: what may stand after it.
---@param what 'mode'|'model'|'agent'
---@param lead string
---@return string[]
function M.complete(what, lead) return choose.complete[what](lead) end

--- Whether the folder's settings hold.
function M.trust(opts) require('agentls.trust').ask(opts) end

--- The server's log in a window.
function M.log()
  local state = vim.env.XDG_STATE_HOME or (vim.env.HOME .. '/.local/state')
  local path = state .. '/agentls/log/agentls.log'
  if not vim.uv.fs_stat(path) then return agent.tell('There is no log at ' .. path, vim.log.levels.WARN) end
  -- Without autocommands and unlisted: no server is told of it, ours neither.
  vim.cmd.split({ vim.fn.fnameescape(path), mods = { noautocmd = true } })
  vim.bo.buflisted = false
  vim.bo.modifiable = false
  vim.cmd.normal({ 'G', bang = true })
end

--- The open questions; with `!` the rules that an "always" left, to take them back.
function M.permissions(opts)
  if not opts.bang then return asks.show() end
  local chat = agent.here()
  agent.request(request.permission_rules, { sessionId = chat.id }, function(err, result)
    if err then return agent.tell(err.message, vim.log.levels.ERROR) end
    if #result.rules == 0 then return agent.tell('No "always" has left a rule.') end
    local function label(r) return ('%s %s: %s  (%s)'):format(r.action, r.permission, r.pattern, r.scope) end
    vim.ui.select(result.rules, { prompt = 'Take back a rule', format_item = label }, function(rule)
      if not rule then return end
      agent.request(
        request.permission_forget,
        { sessionId = chat.id, rule = rule },
        function(failure) agent.tell(failure and failure.message or 'Taken back: ' .. label(rule)) end
      )
    end)
  end)
end

--- What is queued, to take it out.
function M.queue()
  local chat = agent.here()
  local queue = chat.copy and chat.copy.queue or {}
  if #queue == 0 then return agent.tell('Nothing is queued.') end
  vim.ui.select(
    queue,
    { prompt = 'Take out of the queue', format_item = function(i) return (i.text:gsub('\n', ' ')) end },
    function(item)
      if not item then return end
      agent.request(request.queue_remove, { sessionId = chat.id, messageId = item.messageId }, function(err)
        if err then return agent.tell(err.message, vim.log.levels.WARN) end
        prompt.give_back(chat, item.text)
      end)
    end
  )
end

--- Only makes sure that the plugin is set up.
function M.nothing() end

function M.restart()
  server.restart(function(err)
    if not err then agent.tell('agentls runs again.') end
  end)
end

return M
