--- agentls for Neovim: `require('agentls').setup{}`.
local M = {}

---@class agentls.Options
---@field cmd? string|string[] the server's command; found by itself if absent
---@field root? string|fun(): string the folder to work for
---@field env? table<string, string> for the server
---@field trusted? boolean|fun(root: string): boolean whether the folder's settings may run programs; asked if absent
---@field settings? table over those of the files
---@field autostart? boolean start the server with setup instead of at the first command
---@field backoff? integer[] milliseconds to wait before the server is started again, one for each time in a row
---@field keys? table<string, table<string, string>> of the prompt: send, queue, abort, each by mode

M.options = {} ---@type agentls.Options

local done = false

---@return boolean
local function belongs(buf)
  local name = vim.api.nvim_buf_get_name(buf)
  return vim.bo[buf].buftype == '' and vim.startswith(name, require('agentls.server').root() .. '/')
end

local function watch()
  local group = vim.api.nvim_create_augroup('agentls', {})
  local asks, prompt, server = require('agentls.asks'), require('agentls.prompt'), require('agentls.server')
  vim.api.nvim_create_autocmd(
    { 'WinEnter', 'ModeChanged' },
    { group = group, callback = vim.schedule_wrap(asks.refresh) }
  )
  vim.api.nvim_create_autocmd('BufEnter', {
    group = group,
    callback = function(event)
      if vim.bo[event.buf].buftype ~= '' or event.file == '' then return end
      prompt.last_code = event.buf
      if server.client and belongs(event.buf) then vim.lsp.buf_attach_client(event.buf, server.client.id) end
    end,
  })
  vim.api.nvim_create_autocmd('WinResized', {
    group = group,
    callback = vim.schedule_wrap(function()
      for _, chat in ipairs(require('agentls.agent').chats) do
        chat:bar()
      end
    end),
  })
  vim.api.nvim_create_autocmd('VimResized', {
    group = group,
    callback = function()
      local chat = require('agentls.agent').current
      if chat then chat:share_width() end
    end,
  })
  vim.api.nvim_create_autocmd('ColorScheme', { group = group, callback = require('agentls.markdown').groups })
end

--- Attaches the buffers that are open already.
function M.attach_buffers()
  local server = require('agentls.server')
  for _, buf in ipairs(vim.api.nvim_list_bufs()) do
    if server.client and vim.api.nvim_buf_is_loaded(buf) and belongs(buf) then
      vim.lsp.buf_attach_client(buf, server.client.id)
    end
  end
end

--- Reads the options and gets ready. Without it, the first command does so with none.
---@param options? agentls.Options
function M.setup(options)
  M.options = options or {}
  for name, keys in pairs(M.options.keys or {}) do
    require('agentls.prompt').keys[name] = keys
  end
  require('agentls.markdown').groups()
  require('agentls.agent').init(M.options, M.attach_buffers)
  watch()
  done = true
  if M.options.autostart then require('agentls.server').ready(function() end) end
end

--- What the agent does, for a status line: empty, `working`, `waiting`, `retry`, `compacting` or `down`.
---@return string
function M.status()
  local chat = done and require('agentls.agent').current
  if not (chat and chat.copy) then return '' end
  if require('agentls.server').state ~= 'up' then return 'down' end
  local kind = chat.copy.status.type
  return kind == 'idle' and '' or kind == 'busy' and 'working' or kind
end

--- Runs a command of ours.
---@param name string a function of `agentls.commands`
---@param opts? table as a user command gets it
function M.run(name, opts)
  if vim.fn.has('nvim-0.10') == 0 then
    return vim.notify('agentls needs Neovim 0.10 or newer.', vim.log.levels.ERROR)
  end
  if not done then M.setup() end
  return require('agentls.commands')[name](vim.tbl_extend('keep', opts or {}, { args = '', bang = false, range = 0 }))
end

return M
