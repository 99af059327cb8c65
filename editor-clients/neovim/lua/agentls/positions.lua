--- Places in a text: Neovim counts bytes, the protocol UTF-16 units.
local api = vim.api
local M = {}

--- The UTF-16 column of a byte column.
---@param line string
---@param byte integer 0-based
---@return integer
local function units(line, byte)
  byte = math.max(math.min(byte, #line), 0)
  if vim.fn.has('nvim-0.11') == 1 then return vim.str_utfindex(line, 'utf-16', byte, false) end
  local _, index = vim.str_utfindex(line, byte)
  return index
end

---@param buf integer
---@param row integer 0-based
---@param byte integer 0-based
---@return {line: integer, character: integer}
function M.position(buf, row, byte)
  local line = api.nvim_buf_is_loaded(buf) and api.nvim_buf_get_lines(buf, row, row + 1, false)[1]
  return { line = row, character = line and units(line, byte) or byte }
end

---@param one vim.Diagnostic
---@return table item as LSP has it
function M.diagnostic(one)
  local item = {
    message = one.message,
    severity = one.severity,
    source = one.source,
    code = one.code,
    range = {
      start = M.position(one.bufnr, one.lnum, one.col),
      ['end'] = M.position(one.bufnr, one.end_lnum or one.lnum, one.end_col or one.col),
    },
  }
  local tags = vim.tbl_get(one, 'user_data', 'lsp', 'tags')
  item.tags = type(tags) == 'table' and tags or nil
  return item
end

--- Whole lines, as a range that ends where the next one begins.
---@param first integer 1-based
---@param last integer
function M.lines(first, last)
  return { start = { line = first - 1, character = 0 }, ['end'] = { line = last, character = 0 } }
end

---@return integer? win that shows the buffer, the current one first
local function window(buf)
  if api.nvim_get_current_buf() == buf then return api.nvim_get_current_win() end
  return vim.fn.win_findbuf(buf)[1]
end

--- What is selected in a buffer, in whole lines: now, or when the user left it and has not moved the cursor since.
---@param buf integer
---@return table? range
function M.selected(buf)
  local win = window(buf)
  if not win then return nil end
  local cursor = api.nvim_win_get_cursor(win)
  if api.nvim_get_current_win() == win and api.nvim_get_mode().mode:find('^[vV\22]') then
    local other = vim.fn.getpos('v')[2]
    return M.lines(math.min(cursor[1], other), math.max(cursor[1], other))
  end
  local first, last = api.nvim_buf_get_mark(buf, '<'), api.nvim_buf_get_mark(buf, '>')
  if first[1] == 0 or (cursor[1] ~= first[1] and cursor[1] ~= last[1]) then return nil end
  return M.lines(first[1], last[1])
end

return M
