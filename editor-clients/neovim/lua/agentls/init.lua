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

local function watch()
  local group = vim.api.nvim_create_augroup('agentls', {})
  local asks, buffers, server = require('agentls.asks'), require('agentls.buffers'), require('agentls.server')
  buffers.watch(group, function() return server.client end, server.tell_text)
  vim.api.nvim_create_autocmd(
    { 'WinEnter', 'ModeChanged' },
    { group = group, callback = vim.schedule_wrap(asks.refresh) }
  )
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
  vim.api.nvim_create_autocmd('VimLeavePre', {
    group = group,
    callback = function() require('agentls.drafts').keep_all(require('agentls.agent').chats) end,
  })
  vim.api.nvim_create_autocmd('ColorScheme', { group = group, callback = require('agentls.markdown').groups })
end

--- Reads the options and gets ready. Without it, the first command does so with none.
---@param options? agentls.Options
function M.setup(options)
  M.options = options or {}
  for name, keys in pairs(M.options.keys or {}) do
    require('agentls.prompt').keys[name] = keys
  end
  require('agentls.markdown').groups()
  require('agentls.agent').init(M.options)
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

--- What may stand after a command of ours.
---@param what 'mode'|'model'|'agent'
---@param lead string what stands there already
---@return string[]
function M.complete(what, lead)
  if not done then M.setup() end
  return require('agentls.commands').complete(what, lead)
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
