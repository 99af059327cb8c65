--- Brings connection, copies and windows together: opens sessions, sends prompts, and takes up all of it after a restart.
local Chat = require('agentls.chat')
local Store = require('agentls.store')
local asks = require('agentls.asks')
local buffers = require('agentls.buffers')
local drafts = require('agentls.drafts')
local prompt = require('agentls.prompt')
local protocol = require('agentls.protocol')
local server = require('agentls.server')
local tell = require('agentls.notice')

local request = protocol.request
local R = server.request

local M = {
  chats = {}, ---@type agentls.Chat[]
  current = nil, ---@type agentls.Chat?
  untrusted = 0,
  request = R,
  root = server.root,
  tell = tell,
  how_to_answer = asks.how,
}

---@param id string
---@return agentls.Chat?
local function chat_of(id)
  for _, chat in ipairs(M.chats) do
    if chat.id == id then return chat end
  end
end

M.store = Store.new(function(copy, change)
  local chat = chat_of(copy.id)
  if chat then chat:changed(change) end
  if change.kind == 'pending' or change.kind == 'all' then vim.schedule(asks.refresh) end
end, function(session_id, part_id)
  R(request.part_get, { sessionId = session_id, partId = part_id }, function(err, result)
    if err then return M.store:fetch_failed(session_id, part_id) end
    M.store:fetched(session_id, result.part)
  end)
end)

-- Sessions ------------------------------------------------------------------------------------------------------------

--- Brings a session's copy up to date, from its own position if it has one.
---@param chat agentls.Chat
---@param callback? fun(err?: table)
local function attach(chat, callback)
  local copy = M.store:open(chat.id)
  chat.copy = copy
  R(request.session_attach, { sessionId = chat.id, since = copy.position }, function(err, result)
    if not err then
      M.store:attached(chat.id, result)
      if result.owner then
        tell(('Process %d runs this session: it can only be read here.'):format(result.owner.pid), vim.log.levels.WARN)
      end
    elseif err.data and err.data.kind ~= 'gone' then
      tell('The session could not be opened: ' .. err.message, vim.log.levels.ERROR)
    end
    if callback then callback(err) end
  end)
end

---@return agentls.Chat
local function add(id)
  local chat = Chat.new(M, id)
  prompt.restore(chat)
  table.insert(M.chats, chat)
  return chat
end

--- Shows a chat: a session's, or a new one. `beside` leaves the current one where it is.
---@param id? string
---@param beside? boolean
---@return agentls.Chat
function M.open(id, beside)
  local chat = id and chat_of(id) or nil
  local instead = not beside and M.current or nil
  if not chat then
    chat = add(id)
    if id then attach(chat) end
  end
  M.current = chat
  chat:show(instead ~= chat and instead or nil)
  server.ready(function() end)
  return chat
end

--- The chat that commands are about: the one under the cursor, else the last one; made if there is none.
---@return agentls.Chat
function M.here()
  for _, chat in ipairs(M.chats) do
    if chat:focused() then M.current = chat end
  end
  M.current = M.current or add()
  return M.current
end

--- Gives a chat its session, creating it if need be.
---@param chat agentls.Chat
---@param callback fun(err?: table)
function M.session(chat, callback)
  if chat.id then return callback() end
  R(request.session_create, { directory = server.root() }, function(err, result)
    if err then return callback(err) end
    chat.id = result.session.id
    chat.copy = M.store:open(chat.id)
    chat.copy.session = result.session
    attach(chat, callback)
  end)
end

-- Prompts -------------------------------------------------------------------------------------------------------------

local CROCKFORD = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'

--- A message's id, so that a prompt that is sent again after a crash counts once.
---@return string
function M.message_id()
  local seconds, micro = vim.uv.gettimeofday()
  local time, out = seconds * 1000 + math.floor(micro / 1000), {}
  for at = 10, 1, -1 do
    out[at] = CROCKFORD:sub(time % 32 + 1, time % 32 + 1)
    time = math.floor(time / 32)
  end
  local random = vim.uv.random(16)
  for at = 1, 16 do
    local n = random:byte(at) % 32 + 1
    out[10 + at] = CROCKFORD:sub(n, n)
  end
  return 'msg_' .. table.concat(out)
end

