--- The editor's copies of sessions, kept by the protocol's rules. Knows nothing of windows and of the connection.
---@class agentls.Copy
---@field id string
---@field session? table
---@field status table
---@field turn? table
---@field position? {epoch: string, seq: integer}
---@field messages table<string, table>
---@field parts table<string, table>
---@field todos table[]
---@field queue table[]
---@field pending table<string, table> open permissions and questions by id
---@field usage? table
---@field context? number
---@field next_cursor? string
---@field owner? {pid: integer}
---@field opening? string the words that the session began with
---@field stale table<string, true> parts that are being fetched

---@class agentls.Change
---@field kind 'all'|'shape'|'message'|'part'|'append'|'status'|'session'|'pending'|'tail'|'gone'
---@field id? string of the message or part
---@field field? string
---@field delta? string
---@field same? boolean the part was replaced, its text is what it was

---@class agentls.Store
---@field copies table<string, agentls.Copy>
---@field private changed fun(copy: agentls.Copy, change: agentls.Change)
---@field private fetch fun(session_id: string, part_id: string)
local Store = {}
Store.__index = Store

---@param changed fun(copy: agentls.Copy, change: agentls.Change) called after each change
---@param fetch fun(session_id: string, part_id: string) must answer with `Store:fetched` or `Store:fetch_failed`
---@return agentls.Store
function Store.new(changed, fetch) return setmetatable({ copies = {}, changed = changed, fetch = fetch }, Store) end

---@param session_id string
---@return agentls.Copy
function Store:open(session_id)
  local copy = self.copies[session_id]
  if not copy then
    copy = {
      id = session_id,
      status = { type = 'idle' },
      messages = {},
      parts = {},
      todos = {},
      queue = {},
      pending = {},
      stale = {},
    }
    self.copies[session_id] = copy
  end
  return copy
end

-- Growing text --------------------------------------------------------------------------------------------------------

--- Where a delta's field stands: `text` in the part itself, `raw` and `output` in the state of a tool.
local function holder(part, field) return field == 'text' and part or part.state end

--- A part's growing text. Pieces are joined only when somebody looks: joining at each delta would copy all of it.
---@param part table
---@param field 'text'|'raw'|'output'
---@return string
function Store.text(part, field)
  local owner = holder(part, field)
  if not owner then return '' end
  local pieces = part.pieces and part.pieces[field]
  if pieces and #pieces > 0 then
    owner[field] = (owner[field] or '') .. table.concat(pieces)
    part.pieces[field] = nil
  end
  return owner[field] or ''
end

function Store:put_part(copy, part)
  local known = copy.parts[part.id]
  copy.parts[part.id] = part
  copy.stale[part.id] = nil
  local same = known and part.type == 'text' and Store.text(known, 'text') == part.text
  self.changed(copy, { kind = known and 'part' or 'shape', id = part.id, same = same })
end

