--- Draws a session's blocks into a buffer: only what changed, and text that grows only by what is new.
local Store = require('agentls.store')
local markdown = require('agentls.markdown')
local view = require('agentls.view')

local api = vim.api
local NS = api.nvim_create_namespace('agentls')
local SLICE = 8192 -- bytes of growing text that are drawn at a time
local BUDGET = 8e6 -- nanoseconds of one drawing; what is left comes with the next

---@class agentls.Drawn
---@field key string
---@field pad boolean an empty line above
---@field make fun(): agentls.Block
---@field count integer lines in the buffer; 0: not drawn yet
---@field state? agentls.MarkdownState before the last line of growing text
---@field asked? table
---@field folds? boolean

---@class agentls.Canvas
---@field buf integer
---@field width integer of the window, for what is to stand on one line
---@field private drawn agentls.Drawn[]
---@field private dirty table<string, true>
---@field private appended table<string, string[]>
---@field private opened table<string, boolean>
---@field private shape boolean
---@field private asks boolean
local Canvas = {}
Canvas.__index = Canvas

---@param buf integer
---@return agentls.Canvas
function Canvas.new(buf)
  return setmetatable(
    { buf = buf, drawn = {}, dirty = {}, appended = {}, opened = {}, shape = true, asks = false, width = 80 },
    Canvas
  )
end