---@param chat agentls.Chat
local function pump(chat)
  local entry = chat.outbox[1]
  if not entry or chat.sending then return end
  chat.sending = true
  local function settled(err)
    chat.sending = false
    local kind = err and err.data and err.data.kind
    if kind == 'gone' then return chat:bar() end -- sent again when the server is back
    table.remove(chat.outbox, 1)
    drafts.keep_soon(chat)
    if err then
      prompt.give_back(chat, entry.text)
      if kind ~= 'unavailable' then tell('Not sent: ' .. err.message, vim.log.levels.ERROR) end
    end
    chat:bar()
    if not err and chat.copy.owner then attach(chat) end -- what the other process did meanwhile
    pump(chat)
  end
  M.session(chat, function(err)
    if err then return settled(err) end
    entry.params.sessionId = chat.id
    R(entry.method, entry.params, settled, buffers.code())
  end)
end

local function post(chat, entry)
  entry.params.messageId = M.message_id()
  table.insert(chat.outbox, entry)
  chat:bar()
  pump(chat)
end

--- Sends a prompt. What cannot be sent comes back into the prompt buffer.
---@param chat agentls.Chat
---@param draft {text: string, parts: table[], delivery?: 'steer'|'queue'}
function M.send(chat, draft)
  M.current = chat
  post(chat, {
    text = draft.text,
    method = request.session_prompt,
    params = { parts = draft.parts, delivery = draft.delivery or 'steer' },
  })
end

---@param chat agentls.Chat
---@param command string
function M.shell(chat, command)
  post(chat, { text = command, method = request.session_shell, params = { command = command } })
end

---@param chat agentls.Chat
---@param queue? 'keep'|'clear'
function M.abort(chat, queue)
  if not chat.id then return end
  R(request.session_abort, { sessionId = chat.id, queue = queue }, function(err)
    if err then tell('Not stopped: ' .. err.message, vim.log.levels.ERROR) end
  end)
end

--- Changes a session's title, mode, model or agent; a chat without a session gets one.
---@param chat agentls.Chat
---@param change table
function M.update(chat, change)
  M.session(chat, function(err)
    if err then return tell(err.message, vim.log.levels.ERROR) end
    R(request.session_update, vim.tbl_extend('force', change, { sessionId = chat.id }), function(failure)
      if failure then tell('Not changed: ' .. failure.message, vim.log.levels.ERROR) end
    end)
  end)
end

--- An older page of messages.
---@param chat agentls.Chat
function M.earlier(chat)
  local mark = chat.copy and chat.copy.next_cursor
  if not mark then return tell('These are all messages.') end
  R(request.session_messages, { sessionId = chat.id, before = mark }, function(err, result)
    if not err then M.store:paged(chat.id, result) end
  end)
end

--- Files for the completion.
---@param query string
---@param callback fun(files: table[])
function M.find(query, callback)
  if server.state ~= 'up' then return end
  R(request.file_find, { query = query, directory = server.root(), limit = 30 }, function(err, result)
    if not err then callback(result.files) end
  end)
end

-- The connection ------------------------------------------------------------------------------------------------------

local function notified(method, params)
  if method == protocol.notification.session_resync then
    local chat = chat_of(params.sessionId)
    if chat then attach(chat) end
  elseif method == protocol.notification.notice then
    local level = ({ info = vim.log.levels.INFO, warning = vim.log.levels.WARN, error = vim.log.levels.ERROR })[params.severity]
    tell(params.title .. (params.description and ': ' .. params.description or ''), level)
  elseif method == protocol.notification.file_edited then
    local buf = params.via == 'disk' and buffers.of(params.uri)
    if buf then vim.schedule(function() buffers.reload(buf) end) end
  else
    M.store:notified(method, params)
  end
  if method == protocol.notification.turn_ended then
    vim.schedule(buffers.reload_all)
    vim.api.nvim_exec_autocmds(
      'User',
      { pattern = 'AgentlsTurnEnded', data = { sessionId = params.sessionId, stopReason = params.stopReason } }
    )
  end
end

--- How many of the folder's settings wait for the user's trust.
---@param count integer
function M.withheld(count)
  if count > M.untrusted then tell(('Settings of this folder wait for your trust (%d): :AgentTrust'):format(count)) end
  M.untrusted = count
  for _, chat in ipairs(M.chats) do
    chat:show_trouble()
  end
end

local function up()
  vim.schedule(function() require('agentls.trust').check() end)
  buffers.attach_all(server.client)
  for _, chat in ipairs(M.chats) do
    chat:connection('')
    local function resend() pump(chat) end
    if chat.id then
      attach(chat, resend)
    else
      resend()
    end
  end
end

local function down(reason)
  for _, chat in ipairs(M.chats) do
    chat:connection(reason, server.state == 'failed')
  end
  if server.state == 'failed' then tell(reason, vim.log.levels.ERROR) end
end

---@param options agentls.Options
function M.init(options)
  M.options = options
  server.init({ options = options, notified = notified, up = up, down = down })
  asks.init(M)
end

return M
