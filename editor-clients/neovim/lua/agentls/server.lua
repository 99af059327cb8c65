--- The connection: finds the server, starts it by vim.lsp.start, starts it again when it ended, and sends requests.
local bridge = require('agentls.bridge')
local protocol = require('agentls.protocol')

---@class agentls.Server
---@field client? vim.lsp.Client
---@field state 'down'|'starting'|'up'|'failed'
---@field reason? string why it is down, one line
local M = { client = nil, state = 'down', reason = nil }

local INSTALL = [[
agentls was not found on the PATH or in .venv/bin of the project.
Install it from its own folder:
uv tool install .
or name it:
require("agentls").setup({ cmd = "/path/to/agentls" })
Then :AgentRestart. :checkhealth agentls says more.]]
local BROKEN = [[
%s cannot run: it needs %s, which is not there any more.
Install agentls again from its own folder:
uv tool install --force .
Then :AgentRestart.]]
local BACKOFF = { 500, 1000, 2000, 4000, 8000 }
local STABLE = 30000

local hooks ---@type {options: agentls.Options, notified: fun(method: string, params: table), up: fun(), down: fun(reason: string)}
local waiting = {} ---@type fun(err?: table)[] for the server to be up
local open = {} ---@type table<integer, fun(err?: table, result?: table)> requests without an answer
local numbers, crashes, started, wanted, timer, launches, current = 0, 0, 0, false, nil, 0, nil

--- Methods of a client take the client itself since Neovim 0.11.
local function call(client, name, ...)
  if vim.fn.has('nvim-0.11') == 1 then return client[name](client, ...) end
  return client[name](...)
end

---@param given table
function M.init(given) hooks = given end

--- The folder that the server works for.
---@return string
function M.root()
  if M.client and M.client.config.root_dir then return M.client.config.root_dir end
  local set = hooks.options.root
  if set then
    return type(set) == 'function' and set() or set --[[@as string]]
  end
  local cwd = vim.fn.getcwd()
  return vim.fs.root(cwd, { '.git', 'agentls.json', 'agentls.jsonc' }) or cwd
end

--- Why a program cannot run though it is there: the interpreter that its first line names was removed.
---@param program string
---@return string? problem
function M.broken(program)
  local path = vim.fn.exepath(program)
  local file = io.open(path, 'rb')
  local first = file and file:read(256) or ''
  if file then file:close() end
  local interpreter = first:match('^#!%s*(/[^%s]+)')
  if interpreter and vim.fn.executable(interpreter) == 0 then return BROKEN:format(path, interpreter) end
end

--- The command line of the server: the option, the PATH, the project's environment.
---@return string[]? cmd
---@return string? problem
function M.find()
  local cmd = hooks.options.cmd
  if cmd then
    cmd = type(cmd) == 'string' and { cmd } or cmd --[[@as string[] ]]
    if vim.fn.executable(cmd[1]) == 1 then return cmd end
    return nil, ('The command of agentls cannot be run: %s. Correct `cmd` in setup{}.'):format(cmd[1])
  end
  if vim.fn.executable('agentls') == 1 then return { 'agentls' } end
  for _, folder in ipairs({ M.root(), vim.fn.getcwd() }) do
    local inside = folder .. '/.venv/bin/agentls'
    if vim.fn.executable(inside) == 1 then return { inside } end
  end
  return nil, INSTALL
end

local function settle(err)
  local list = waiting
  waiting = {}
  for _, callback in ipairs(list) do
    callback(err)
  end
end

local function drop_requests(reason)
  local list = open
  open = {}
  for _, callback in pairs(list) do
    callback({ message = reason, data = { kind = 'gone', retryable = true } })
  end
end

local function fail(reason)
  M.state, M.reason, M.client = 'failed', reason, nil
  local err = { message = reason, data = { kind = 'unavailable' } }
  drop_requests(reason)
  settle(err)
  hooks.down(reason)
end

local function again(reason)
  local pauses = hooks.options.backoff or BACKOFF
  crashes = vim.uv.now() - started > STABLE and 1 or crashes + 1
  if crashes > #pauses then
    return fail(('agentls ended %d times in a row (%s). See :AgentLog, then :AgentRestart.'):format(crashes, reason))
  end
  M.state, M.reason = 'starting', ('%s; starting again'):format(reason)
  hooks.down(M.reason)
  timer = vim.defer_fn(M.launch, pauses[crashes])
end

function M.on_exit(number, code, signal)
  vim.schedule(function()
    if number ~= current then return end
    M.client = nil
    local reason = signal > 0 and ('agentls was killed by signal %d'):format(signal)
      or ('agentls ended with code %d'):format(code)
    if wanted then again(reason) end
    drop_requests(reason)
  end)
end

local function on_init(client, result)
  if client.id ~= M.id then return call(client, 'stop', true) end
  local program = M.program
  local offer = vim.tbl_get(result, 'capabilities', 'experimental', 'agentls')
  local version = offer and offer.protocolVersion
  if version ~= protocol.VERSION then
    wanted = false
    call(client, 'stop', true)
    local what = version and ('speaks protocol version %s'):format(version) or 'is no agentls server'
    return fail(('%s %s.\nThis plugin needs version %d.\nUpdate both.'):format(program, what, protocol.VERSION))
  end
  M.client, M.state, M.reason = client, 'up', nil
  hooks.up()
  settle()
end

