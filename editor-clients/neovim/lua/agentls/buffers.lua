--- The user's files: which buffers the server is told of, and what Neovim knows of their state on the disk.
local api = vim.api

local M = {
  last = nil, ---@type integer? the file that the user was in last, not a window of ours
  seen = {}, ---@type table<integer, string> by buffer: the file's state when it was read or written
  agreed = {}, ---@type table<integer, string> the same, of a file that was only touched since
}

local LARGE = 16 * 1024 * 1024 -- bytes of a text that is left to the disk

--- Whether a buffer is a file of the user's.
---@param buf integer
---@return boolean
function M.is_file(buf)
  if not (api.nvim_buf_is_loaded(buf) and vim.bo[buf].buflisted and vim.bo[buf].buftype == '') then return false end
  local name = api.nvim_buf_get_name(buf)
  return name ~= '' and not name:find('^%a[%w+.-]*://') and vim.fn.isdirectory(name) == 0
end

---@param buf integer
---@param client vim.lsp.Client
function M.attach(buf, client)
  if not M.is_file(buf) or vim.lsp.buf_is_attached(buf, client.id) then return end
  if api.nvim_buf_get_offset(buf, api.nvim_buf_line_count(buf)) > LARGE then return end
  M.seen[buf] = M.seen[buf] or M.on_disk(buf)
  vim.lsp.buf_attach_client(buf, client.id)
end

---@param client? vim.lsp.Client
function M.attach_all(client)
  for _, buf in ipairs(client and api.nvim_list_bufs() or {}) do
    M.attach(buf, assert(client))
  end
end

--- What tells whether a file was written by somebody else since.
---@param buf integer
---@return string
function M.on_disk(buf)
  local stat = vim.uv.fs_stat(api.nvim_buf_get_name(buf))
  return stat and ('%d.%d %d %d'):format(stat.mtime.sec, stat.mtime.nsec, stat.size, stat.ino) or ''
end

--- Before a change of a buffer that is as it was read: whether the disk still holds its text, though the file was
--- touched since, as by a checkout.
---@param buf integer
function M.agree(buf)
  local now = M.on_disk(buf)
  if vim.bo[buf].modified or now == '' or now == M.seen[buf] then return end
  local ok, lines = pcall(vim.fn.readfile, api.nvim_buf_get_name(buf))
  if not ok then return end
  if vim.bo[buf].fileformat == 'dos' then lines = vim.tbl_map(function(line) return (line:gsub('\r$', '')) end, lines) end
  if vim.deep_equal(lines, api.nvim_buf_get_lines(buf, 0, -1, false)) then M.agreed[buf] = now end
end

--- The file that the user was in last.
---@return integer?
function M.code()
  if M.last and api.nvim_buf_is_valid(M.last) and M.is_file(M.last) then return M.last end
  local best, newest = nil, -1
  for _, one in ipairs(vim.fn.getbufinfo({ bufloaded = 1 })) do
    if one.lastused >= newest and M.is_file(one.bufnr) then
      best, newest = one.bufnr, one.lastused
    end
  end
  return best
end

--- The loaded buffer of a file.
---@param uri string
---@return integer?
function M.of(uri)
  local name = vim.uri_to_fname(uri)
  for _, buf in ipairs(api.nvim_list_bufs()) do
    if api.nvim_buf_is_loaded(buf) and api.nvim_buf_get_name(buf) == name then return buf end
  end
end

--- The version of a buffer's text, as the server counts it.
---@param buf integer
---@return integer
function M.version(buf) return vim.lsp.util.buf_versions[buf] end

--- Shows what was written to the disk, where nothing of the user's is lost and nobody needs to be asked.
---@param buf integer
function M.reload(buf)
  local own = vim.bo[buf].autoread
  local wanted = own == nil and vim.go.autoread or own
  if not M.is_file(buf) or vim.bo[buf].modified or not wanted then return end
  vim.cmd(('silent! checktime %d'):format(buf))
end

function M.reload_all()
  for _, buf in ipairs(api.nvim_list_bufs()) do
    if M.is_file(buf) and M.on_disk(buf) ~= M.seen[buf] then M.reload(buf) end
  end
end

--- Follows the buffers that come and go.
---@param group integer of autocommands
---@param client fun(): vim.lsp.Client?
---@param touched fun(buf: integer) a text that was as on the disk is so no longer
function M.watch(group, client, touched)
  local function on(events, does) api.nvim_create_autocmd(events, { group = group, callback = does }) end
  on({ 'BufReadPost', 'BufWritePost', 'FileChangedShellPost' }, function(event)
    if vim.bo[event.buf].buftype == '' then M.seen[event.buf] = M.on_disk(event.buf) end
  end)
  on({ 'BufReadPost', 'BufNewFile', 'BufEnter', 'BufFilePost', 'BufWritePost' }, function(event)
    if not M.is_file(event.buf) then return end
    if event.event == 'BufEnter' then M.last = event.buf end
    local up = client()
    if up then M.attach(event.buf, up) end
  end)
  on('BufModifiedSet', function(event)
    if client() and vim.bo[event.buf].modified and M.is_file(event.buf) then touched(event.buf) end
  end)
  on('BufUnload', function(event)
    M.seen[event.buf], M.agreed[event.buf] = nil, nil
  end)
end

return M
