--- What the server asks of the editor: to change a text, to save it, and what the user sees.
local buffers = require('agentls.buffers')
local positions = require('agentls.positions')
local protocol = require('agentls.protocol')

local api = vim.api
local M = {}

local MOST = 500 -- diagnostics told of one document
local OURS = 'lsp.agentls.' -- in the names of our diagnostics' namespaces

-- Changing a text -----------------------------------------------------------------------------------------------------

--- The buffer of an edit, or why it cannot be made. Neovim's own handler says "applied" to one that it threw away.
---@param change table a TextDocumentEdit
---@return integer? buf
---@return string? problem
local function target(change)
  local document = change.textDocument
  local buf = buffers.of(document.uri)
  if not buf then return nil, 'the document is not open' end
  if vim.bo[buf].readonly or not vim.bo[buf].modifiable then return nil, 'the buffer may not be changed' end
  local version = document.version
  if type(version) == 'number' and version ~= buffers.version(buf) then
    return nil, ('the text has version %d by now, the edit is for %d'):format(buffers.version(buf), version)
  end
  return buf
end

--- Text put behind the last line, as Neovim can take it: behind the end of the line before. An edit behind all lines
--- leaves it with an empty line too many.
local function within(edit, buf)
  local last = api.nvim_buf_line_count(buf) - 1
  if edit.range.start.line <= last then return edit end
  local place = positions.position(buf, last, math.huge)
  return { range = { start = place, ['end'] = place }, newText = '\n' .. edit.newText:gsub('\n$', '') }
end

--- Begins a new step of undo, so that `u` takes back the edit alone, also when it came while the user typed.
local function new_step(buf) vim.bo[buf].undolevels = vim.bo[buf].undolevels end

---@return {applied: boolean, failureReason?: string}
local function apply(err, params, context)
  local changes = params.edit.documentChanges
  local plain = changes and not vim.iter(changes):any(function(change) return change.kind ~= nil end)
  if not plain then return vim.lsp.handlers['workspace/applyEdit'](err, params, context) end
  local found = {}
  for index, change in ipairs(changes) do
    local buf, problem = target(change)
    if not buf then return { applied = false, failureReason = problem, failedChange = index - 1 } end
    found[index] = buf
  end
  local client = assert(vim.lsp.get_client_by_id(context.client_id))
  for index, change in ipairs(changes) do
    local buf = found[index]
    local edits = vim.tbl_map(function(edit) return within(edit, buf) end, change.edits)
    buffers.agree(buf)
    new_step(buf)
    local ok, failure = pcall(vim.lsp.util.apply_text_edits, edits, buf, client.offset_encoding)
    new_step(buf)
    if not ok then return { applied = false, failureReason = tostring(failure), failedChange = index - 1 } end
  end
  return { applied = true }
end

-- Saving --------------------------------------------------------------------------------------------------------------

--- Saves as the user would, with what runs at a save, and never asks: what would make Neovim ask is not saved.
---@return {saved: boolean}
local function save(_, params)
  local buf = buffers.of(params.uri)
  if not buf or params.version ~= buffers.version(buf) then return { saved = false } end
  if not vim.bo[buf].modified then return { saved = true } end
  local disk = buffers.on_disk(buf)
  local known = disk == (buffers.seen[buf] or '')
  if vim.bo[buf].readonly or not (known or disk == buffers.agreed[buf]) then return { saved = false } end
  local asks = vim.o.confirm
  vim.o.confirm = false
  -- Of a file that was touched Neovim would ask; that it holds the same text was seen.
  local ok = pcall(api.nvim_buf_call, buf, function() vim.cmd(known and 'silent write' or 'silent write!') end)
  vim.o.confirm = asks
  return { saved = ok and not vim.bo[buf].modified }
end

-- What the user sees --------------------------------------------------------------------------------------------------

local function is_ours(diagnostic)
  local known, space = pcall(vim.diagnostic.get_namespace, diagnostic.namespace)
  return known and space.name:find(OURS, 1, true) ~= nil
end

--- The diagnostics of a document, or of all, without our own. They have no version: several programs judge a document,
--- each at its own pace, and Neovim does not say which text one is of.
---@return {documents: table[]}
local function diagnostics(_, params)
  local only = params.uri and buffers.of(params.uri)
  if params.uri and not only then return { documents = {} } end
  local documents, by_buffer = {}, {}
  for _, one in ipairs(vim.diagnostic.get(only)) do
    if not is_ours(one) and api.nvim_buf_is_valid(one.bufnr) then
      local document = by_buffer[one.bufnr]
      if not document then
        document = { uri = vim.uri_from_bufnr(one.bufnr), items = {} }
        by_buffer[one.bufnr] = document
        documents[#documents + 1] = document
      end
      if #document.items < MOST then table.insert(document.items, positions.diagnostic(one)) end
    end
  end
  return { documents = documents }
end

--- The file that the user is in, what is selected there, and what is open.
---@return {uri?: string, selection?: table, open: string[]}
local function context()
  local open = {}
  for _, buf in ipairs(api.nvim_list_bufs()) do
    if buffers.is_file(buf) then open[#open + 1] = vim.uri_from_bufnr(buf) end
  end
  local code = buffers.code()
  if not code then return { open = open } end
  return { uri = vim.uri_from_bufnr(code), selection = positions.selected(code), open = open }
end

M.handlers = {
  ['workspace/applyEdit'] = apply,
  [protocol.editor.document_save] = save,
  [protocol.editor.editor_diagnostics] = diagnostics,
  [protocol.editor.editor_context] = context,
}

return M
