--- What was typed and not sent yet, kept over the end of Neovim: a file for each project.
local tell = require('agentls.notice')

local M = {}

local OLD = 90 * 24 * 3600 -- seconds after which a draft is forgotten
local DELAY = 500 -- milliseconds from a key to the writing of a draft, with all that was typed meanwhile

---@class agentls.Draft
---@field text string
---@field at integer seconds

local told = false
local due = {} ---@type table<agentls.Chat, true>

---@param root string
local function path(root)
  return ('%s/agentls/drafts/%s.json'):format(vim.fn.stdpath('state'), vim.fn.sha256(root):sub(1, 16))
end

---@return table<string, agentls.Draft>
local function load(root)
  local file = io.open(path(root), 'r')
  local text = file and file:read('*a')
  if file then file:close() end
  local ok, drafts = pcall(vim.json.decode, text or '{}')
  return ok and type(drafts) == 'table' and drafts or {}
end

--- Said once: it would come with each key.
local function lost(problem)
  if told then return end
  told = true
  tell(('What you type is not kept over the end of Neovim: %s'):format(problem or 'the disk is full'), vim.log.levels.WARN)
end

--- Only the user may read it.
local function write(file, text)
  pcall(vim.fn.mkdir, vim.fs.dirname(file), 'p', 448) -- where it fails, opening says why
  local new = ('%s.%d'):format(file, vim.uv.os_getpid())
  local fd, problem = vim.uv.fs_open(new, 'w', 384)
  if not fd then return lost(problem) end
  local written, full = vim.uv.fs_write(fd, text)
  vim.uv.fs_close(fd)
  if written == #text then return vim.uv.fs_rename(new, file) end
  vim.uv.fs_unlink(new)
  lost(full)
end

---@param root string
---@param key string
---@param text string
local function put(root, key, text)
  local drafts = load(root)
  if text == (drafts[key] and drafts[key].text or '') then return end
  drafts[key] = text ~= '' and { text = text, at = os.time() } or nil
  for name, draft in pairs(drafts) do
    if os.time() - (draft.at or 0) > OLD then drafts[name] = nil end
  end
  if next(drafts) then
    write(path(root), vim.json.encode(drafts))
  else
    vim.uv.fs_unlink(path(root))
  end
end

--- What is not sent: also what is on its way.
local function unsent(chat)
  local pieces = vim.tbl_map(function(entry) return entry.text end, chat.outbox)
  if vim.api.nvim_buf_is_valid(chat.prompt) then
    pieces[#pieces + 1] = table.concat(vim.api.nvim_buf_get_lines(chat.prompt, 0, -1, false), '\n')
  end
  return vim.trim(table.concat(pieces, '\n'))
end

--- A chat that has no session yet shares its draft with the same one of the next Neovim.
local function key(chat) return chat.id or ('new %d'):format(chat.number) end

--- Writes a chat's draft now. What was kept before the chat had a session is the session's from now on.
---@param chat agentls.Chat
function M.keep(chat)
  due[chat] = nil
  local root = chat.agent.root()
  if chat.draft and chat.draft ~= key(chat) then put(root, chat.draft, '') end
  chat.draft = key(chat)
  put(root, chat.draft, unsent(chat))
end

--- Writes it in a moment.
---@param chat agentls.Chat
function M.keep_soon(chat)
  if due[chat] then return end
  due[chat] = true
  vim.defer_fn(function()
    if due[chat] then M.keep(chat) end
  end, DELAY)
end

--- Writes what was not written yet; Neovim ends.
---@param chats agentls.Chat[]
function M.keep_all(chats)
  for _, chat in ipairs(chats) do
    if due[chat] or #chat.outbox > 0 then M.keep(chat) end
  end
end

--- The draft of an earlier Neovim.
---@param chat agentls.Chat
---@return string
function M.of(chat)
  local draft = load(chat.agent.root())[key(chat)]
  chat.draft = key(chat)
  return draft and draft.text or ''
end

return M
