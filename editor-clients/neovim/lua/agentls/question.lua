--- The dialog of a question: choose one or several, or answer in own words. One question after another.
local Dialog = require('agentls.dialog')
local protocol = require('agentls.protocol')

local M = {}

---@class agentls.Begun what was answered and not sent yet, each by the number of the question
---@field answers string[][]
---@field chosen table<integer, table<string, boolean>>
---@field own table<integer, string>
---@field number integer the one that is shown

local begun = {} ---@type table<string, agentls.Begun> by question id

--- Forgets what was answered: the server has it.
---@param id string
function M.forget(id) begun[id] = nil end

--- Own words that nobody took, for questions that are not open any more.
---@param open table<string, table>
---@return string[]
function M.left(open)
  local words = {}
  for id, one in pairs(begun) do
    if not open[id] then
      vim.list_extend(words, vim.tbl_values(one.own))
      begun[id] = nil
    end
  end
  return words
end

---@param item table one of the questions
---@param title string
---@param foot? string
---@param chosen table<string, boolean>
---@param own? string
---@return agentls.Sheet
---@return integer first line of the options, 1-based
function M.sheet(item, title, foot, chosen, own)
  local sheet = Dialog.sheet(title, foot)
  sheet.add('')
  sheet.add(' ' .. item.question, 'AgentlsBold')
  sheet.add('')
  local first = #sheet.lines + 1
  for index, option in ipairs(item.options or {}) do
    local box = item.multiple and (chosen[option.label] and '[x] ' or '[ ] ') or ''
    sheet.key(tostring(index), box .. option.label, option.description)
  end
  sheet.add('')
  if own then sheet.add('     own words: ' .. own, 'AgentlsCode') end
  if item.multiple then sheet.key('<CR>', 'done') end
  if item.custom ~= false then sheet.key('i', 'answer in own words') end
  sheet.key('x', 'dismiss', 'the turn stops')
  sheet.key('q', 'later')
  return sheet, first
end

---@class agentls.Asking one of the questions while it is shown
---@field item table
---@field number integer
---@field begun agentls.Begun
---@field dialog agentls.Dialog
---@field write fun()
---@field done fun(answers: string[])

---@param asking agentls.Asking
---@param option? table
local function pick(asking, option)
  if not option then return end
  if not asking.item.multiple then return asking.done({ option.label }) end
  local chosen = asking.begun.chosen[asking.number]
  chosen[option.label] = not chosen[option.label]
  asking.write()
end

---@param asking agentls.Asking
local function finish(asking)
  local list = {}
  for _, option in ipairs(asking.item.options or {}) do
    if asking.begun.chosen[asking.number][option.label] then list[#list + 1] = option.label end
  end
  list[#list + 1] = asking.begun.own[asking.number]
  if #list > 0 then asking.done(list) end
end

---@param asking agentls.Asking
local function own_words(asking)
  vim.ui.input({ prompt = 'Your answer: ', default = asking.begun.own[asking.number] }, function(words)
    if not words or vim.trim(words) == '' then return end
    asking.begun.own[asking.number] = words
    if not asking.item.multiple then return asking.done({ words }) end
    asking.write()
  end)
end

--- The keys of one question.
---@param asking agentls.Asking
---@param first integer line of the first option
local function keys(asking, first)
  local item, dialog = asking.item, asking.dialog
  local function under_cursor() return (item.options or {})[vim.api.nvim_win_get_cursor(dialog.win)[1] - first + 1] end
  for index = 1, 9 do
    dialog:map({ tostring(index) }, function() pick(asking, (item.options or {})[index]) end)
  end
  dialog:map({ '<Space>' }, function() pick(asking, under_cursor()) end)
  dialog:map({ '<CR>' }, function()
    if item.multiple then
      finish(asking)
    else
      pick(asking, under_cursor())
    end
  end)
  dialog:map({ 'i' }, function()
    if item.custom ~= false then own_words(asking) end
  end)
end

---@param ask table
---@param place {index: integer, count: integer, wanted: boolean}
---@param answer fun(method: string, params: table)
---@return agentls.Dialog
function M.open(ask, place, answer)
  local state = begun[ask.questionId] or { answers = {}, chosen = {}, own = {}, number = 1 }
  begun[ask.questionId] = state
  local dialog ---@type agentls.Dialog?
  local function show(number)
    local item = ask.questions[number]
    state.number, state.chosen[number] = number, state.chosen[number] or {}
    local asking = { item = item, number = number, begun = state } ---@type agentls.Asking
    local foot = #ask.questions > 1 and ('question %d of %d'):format(number, #ask.questions)
      or place.count > 1 and ('%d of %d'):format(place.index, place.count)
      or nil
    local function sheet()
      return M.sheet(item, 'Question · ' .. item.header, foot, state.chosen[number], state.own[number])
    end
    local page, first = sheet()
    if dialog then
      dialog:write(page)
    else
      dialog = Dialog.open(page, place.wanted)
    end
    asking.dialog = dialog
    function asking.write() dialog:write((sheet())) end
    function asking.done(list)
      state.answers[number] = list
      if number < #ask.questions then return show(number + 1) end
      answer(protocol.request.question_reply, { questionId = ask.questionId, answers = state.answers })
    end
    keys(asking, first)
    vim.api.nvim_win_set_cursor(dialog.win, { math.min(first, #page.lines), 0 })
  end
  show(state.number)
  dialog:map({ 'x' }, function() answer(protocol.request.question_reject, { questionId = ask.questionId }) end)
  return dialog
end

return M
