--- What waits for the user's answer: when a dialog opens by itself, which one, and when it goes again.
local Store = require('agentls.store')
local prompt = require('agentls.prompt')
local permission = require('agentls.permission')
local question = require('agentls.question')
local tell = require('agentls.notice')
local view = require('agentls.view')

local M = {}

local shown ---@type {id: string, dialog: agentls.Dialog, back: integer}?
local later = {} ---@type table<string, true> put off by the user; a command shows them again
local told = {} ---@type table<string, true>
local agent

---@param controller table
function M.init(controller) agent = controller end

local function id_of(ask) return ask.permissionId or ask.questionId end

--- How the user comes to answer a question from where the cursor is.
---@param ask table
---@return string
function M.how(ask)
  if shown then return 'answer in the dialog' end
  local typing = agent.current and agent.current:focused() and not later[id_of(ask)]
  return typing and '<Esc> to answer' or ':AgentPermissions to answer'
end

--- All that is open, of the current chat first.
---@return table[]
function M.open()
  local list, seen = {}, {}
  local function take(copy)
    for _, ask in ipairs(copy and Store.pending_of(copy) or {}) do
      if not seen[id_of(ask)] then
        seen[id_of(ask)] = true
        list[#list + 1] = ask
      end
    end
  end
  take(agent.current and agent.current.copy)
  for _, copy in pairs(agent.store.copies) do
    take(copy)
  end
  return list
end

local function take_away()
  local was = shown
  shown = nil
  if not was then return end
  was.dialog:close()
  if vim.api.nvim_win_is_valid(was.back) then vim.api.nvim_set_current_win(was.back) end
end

local function answer(method, params)
  local id = params.permissionId or params.questionId
  take_away()
  later[id] = true -- not to be shown again while the answer is under way
  agent.request(method, params, function(err, result)
    local lost = params.message and (err or result.status == 'superseded')
    if lost and agent.current then prompt.give_back(agent.current, params.message) end
    if err then
      later[id] = nil
      tell('Your answer did not arrive: ' .. err.message, vim.log.levels.ERROR)
    elseif result.status == 'superseded' then
      tell(('Somebody else answered first: %s.'):format(result.resolution.outcome))
    else
      question.forget(id)
    end
    M.refresh()
  end)
end

---@param ask table
---@param wanted boolean whether the user asked to see it
local function show(ask, wanted)
  local list, index = M.open(), 1
  for at, one in ipairs(list) do
    if id_of(one) == id_of(ask) then index = at end
  end
  local back = shown and shown.back or vim.api.nvim_get_current_win()
  if shown then shown.dialog:close() end
  local function put_off()
    for _, one in ipairs(M.open()) do
      later[id_of(one)] = true
    end
    take_away()
    M.told_how()
  end
  local function step(by)
    local now = M.open()
    if #now > 0 then show(now[(index - 1 + by) % #now + 1], true) end
  end
  local kind = ask.permissionId and permission or question
  vim.cmd.stopinsert()
  local dialog = kind.open(ask, { index = index, count = #list, wanted = wanted }, answer)
  dialog:map({ 'q', '<Esc>' }, put_off, true)
  dialog:map({ ']' }, function() step(1) end, true)
  dialog:map({ '[' }, function() step(-1) end, true)
  shown = { id = id_of(ask), back = back, dialog = dialog }
  M.told_how()
end

--- Whether a dialog may take the focus: the user is in the chat and types nothing.
local function may_open() return agent.current and agent.current:focused() and vim.api.nvim_get_mode().mode == 'n' end

local function announce(ask)
  if told[id_of(ask)] then return end
  told[id_of(ask)] = true
  vim.api.nvim_exec_autocmds(
    'User',
    { pattern = 'AgentlsAsked', data = { sessionId = ask.sessionId, id = id_of(ask) } }
  )
  local words = view.one_line(ask.title or ask.questions[1].question, 40)
  tell(('agentls asks (:AgentPermissions): %s'):format(words))
end

--- The line above the prompt says how to answer.
function M.told_how()
  if agent.current then agent.current:bar_soon() end
end

--- After every change of what is open, and when the user comes to the chat.
function M.refresh()
  local list = M.open()
  local open = {}
  for _, ask in ipairs(list) do
    open[id_of(ask)] = ask
  end
  if shown and not (open[shown.id] and shown.dialog:valid()) then
    local gone = shown.dialog:valid()
    take_away()
    if gone then tell('The question was settled.') end
  end
  for _, ids in ipairs({ later, told }) do
    for id in pairs(ids) do
      if not open[id] then ids[id] = nil end
    end
  end
  for _, words in ipairs(question.left(open)) do
    prompt.give_back(agent.here(), words)
  end
  if #list > 0 then M.told_how() end
  if shown then return end
  for _, ask in ipairs(list) do
    if not later[id_of(ask)] then
      if may_open() then return show(ask, false) end
      announce(ask)
    end
  end
end

--- Shows what is open, also what was put off.
function M.show()
  later = {}
  local first = M.open()[1]
  if not first then return tell('No question is open.') end
  show(first, true)
end

return M