function Store:delta(copy, params)
  local part = copy.parts[params.partId]
  if copy.stale[params.partId] or (part and params.rev <= part.rev) then return end
  if not part or params.base ~= part.rev or not holder(part, params.field) then
    copy.stale[params.partId] = true
    self.fetch(copy.id, params.partId)
    return
  end
  part.pieces = part.pieces or {}
  local pieces = part.pieces[params.field] or {}
  pieces[#pieces + 1] = params.delta
  part.pieces[params.field] = pieces
  part.rev = params.rev
  self.changed(copy, { kind = 'append', id = part.id, field = params.field, delta = params.delta })
end

--- The answer of `part/get`.
---@param session_id string
---@param part table
function Store:fetched(session_id, part)
  local copy = self.copies[session_id]
  if copy then self:put_part(copy, part) end
end

--- `part/get` failed: the part is gone, or the connection is; a later attach brings it.
function Store:fetch_failed(session_id, part_id)
  local copy = self.copies[session_id]
  if copy then copy.stale[part_id] = nil end
end

-- Attaching -----------------------------------------------------------------------------------------------------------

local function remove_message(copy, id)
  copy.messages[id] = nil
  for part_id, part in pairs(copy.parts) do
    if part.messageId == id then copy.parts[part_id] = nil end
  end
end

---@param messages {message: table, parts: table[]}[]
local function add_messages(copy, messages)
  for _, one in ipairs(messages) do
    copy.messages[one.message.id] = one.message
    for _, part in ipairs(one.parts) do
      copy.parts[part.id] = part
    end
  end
end

local function replace(copy, snapshot)
  copy.session, copy.turn = snapshot.session, snapshot.turn
  copy.messages, copy.parts, copy.stale = {}, {}, {}
  copy.todos, copy.queue, copy.next_cursor = snapshot.todos, snapshot.queue, snapshot.nextCursor
  add_messages(copy, snapshot.messages)
end

local function without(list, id)
  return vim.tbl_filter(function(item) return item.messageId ~= id end, list)
end

---@type table<string, fun(copy: agentls.Copy, value?: table, removed?: string)>
local changes = {
  session = function(copy, value) copy.session = value or copy.session end,
  turn = function(copy, value) copy.turn = value or copy.turn end,
  message = function(copy, value, removed)
    if removed then return remove_message(copy, removed) end
    copy.messages[value.id] = value
  end,
  part = function(copy, value, removed)
    if removed then
      copy.parts[removed] = nil
      return
    end
    copy.parts[value.id] = value
    copy.stale[value.id] = nil
  end,
  todo = function(copy, value) copy.todos = value or {} end,
  queue = function(copy, value, removed)
    copy.queue = without(copy.queue, removed or value.messageId)
    if value then table.insert(copy.queue, value) end
  end,
}

--- The answer of `session/attach`: all of it counts, then its position.
---@param session_id string
---@param result table
function Store:attached(session_id, result)
  local copy = self:open(session_id)
  if result.snapshot then replace(copy, result.snapshot) end
  for _, change in ipairs(result.changes or {}) do
    local apply = changes[change.kind]
    if apply then apply(copy, change.value, change.removed) end
  end
  copy.pending, copy.stale = {}, {}
  for _, one in ipairs(result.pending.permissions) do
    copy.pending[one.permissionId] = one
  end
  for _, one in ipairs(result.pending.questions) do
    copy.pending[one.questionId] = one
  end
  copy.status, copy.position, copy.owner = result.status, result.position, result.owner
  if result.turn then copy.turn = result.turn end
  self.changed(copy, { kind = 'all' })
end

--- An older page of messages.
function Store:paged(session_id, result)
  local copy = self:open(session_id)
  add_messages(copy, result.messages)
  copy.next_cursor = result.nextCursor
  self.changed(copy, { kind = 'all' })
end

-- Notifications -------------------------------------------------------------------------------------------------------

---@type table<string, fun(store: agentls.Store, copy: agentls.Copy, params: table): agentls.Change?>
local notified = {
  ['session/created'] = function(_, copy, p)
    copy.session = p.session
    return { kind = 'session' }
  end,
  ['session/updated'] = function(_, copy, p)
    copy.session = p.session
    return { kind = 'session' }
  end,
  ['session/deleted'] = function(store, copy)
    store.copies[copy.id] = nil
    return { kind = 'gone' }
  end,
  ['session/status'] = function(_, copy, p)
    copy.status = p.status
    return { kind = 'status' }
  end,
  ['session/usage'] = function(_, copy, p)
    copy.usage, copy.context = p.usage, p.context
    return { kind = 'status' }
  end,
  ['turn/started'] = function(_, copy, p)
    copy.turn = { id = p.turnId, messageId = p.messageId, state = 'running' }
    return { kind = 'tail' }
  end,
  ['turn/ended'] = function(_, copy, p)
    copy.turn = vim.tbl_extend(
      'force',
      copy.turn or {},
      { id = p.turnId, state = 'ended', stopReason = p.stopReason, error = p.error, usage = p.usage }
    )
    return { kind = 'tail' }
  end,
  ['message/updated'] = function(_, copy, p)
    local known = copy.messages[p.message.id]
    copy.messages[p.message.id] = p.message
    return { kind = known and 'message' or 'shape', id = p.message.id }
  end,
  ['message/removed'] = function(_, copy, p)
    remove_message(copy, p.messageId)
    return { kind = 'shape' }
  end,
  ['part/updated'] = function(store, copy, p) store:put_part(copy, p.part) end,
  ['part/delta'] = function(store, copy, p) store:delta(copy, p) end,
  ['part/removed'] = function(_, copy, p)
    copy.parts[p.partId] = nil
    return { kind = 'shape' }
  end,
  ['todo/updated'] = function(_, copy, p)
    copy.todos = p.todos
    return { kind = 'tail' }
  end,
  ['queue/changed'] = function(_, copy, p)
    copy.queue = p.items
    return { kind = 'tail' }
  end,
  ['permission/asked'] = function(_, copy, p)
    copy.pending[p.permissionId] = p
    return { kind = 'pending', id = p.permissionId }
  end,
  ['permission/resolved'] = function(_, copy, p)
    copy.pending[p.permissionId] = nil
    return { kind = 'pending', id = p.permissionId }
  end,
  ['question/asked'] = function(_, copy, p)
    copy.pending[p.questionId] = p
    return { kind = 'pending', id = p.questionId }
  end,
  ['question/resolved'] = function(_, copy, p)
    copy.pending[p.questionId] = nil
    return { kind = 'pending', id = p.questionId }
  end,
}

--- A notification. Those of sessions that nobody opened here are passed over; a child's questions count for its root.
---@param method string
---@param params table
function Store:notified(method, params)
  local apply = notified[method]
  local copy = self.copies[params.sessionId]
  local asks = vim.startswith(method, 'permission/') or vim.startswith(method, 'question/')
  local root = asks and params.rootSessionId ~= params.sessionId and self.copies[params.rootSessionId]
  for _, one in ipairs({ copy or false, root or false }) do
    local change = one and apply and apply(self, one, params)
    if change then self.changed(one, change) end
  end
  if copy and copy.position and params.seq then copy.position.seq = math.max(copy.position.seq, params.seq) end
end

-- Looking -------------------------------------------------------------------------------------------------------------

local function by_pos(a, b) return a.pos < b.pos end

--- Messages in order.
---@param copy agentls.Copy
---@return table[]
function Store.messages_of(copy)
  local list = vim.tbl_values(copy.messages)
  table.sort(list, by_pos)
  return list
end

--- The parts of all messages, each list in order.
---@param copy agentls.Copy
---@return table<string, table[]>
function Store.parts_of(copy)
  local lists = {}
  for _, part in pairs(copy.parts) do
    local list = lists[part.messageId] or {}
    list[#list + 1] = part
    lists[part.messageId] = list
  end
  for _, list in pairs(lists) do
    table.sort(list, by_pos)
  end
  return lists
end

--- What waits for an answer, the oldest first.
---@param copy agentls.Copy
---@return table[]
function Store.pending_of(copy)
  local list = vim.tbl_values(copy.pending)
  table.sort(list, function(a, b) return (a.createdAt or 0) < (b.createdAt or 0) end)
  return list
end

return Store
