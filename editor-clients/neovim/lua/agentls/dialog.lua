--- A float with text and keys.
local api = vim.api
local NS = api.nvim_create_namespace('agentls.dialog')
local GRACE = 400 -- milliseconds in which keys that were meant for something else are passed over

---@class agentls.Dialog
---@field win integer
---@field buf integer
---@field private ready boolean whether keys answer yet
local Dialog = {}
Dialog.__index = Dialog

---@class agentls.Sheet
---@field title string
---@field lines string[]
---@field marks agentls.Mark[]
---@field foot? string

--- The lines that it takes when wrapped.
local function height_of(lines, width)
  local rows = 0
  for _, line in ipairs(lines) do
    rows = rows + math.max(1, math.ceil(vim.fn.strdisplaywidth(line) / width))
  end
  return rows
end

local function place(sheet)
  local widest = vim.fn.strdisplaywidth(sheet.title) + 4
  for _, line in ipairs(sheet.lines) do
    widest = math.max(widest, vim.fn.strdisplaywidth(line) + 1)
  end
  local width = math.min(math.max(widest, 56), math.min(100, vim.o.columns - 4))
  local height = math.min(height_of(sheet.lines, width), math.max(vim.o.lines - 6, 3))
  return {
    relative = 'editor',
    width = width,
    height = height,
    style = 'minimal',
    border = 'rounded',
    zindex = 60,
    row = math.max(math.floor((vim.o.lines - height) / 2) - 2, 0),
    col = math.floor((vim.o.columns - width) / 2),
    title = ' ' .. sheet.title .. ' ',
    title_pos = 'left',
    footer = sheet.foot and ' ' .. sheet.foot .. ' ' or nil,
    footer_pos = sheet.foot and 'right' or nil,
  }
end

---@param sheet agentls.Sheet
---@param wanted boolean the user asked for it, so keys are meant for it from the start
---@return agentls.Dialog
function Dialog.open(sheet, wanted)
  local buf = api.nvim_create_buf(false, true)
  vim.bo[buf].bufhidden = 'wipe'
  vim.bo[buf].filetype = 'agentls-dialog'
  local win = api.nvim_open_win(buf, true, place(sheet))
  local self = setmetatable({ win = win, buf = buf, ready = false }, Dialog)
  vim.wo[win].wrap = true
  vim.wo[win].linebreak = true
  vim.wo[win].breakindent = true
  vim.wo[win].breakindentopt = 'shift:2'
  vim.wo[win].winhighlight =
    'NormalFloat:NormalFloat,FloatBorder:AgentlsWait,FloatTitle:AgentlsWait,FloatFooter:AgentlsQuiet'
  self:write(sheet)
  vim.defer_fn(function()
    self.ready = true
    if self:valid() then vim.w[win].agentls_takes_keys = true end
  end, wanted and 0 or GRACE)
  return self
end

---@param sheet agentls.Sheet
function Dialog:write(sheet)
  if not api.nvim_buf_is_valid(self.buf) then return end
  vim.bo[self.buf].modifiable = true
  api.nvim_buf_set_lines(self.buf, 0, -1, false, sheet.lines)
  vim.bo[self.buf].modifiable = false
  api.nvim_buf_clear_namespace(self.buf, NS, 0, -1)
  for _, mark in ipairs(sheet.marks) do
    api.nvim_buf_set_extmark(
      self.buf,
      NS,
      mark.line,
      mark.from,
      { end_col = mark.to, hl_group = mark.group, strict = false }
    )
  end
  if api.nvim_win_is_valid(self.win) then api.nvim_win_set_config(self.win, place(sheet)) end
end

--- A key that answers. Those typed in the first moment are not meant for the dialog.
---@param keys string[]
---@param does fun()
---@param at_once? boolean
function Dialog:map(keys, does, at_once)
  for _, key in ipairs(keys) do
    vim.keymap.set('n', key, function()
      if at_once or self.ready then does() end
    end, { buffer = self.buf, nowait = true })
  end
end

---@return boolean
function Dialog:valid() return api.nvim_win_is_valid(self.win) end

function Dialog:close()
  if self:valid() then api.nvim_win_close(self.win, true) end
end

--- Builds a sheet line by line.
---@param title string
---@param foot? string
function Dialog.sheet(title, foot)
  local sheet = { title = title:gsub('[%s%z]+', ' '), foot = foot, lines = {}, marks = {} }
  ---@param line string
  ---@param group? string for the whole line
  function sheet.add(line, group)
    local pieces = vim.split(line:gsub('%z', ''), '\n', { plain = true })
    for _, piece in ipairs(pieces) do
      sheet.lines[#sheet.lines + 1] = piece
      if group then
        sheet.marks[#sheet.marks + 1] = { line = #sheet.lines - 1, from = 0, to = #piece, group = group }
      end
    end
  end
  --- A key and what it does.
  function sheet.key(key, text, quiet)
    quiet = quiet and quiet:gsub('[\n%z]', ' ')
    local line = ('  %s  %s%s'):format(key, text:gsub('[\n%z]', ' '), quiet and '  ' .. quiet or '')
    sheet.add(line)
    local at = #sheet.lines - 1
    sheet.marks[#sheet.marks + 1] = { line = at, from = 2, to = 2 + #key, group = 'AgentlsKey' }
    if quiet then
      sheet.marks[#sheet.marks + 1] = { line = at, from = #line - #quiet, to = #line, group = 'AgentlsQuiet' }
    end
  end
  return sheet
end

return Dialog
