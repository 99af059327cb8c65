--- Whether the folder's own settings may run programs, redirect what is written, or allow things unasked.
local Dialog = require('agentls.dialog')
local agent = require('agentls.agent')
local protocol = require('agentls.protocol')
local server = require('agentls.server')

local request = protocol.request
local M = {}

local MOST = 20 -- lines shown of what is withheld

---@param callback fun(trust: {state: string, withheld: string[]})
local function look(callback)
  agent.request(request.config_get, { directory = server.root() }, function(err, result)
    if err then return agent.tell(err.message, vim.log.levels.ERROR) end
    callback(result.config.trust)
  end)
end

---@param trusted boolean
local function say(trusted)
  local params = { directory = server.root(), trusted = trusted }
  agent.request(request.workspace_trust, params, function(err)
    if err then return agent.tell(err.message, vim.log.levels.ERROR) end
    agent.withheld(0)
    agent.tell(trusted and 'The settings of this folder hold now.' or 'This folder is not trusted any more.')
  end)
end

---@param trust {state: string, withheld: string[]}
local function sheet(trust)
  local page = Dialog.sheet('Trust · ' .. vim.fn.fnamemodify(server.root(), ':~'))
  page.add('')
  local changed = trust.state == 'changed'
  page.add(
    changed and ' The settings of this folder have changed. They want:' or ' The settings of this folder want:',
    'AgentlsBold'
  )
  page.add('')
  for index, line in ipairs(trust.withheld) do
    if index > MOST then
      page.add(('    … %d more'):format(#trust.withheld - MOST), 'AgentlsQuiet')
      break
    end
    page.add('    ' .. line, 'AgentlsCode')
  end
  page.add('')
  page.key('t', 'trust', 'they hold from now on, until they change')
  page.key('q', 'not now', 'they stay withheld')
  return page
end

--- `:AgentTrust` shows what is withheld; with `!` the trust is taken back.
function M.ask(opts)
  if opts.bang then return say(false) end
  look(function(trust)
    if #trust.withheld == 0 then
      return agent.tell(
        trust.state == 'trusted' and 'This folder is trusted.'
          or 'The settings of this folder want nothing that needs trust.'
      )
    end
    local dialog = Dialog.open(sheet(trust), true)
    dialog:map({ 't' }, function()
      dialog:close()
      say(true)
    end)
    dialog:map({ 'q', '<Esc>' }, function() dialog:close() end, true)
  end)
end

--- Counts what is withheld, for a hint in the chat. Who said no by an option is not told again.
function M.check()
  if agent.options.trusted == false then return end
  look(function(trust) agent.withheld(#trust.withheld) end)
end

return M
