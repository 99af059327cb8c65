--- The dialog of a question: choose one or several, or answer in own words. One question after another.
local Dialog = require('agentls.dialog')
local protocol = require('agentls.protocol')

local M = {}

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
    local label = option.label:gsub('\n', ' ')
    local box = item.multiple and (chosen[option.label] and '[x] ' or '[ ] ') or ''
    sheet.key(tostring(index), box .. label, option.description and (option.description:gsub('\n', ' ')))
  end
  sheet.add('')
  if own then sheet.add('     own words: ' .. own, 'AgentlsCode') end
  if item.multiple then sheet.key('<CR>', 'done') end
  if item.custom ~= false then sheet.key('i', 'answer in own words') end
  sheet.key('x', 'dismiss', 'the turn stops')
  sheet.key('q', 'later')
  return sheet, first
end

---@param ask table
---@param place {index: integer, count: integer, wanted: boolean}
---@param does {answer: fun(method: string, params: table), later: fun(), step: fun(by: integer)}
---@return agentls.Dialog
function M.open(ask, place, does)
  local answers, dialog = {}, nil
  local function show(number)
    local item, chosen, own = ask.questions[number], {}, nil
    local title = 'Question · ' .. item.header
    local foot = #ask.questions > 1 and ('question %d of %d'):format(number, #ask.questions) or place.count > 1 and ('%d of %d'):format(place.index, place.count) or nil
    local function write() dialog:write((M.sheet(item, title, foot, chosen, own))) end
    local function done(list)
      answers[number] = list
      if number < #ask.questions then return show(number + 1) end
      does.answer(protocol.request.question_reply, { questionId = ask.questionId, answers = answers })
    end
    local function pick(option)
      if not option then return end
      if not item.multiple then return done({ option.label }) end
      chosen[option.label] = not chosen[option.label]
      write()
    end
    local sheet, first = M.sheet(item, title, foot, chosen, own)
    local function under_cursor() return item.options[vim.api.nvim_win_get_cursor(dialog.win)[1] - first + 1] end
    if dialog then
      for _, map in ipairs(vim.api.nvim_buf_get_keymap(dialog.buf, 'n')) do vim.keymap.del('n', map.lhs, { buffer = dialog.buf }) end
      dialog:write(sheet)
    else
      dialog = Dialog.open(sheet, place.wanted)
    end
    for index, option in ipairs(item.options or {}) do
      if index < 10 then dialog:map({ tostring(index) }, function() pick(option) end) end
    end
    vim.api.nvim_win_set_cursor(dialog.win, { math.min(first, #sheet.lines), 0 })
    dialog:map({ '<Space>' }, function() pick(under_cursor()) end)
    dialog:map({ '<CR>' }, function()
      if not item.multiple then return pick(under_cursor()) end
      local list = {}
      for _, option in ipairs(item.options) do if chosen[option.label] then list[#list + 1] = option.label end end
      if own then list[#list + 1] = own end
      if #list > 0 then done(list) end
    end)
    if item.custom ~= false then
      dialog:map({ 'i' }, function()
        vim.ui.input({ prompt = 'Your answer: ' }, function(words)
          if not words or vim.trim(words) == '' then return end
          if not item.multiple then return done({ words }) end
          own = words
          write()
        end)
      end)
    end
    dialog:map({ 'x' }, function() does.answer(protocol.request.question_reject, { questionId = ask.questionId }) end)
    dialog:map({ 'q', '<Esc>' }, does.later, true)
    dialog:map({ ']' }, function() does.step(1) end, true)
    dialog:map({ '[' }, function() does.step(-1) end, true)
  end
  show(1)
  return dialog
end

return M