--- Starts the process. Its end is told to Neovim as a quiet one: what to do and say about it is ours.
local function spawn(cmd)
  return function(dispatchers)
    local number
    local ours = vim.tbl_extend('force', dispatchers, {
      on_exit = function(code, signal)
        M.on_exit(number, code, signal)
        dispatchers.on_exit(0, 0)
      end,
    })
    launches = launches + 1
    number, current = launches, launches
    return vim.lsp.rpc.start(cmd, ours, { cwd = M.root(), env = hooks.options.env })
  end
end

--- What Neovim can do; that it takes edits for a version of a text it does not say itself. Places are counted in UTF-16 units, as most servers of the same buffers count them.
---@return lsp.ClientCapabilities
local function capabilities()
  local able = vim.lsp.protocol.make_client_capabilities()
  able.general.positionEncodings = { 'utf-16' }
  able.workspace.workspaceEdit.documentChanges = true
  return able
end

---@return vim.lsp.ClientConfig
local function config(cmd)
  local handlers = vim.tbl_extend('error', {}, bridge.handlers)
  for _, method in pairs(protocol.notification) do
    handlers[method] = function(_, params, context)
      -- A server that was told to stop still speaks; the next one tells what counts.
      if context.client_id == M.id then hooks.notified(method, params) end
    end
  end
  local options = hooks.options
  local trusted = options.trusted
  if type(trusted) == 'function' then trusted = trusted(M.root()) end
  return {
    name = 'agentls',
    cmd = spawn(cmd),
    root_dir = M.root(),
    capabilities = capabilities(),
    handlers = handlers,
    on_init = vim.schedule_wrap(on_init),
    init_options = {
      agentls = {
        protocolVersion = protocol.VERSION,
        clientId = 'neovim',
        ui = { permission = true, question = true, diff = true },
        events = { deltas = true, coalesceMs = 33 },
        documents = { save = true, diagnostics = true, context = true },
        trusted = trusted,
        settings = options.settings,
      },
    },
  }
end

--- Without a buffer: `vim.lsp.start` of Neovim 0.10 always attaches one.
---@return integer? id
local function start_client(given)
  if vim.fn.has('nvim-0.11') == 0 then return vim.lsp.start_client(given) end
  return vim.lsp.start(given, { attach = false, reuse_client = function() return false end, silent = true })
end

--- Starts the server now.
function M.launch()
  if timer and not timer:is_closing() then timer:close() end
  timer = nil
  local cmd, problem = M.find()
  problem = problem or cmd and M.broken(cmd[1])
  if problem or not cmd then return fail(problem) end
  M.state, started, wanted, M.program = 'starting', vim.uv.now(), true, cmd[1]
  M.id = start_client(config(cmd))
  if not M.id then fail(('%s could not be started. See :checkhealth agentls.'):format(cmd[1])) end
end

--- A hidden buffer that requests are said to come from: those of a user's buffer end with it.
---@return integer
function M.anchor()
  if not (M.held and vim.api.nvim_buf_is_valid(M.held)) then
    M.held = vim.api.nvim_create_buf(false, true)
    vim.bo[M.held].bufhidden = 'hide'
  end
  return M.held
end

--- Calls back when the server is up, starting it if it is not; with an error if it cannot be.
---@param callback fun(err?: table)
function M.ready(callback)
  if M.state == 'up' then return callback() end
  table.insert(waiting, callback)
  if M.state ~= 'starting' then
    crashes = 0
    M.launch()
  end
end

--- Sends a request. `callback` is always called: also when the server ends before it answers (kind `gone`).
---@param method agentls.Request
---@param params table
---@param callback fun(err?: table, result?: table)
---@param buf? integer a buffer whose newest text is to be told first
function M.request(method, params, callback, buf)
  M.ready(function(err)
    if err then return callback(err) end
    numbers = numbers + 1
    local number = numbers
    local function answer(failure, result)
      local first = open[number]
      open[number] = nil
      if first then first(failure, result) end
    end
    open[number] = callback
    if next(params) == nil then params = vim.empty_dict() end
    local sent = call(M.client, 'request', method, params, answer, buf or M.anchor())
    if not sent then answer({ message = 'agentls is ending', data = { kind = 'gone', retryable = true } }) end
  end)
end

--- Tells the server of a buffer's newest text now. Neovim waits a moment after a change, in which the agent could write
--- to the disk what the user has just begun to change; any request makes it send what it holds back.
---@param buf integer
function M.tell_text(buf)
  local client = M.client
  if client then call(client, 'request', protocol.request.server_status, vim.empty_dict(), function() end, buf) end
end

--- Stops the server, for good or to start it anew.
---@param callback? fun()
function M.stop(callback)
  wanted = false
  if timer and not timer:is_closing() then timer:close() end
  local client = M.client or M.id and vim.lsp.get_client_by_id(M.id)
  M.client, M.id, M.state = nil, nil, 'down'
  if not client then return callback and callback() end
  current = nil
  drop_requests('agentls was stopped')
  call(client, 'stop')
  local polls = 0
  local function look()
    polls = polls + 1
    local stopped = call(client, 'is_stopped')
    if stopped or polls > 100 then
      if not stopped then call(client, 'stop', true) end
      return callback and callback()
    end
    vim.defer_fn(look, 50)
  end
  look()
end

---@param callback? fun(err?: table)
function M.restart(callback)
  hooks.down('agentls is restarting')
  M.stop(function()
    M.ready(callback or function() end)
  end)
end

return M
