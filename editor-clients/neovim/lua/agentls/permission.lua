--- The dialog of a permission: what is to be done, and the answers with what each of them stores.
local Dialog = require('agentls.dialog')
local markdown = require('agentls.markdown')
local protocol = require('agentls.protocol')
local tell = require('agentls.notice')
local view = require('agentls.view')

local M = {}

local DIFF = 200 -- lines of a diff that the dialog shows

local function option(ask, kind)
  for _, one in ipairs(ask.options) do
    if one.kind == kind then return one end
  end
end

local function deed(sheet, ask)
  local meta = ask.metadata
  if meta.command then
    for index, line in ipairs(view.lines(meta.command)) do
      sheet.add((index == 1 and '  $ ' or '    ') .. line)
    end
    if meta.cwd then sheet.add('    in ' .. vim.fn.fnamemodify(meta.cwd, ':~'), 'AgentlsQuiet') end
  end
  if meta.url then sheet.add('  ' .. meta.url, 'AgentlsLink') end
  for _, file in ipairs(meta.files or {}) do
    local name = vim.fn.fnamemodify(vim.uri_to_fname(file.uri), ':~:.')
    if not vim.endswith(ask.title, ' ' .. name) then sheet.add('  ' .. name, 'AgentlsFile') end
    local lines = view.lines((view.patch(file.patch):gsub('\n+$', '')))
    local shown = vim.list_slice(lines, 1, DIFF)
    local base = #sheet.lines
    for _, line in ipairs(shown) do
      sheet.add('  ' .. line)
    end
    for _, mark in ipairs(markdown.diff(shown)) do
      table.insert(sheet.marks, { line = base + mark.line, from = 2, to = 2 + mark.to, group = mark.group })
    end
    if #lines > DIFF then sheet.add(('  … %d more lines'):format(#lines - DIFF), 'AgentlsQuiet') end
  end
end

---@param ask table
---@param place {index: integer, count: integer}
---@param chosen table<string, boolean> patterns that an "always" is to store
---@return agentls.Sheet
function M.sheet(ask, place, chosen)
  local count = place.count > 1 and ('%d of %d'):format(place.index, place.count) or nil
  local sheet = Dialog.sheet('Permission · ' .. ask.permission, count)
  sheet.add('')
  local said = ask.title == ask.metadata.command
  if not said then sheet.add(' ' .. ask.title, 'AgentlsBold') end
  if ask.description then sheet.add(' ' .. ask.description, 'AgentlsQuiet') end
  if not said or ask.description then sheet.add('') end
  deed(sheet, ask)
  sheet.add('')
  sheet.key('o', 'once')
  local always = option(ask, 'always')
  if always then
    local patterns = always.patterns or {}
    local many = #patterns > 1
    sheet.key('a', 'always, in this session')
    if vim.tbl_contains(always.scope or {}, 'project') then sheet.key('p', 'always, in this project') end
    sheet.add(many and '     stores (a number leaves one out or takes it in):' or '     stores:', 'AgentlsQuiet')
    for index, pattern in ipairs(patterns) do
      local rule = ('allow %s: %s'):format(ask.permission, pattern)
      if many then
        sheet.key(('   %d'):format(index), (chosen[pattern] and '[x] ' or '[ ] ') .. rule)
      else
        sheet.add('       ' .. rule, 'AgentlsCode')
      end
    end
  end
  sheet.add('')
  sheet.key('r', 'reject', 'the turn stops')
  sheet.key('w', 'reject with words', 'the agent reads them and goes on')
  sheet.add('')
  sheet.key('q', 'later', place.count > 1 and '] next  [ previous' or nil)
  return sheet
end

---@param ask table
---@param place {index: integer, count: integer, wanted: boolean}
---@param answer fun(method: string, params: table)
---@return agentls.Dialog
function M.open(ask, place, answer)
  local chosen, always = {}, option(ask, 'always')
  local offered = always and always.patterns or {}
  for _, pattern in ipairs(offered) do
    chosen[pattern] = true
  end
  local dialog = Dialog.open(M.sheet(ask, place, chosen), place.wanted)
  local function reply(params)
    params.permissionId = ask.permissionId
    answer(protocol.request.permission_reply, params)
  end
  local function store(scope)
    local patterns = vim.tbl_filter(function(p) return chosen[p] end, offered)
    if #patterns == 0 then return tell('Nothing is chosen that an "always" could store.', vim.log.levels.WARN) end
    reply({ reply = 'always', scope = scope, patterns = patterns })
  end
  dialog:map({ 'o' }, function() reply({ reply = 'once' }) end)
  if always then
    dialog:map({ 'a' }, function() store('session') end)
    if vim.tbl_contains(always.scope or {}, 'project') then dialog:map({ 'p' }, function() store('project') end) end
    for index, pattern in ipairs(#offered > 1 and offered or {}) do
      dialog:map({ tostring(index) }, function()
        chosen[pattern] = not chosen[pattern]
        dialog:write(M.sheet(ask, place, chosen))
      end)
    end
  end
  dialog:map({ 'r' }, function() reply({ reply = 'reject' }) end)
  dialog:map({ 'w' }, function()
    vim.ui.input({ prompt = 'What should the agent do instead? ' }, function(words)
      if words and vim.trim(words) ~= '' then reply({ reply = 'reject', message = words }) end
    end)
  end)
  return dialog
end

return M