--- Remembers what is to be drawn.
---@param change agentls.Change
---@return boolean whether there is something to draw
function Canvas:note(change)
  local kind = change.kind
  if kind == 'all' then
    self.drawn_anew, self.shape = true, true
  elseif kind == 'shape' then
    self.shape = true
    if change.id then self.dirty[change.id] = true end
  elseif kind == 'append' then
    if change.field == 'raw' then return false end
    if change.field == 'output' then
      self.dirty[change.id] = true
    else
      local pieces = self.appended[change.id] or {}
      pieces[#pieces + 1] = change.delta
      self.appended[change.id] = pieces
    end
  elseif kind == 'part' then
    if change.same then return false end
    self.dirty[change.id] = true
  elseif kind == 'tail' or kind == 'status' then
    self.dirty.tail = true
  elseif kind == 'pending' then
    self.asks = true
  else
    return false
  end
  return true
end

-- Layout --------------------------------------------------------------------------------------------------------------

---@return agentls.Drawn[]
function Canvas:layout(copy)
  local list, speaker, rows = {}, nil, nil
  local parts_of = Store.parts_of(copy)
  for _, message in ipairs(Store.messages_of(copy)) do
    local name = message.role == 'user' and message.id or message.agent
    local parts = parts_of[message.id] or {}
    if name ~= speaker and (#parts > 0 or message.role == 'assistant') then
      list[#list + 1] =
        { key = 'head:' .. message.id, pad = false, count = 0, make = function() return view.header(message) end }
      speaker, rows = name, nil
    end
    for _, part in ipairs(parts) do
      local id = part.id
      local make = function() return view.part(copy.parts[id], self.opened[id] or false, self.waits[id], self.width) end
      if view.shows(part) then
        local row = part.type ~= 'text'
        list[#list + 1] = { key = id, pad = rows ~= nil and row ~= rows, count = 0, make = make }
        rows = row
      end
    end
  end
  list[#list + 1] = { key = 'tail', pad = false, count = 0, make = function() return view.tail(copy) end }
  return list
end

--- Keeps what stands already as far as it agrees, and draws the rest anew.
function Canvas:reshape(copy)
  local wanted = self:layout(copy)
  local same = 0
  while
    not self.drawn_anew
    and self.drawn[same + 1]
    and wanted[same + 1]
    and self.drawn[same + 1].key == wanted[same + 1].key
    and self.drawn[same + 1].pad == wanted[same + 1].pad
  do
    same = same + 1
  end
  local first = 0
  for index = 1, same do
    first = first + self.drawn[index].count
    wanted[index].count, wanted[index].state = self.drawn[index].count, self.drawn[index].state
    wanted[index].asked, wanted[index].folds = self.drawn[index].asked, self.drawn[index].folds
  end
  self:put(first, api.nvim_buf_line_count(self.buf), {})
  for index = same + 1, #wanted do
    self.dirty[wanted[index].key] = true
  end
  self.drawn, self.shape, self.drawn_anew = wanted, false, false
end

-- Drawing -------------------------------------------------------------------------------------------------------------

function Canvas:put(from, to, lines) api.nvim_buf_set_lines(self.buf, from, to, false, lines) end

function Canvas:paint(first, marks)
  for _, mark in ipairs(marks) do
    if mark.to > mark.from then
      api.nvim_buf_set_extmark(
        self.buf,
        NS,
        first + mark.line,
        mark.from,
        { end_col = mark.to, hl_group = mark.group, conceal = mark.hide and '' or nil, strict = false }
      )
    end
  end
end

--- Marks of growing text. `state` is left as it is before the last line, which may still grow.
local function growing_marks(lines, state)
  local whole = vim.list_slice(lines, 1, #lines - 1)
  local marks = markdown.marks(whole, state)
  for _, mark in ipairs(markdown.marks({ lines[#lines] }, { fence = state.fence })) do
    mark.line = #lines - 1
    marks[#marks + 1] = mark
  end
  return marks
end

--- Takes a slice off a text, at the end of a line if there is one.
---@param text string
---@return string slice
---@return string? rest
local function slice(text)
  if #text <= SLICE then return text end
  local at = SLICE
  while at > SLICE / 2 and text:byte(at) ~= 10 do
    at = at - 1
  end
  if text:byte(at) ~= 10 then at = SLICE + vim.str_utf_end(text, SLICE) end
  return text:sub(1, at), text:sub(at + 1)
end

---@param first integer
---@param drawn agentls.Drawn
function Canvas:draw(first, drawn)
  local block = drawn.make()
  local lines, marks = block.lines, block.marks
  self.appended[drawn.key] = nil
  if block.text then
    local text, rest = slice(block.text)
    lines, drawn.state = view.lines(text), {}
    marks = growing_marks(lines, drawn.state)
    self.appended[drawn.key] = rest and { rest } or nil
  end
  local pad = drawn.pad and 1 or 0
  if drawn.pad then lines = vim.list_extend({ '' }, lines) end
  -- The buffer's own last line cannot be taken away: what stands there when nothing was drawn yet is replaced.
  self:put(first, first + drawn.count, lines)
  api.nvim_buf_clear_namespace(self.buf, NS, first, first + #lines)
  self:paint(first + pad, marks)
  drawn.count, drawn.asked, drawn.folds = #lines, self.waits[drawn.key], block.folds
end

function Canvas:append(first, drawn)
  local text, rest = slice(table.concat(self.appended[drawn.key]))
  self.appended[drawn.key] = rest and { rest } or nil
  local row = first + drawn.count - 1
  local last = api.nvim_buf_get_lines(self.buf, row, row + 1, false)[1] or ''
  local lines = view.lines(text)
  lines[1] = last .. lines[1]
  self:put(row, row + 1, lines)
  api.nvim_buf_clear_namespace(self.buf, NS, row, row + #lines)
  self:paint(row, growing_marks(lines, drawn.state))
  drawn.count = drawn.count + #lines - 1
end

--- Draws what was noted, for as long as a drawing may take.
---@param copy agentls.Copy
---@return boolean more whether something is left to draw
function Canvas:flush(copy)
  local began, late = vim.uv.hrtime(), false
  self.waits = {}
  for _, one in pairs(copy.pending) do
    if one.partId then self.waits[one.partId] = one end
  end
  vim.bo[self.buf].modifiable = true
  if self.shape then self:reshape(copy) end
  local first = 0
  for _, drawn in ipairs(self.drawn) do
    local key = drawn.key
    local stale = self.dirty[key]
      or (self.asks and drawn.asked ~= self.waits[key])
      or (self.appended[key] and not drawn.state)
    if stale and late then
      self.dirty[key] = true
    elseif stale then
      self:draw(first, drawn)
      self.dirty[key] = nil
    end
    while self.appended[key] and drawn.state and not late do
      self:append(first, drawn)
      late = vim.uv.hrtime() - began > BUDGET
    end
    late = late or vim.uv.hrtime() - began > BUDGET
    first = first + drawn.count
  end
  self:put(first, -1, {})
  vim.bo[self.buf].modifiable = false
  self.asks = false
  if not late then
    self.dirty, self.appended = {}, {}
  end
  return late and (next(self.dirty) or next(self.appended)) ~= nil
end

-- Opening and closing -------------------------------------------------------------------------------------------------

--- The block of a line.
---@param line integer 1-based
---@return agentls.Drawn?
function Canvas:at(line)
  local first = 0
  for _, drawn in ipairs(self.drawn) do
    first = first + drawn.count
    if line <= first then return drawn end
  end
end

---@param line integer 1-based
---@return boolean
function Canvas:toggle(line)
  local drawn = self:at(line)
  if not (drawn and drawn.folds) then return false end
  self.opened[drawn.key] = not self.opened[drawn.key]
  self.dirty[drawn.key] = true
  return true
end

---@param open boolean
function Canvas:toggle_all(open)
  for _, drawn in ipairs(self.drawn) do
    if drawn.folds then
      self.opened[drawn.key] = open
      self.dirty[drawn.key] = true
    end
  end
end

--- The line on which the next or previous header stands.
---@param line integer 1-based
---@param step 1|-1
---@return integer?
function Canvas:header(line, step)
  local first, found = 1, nil
  for _, drawn in ipairs(self.drawn) do
    local at = first + 1
    if vim.startswith(drawn.key, 'head:') then
      if step > 0 and at > line then return at end
      if step < 0 and at < line then found = at end
    end
    first = first + drawn.count
  end
  return found
end

return Canvas
