--- The prompt buffer: completion after `@`, sending, and what the words with `@` stand for.
local buffers = require('agentls.buffers')
local drafts = require('agentls.drafts')
local positions = require('agentls.positions')

local api = vim.api
local tell = require('agentls.notice')
local M = {}

M.keys = {
  send = { n = '<CR>', i = '<C-s>' },
  queue = { n = '<C-q>', i = '<C-q>' },
  abort = { n = '<C-c>', i = '<C-c>' },
}

local SPECIAL = {
  { word = '@selection', menu = 'the selected lines' },
  { word = '@diagnostics', menu = 'the diagnostics of the file' },
}

-- What is attached ----------------------------------------------------------------------------------------------------

--- A range of whole lines, as LSP has it.
---@param buf integer
---@param first integer 1-based
---@param last integer
---@return table part
function M.selection(buf, first, last)
  return {
    type = 'selection',
    uri = vim.uri_from_bufnr(buf),
    range = positions.lines(first, last),
    text = table.concat(api.nvim_buf_get_lines(buf, first - 1, last, false), '\n'),
    version = buffers.version(buf),
  }
end

local function marked(buf)
  local first, last = api.nvim_buf_get_mark(buf, '<')[1], api.nvim_buf_get_mark(buf, '>')[1]
  if first > 0 and last >= first then return M.selection(buf, first, last) end
end

local function diagnostics(buf)
  local items = vim.tbl_map(positions.diagnostic, vim.diagnostic.get(buf))
  return { type = 'diagnostics', uri = vim.uri_from_bufnr(buf), items = items }
end

--- The parts of a prompt: its text, and what its words with `@` name.
---@param text string
---@param root string
---@return table[] parts
---@return string? problem
function M.parts(text, root)
  local parts, seen, problem = { { type = 'text', text = text } }, {}, nil
  for word in (' ' .. text):gmatch('%s@(%S+)') do
    local buf = buffers.code()
    local name = word:gsub('[,;:.!?)]+$', '')
    local part
    if seen[name] then
      part = nil
    elseif name == 'selection' then
      part = buf and marked(buf)
      problem = not part and 'Nothing is selected for @selection.' or problem
    elseif name == 'diagnostics' then
      part = buf and diagnostics(buf)
      problem = not part and 'There is no file for @diagnostics.' or problem
    else
      for _, path in ipairs({ word, name }) do
        local full = vim.startswith(path, '/') and path or vim.fs.joinpath(root, path)
        if not part and path ~= '' and vim.uv.fs_stat(full) then part = { type = 'file', uri = vim.uri_from_fname(full) } end
      end
    end
    seen[name] = true
    parts[#parts + 1] = part
  end
  return parts, problem
end

-- Text ----------------------------------------------------------------------------------------------------------------

---@param chat agentls.Chat
---@return string
function M.text(chat) return vim.trim(table.concat(api.nvim_buf_get_lines(chat.prompt, 0, -1, false), '\n')) end

---@param chat agentls.Chat
---@param text string
function M.set(chat, text)
  api.nvim_buf_set_lines(chat.prompt, 0, -1, false, vim.split(text, '\n', { plain = true }))
  drafts.keep_soon(chat)
end

--- What an earlier Neovim left unsent.
---@param chat agentls.Chat
function M.restore(chat)
  local text = drafts.of(chat)
  if text ~= '' then M.set(chat, text) end
end

--- Gives back what could not be sent, above what was typed meanwhile.
---@param chat agentls.Chat
---@param text string
function M.give_back(chat, text)
  local typed = M.text(chat)
  M.set(chat, typed == '' and text or text .. '\n' .. typed)
end

---@param chat agentls.Chat
---@param delivery 'steer'|'queue'
function M.send(chat, delivery)
  local text = M.text(chat)
  if text == '' then return end
  local parts, problem = M.parts(text, chat.agent.root())
  if problem then return tell(problem, vim.log.levels.WARN) end
  if vim.fn.pumvisible() == 1 then api.nvim_select_popupmenu_item(-1, false, true, {}) end
  M.set(chat, '')
  chat.agent.send(chat, { text = text, parts = parts, delivery = delivery })
end

-- Completion ----------------------------------------------------------------------------------------------------------

local function word_before()
  local line, col = api.nvim_get_current_line(), api.nvim_win_get_cursor(0)[2]
  local start, word = line:sub(1, col):match('()@(%S*)$')
  if start and (start == 1 or line:sub(start - 1, start - 1):find('%s')) then return start, word end
end

--- Offers files for the word with `@` before the cursor.
---@param chat agentls.Chat
function M.complete(chat)
  local start, word = word_before()
  if not start or word == M.completed then return end
  chat.agent.find(word, function(files)
    local now_start, now_word = word_before()
    if
      api.nvim_get_mode().mode:sub(1, 1) ~= 'i'
      or api.nvim_get_current_buf() ~= chat.prompt
      or now_start ~= start
      or now_word ~= word
    then
      return
    end
    local items = vim.tbl_filter(function(one) return vim.startswith(one.word, '@' .. word) end, SPECIAL)
    for _, file in ipairs(files) do
      items[#items + 1] = { word = '@' .. file.name, equal = 1 }
    end
    if #items > 0 then vim.fn.complete(start, items) end
  end)
end

---@param chat agentls.Chat
function M.attach(chat)
  local buf = chat.prompt
  if vim.fn.has('nvim-0.11') == 1 then vim.bo[buf].completeopt = 'menuone,noinsert,noselect' end
  local function map(keys, does, what)
    for mode, key in pairs(keys) do
      if key and key ~= '' then vim.keymap.set(mode, key, does, { buffer = buf, desc = 'agentls: ' .. what }) end
    end
  end
  map(M.keys.send, function() M.send(chat, 'steer') end, 'send, steers while the agent works')
  map(M.keys.queue, function() M.send(chat, 'queue') end, 'send after the turn')
  map(M.keys.abort, function() chat.agent.abort(chat) end, 'stop')
  api.nvim_create_autocmd('TextChangedI', { buffer = buf, callback = function() M.complete(chat) end })
  api.nvim_create_autocmd(
    { 'TextChanged', 'TextChangedI', 'TextChangedP' },
    { buffer = buf, callback = function() drafts.keep_soon(chat) end }
  )
  api.nvim_create_autocmd('CompleteDone', {
    buffer = buf,
    callback = function()
      local item = vim.v.completed_item
      M.completed = type(item) == 'table' and item.word and item.word:sub(2) or nil
    end,
  })
end

return M
