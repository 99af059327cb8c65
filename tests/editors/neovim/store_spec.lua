-- nvim --clean --headless -l store_spec.lua PLUGIN: the rules of the client's copy, without any editor or server.
vim.opt.rtp:prepend(_G.arg[1])
local Store = require('agentls.store')

local failed, ran = 0, 0

local function it(name, test)
  ran = ran + 1
  local ok, problem = xpcall(test, debug.traceback)
  if not ok then
    failed = failed + 1
    io.stdout:write('FAILED ' .. name .. '\n' .. problem .. '\n')
  end
end

local function same(want, got)
  assert(vim.deep_equal(want, got), ('wanted %s, got %s'):format(vim.inspect(want), vim.inspect(got)))
end

local function text_part(id, rev, text, pos)
  return { id = id, messageId = 'm1', type = 'text', text = text or '', rev = rev, pos = pos or 1 }
end

local function delta(base, rev, words, id, field)
  return {
    sessionId = 's',
    messageId = 'm1',
    partId = id or 'p1',
    field = field or 'text',
    base = base,
    rev = rev,
    delta = words,
  }
end

--- A store with one session, one message and one growing part of revision 1.
local function opened()
  local seen = { changes = {}, fetched = {} }
  local store = Store.new(
    function(_, change) table.insert(seen.changes, change) end,
    function(_, id) table.insert(seen.fetched, id) end
  )
  store:attached('s', {
    position = { epoch = 'e', seq = 10 },
    status = { type = 'busy' },
    pending = { permissions = {}, questions = {} },
    snapshot = {
      session = { id = 's', title = 'A' },
      todos = {},
      queue = {},
      messages = { { message = { id = 'm1', role = 'assistant', pos = 1 }, parts = { text_part('p1', 1) } } },
    },
  })
  return store, store.copies.s, seen
end

local function text_of(copy, id) return Store.text(copy.parts[id or 'p1'], 'text') end

it('appends a delta whose base is the own revision', function()
  local store, copy, seen = opened()
  store:notified('part/delta', delta(1, 2, 'Hel'))
  store:notified('part/delta', delta(2, 3, 'lo'))
  same('Hello', text_of(copy))
  same(3, copy.parts.p1.rev)
  same({}, seen.fetched)
end)

it('drops a delta that it has already', function()
  local store, copy, seen = opened()
  store:notified('part/delta', delta(1, 2, 'Hello'))
  store:notified('part/delta', delta(1, 2, 'Hello'))
  store:notified('part/delta', delta(0, 1, 'x'))
  same('Hello', text_of(copy))
  same({}, seen.fetched)
end)

it('fetches a part once when a delta is missing, and passes over its deltas until then', function()
  local store, copy, seen = opened()
  store:notified('part/delta', delta(3, 4, 'later'))
  store:notified('part/delta', delta(4, 5, 'even later'))
  store:notified('part/delta', delta(1, 2, 'fits by chance'))
  same({ 'p1' }, seen.fetched)
  same('', text_of(copy))
  store:fetched('s', text_part('p1', 5, 'all of it'))
  store:notified('part/delta', delta(5, 6, ', and more'))
  same('all of it, and more', text_of(copy))
end)

it('fetches a part that it never heard of', function()
  local store, _, seen = opened()
  store:notified('part/delta', delta(1, 2, 'x', 'p9'))
  same({ 'p9' }, seen.fetched)
end)

it('asks again after a fetch that failed', function()
  local store, _, seen = opened()
  store:notified('part/delta', delta(3, 4, 'x'))
  store:fetch_failed('s', 'p1')
  store:notified('part/delta', delta(4, 5, 'y'))
  same({ 'p1', 'p1' }, seen.fetched)
end)

it('lets a whole part replace what it has, even by a lower revision', function()
  local store, copy = opened()
  store:notified('part/delta', delta(1, 7, 'a long text'))
  store:notified('part/updated', { sessionId = 's', part = text_part('p1', 2, 'short') })
  same('short', text_of(copy))
  same(2, copy.parts.p1.rev)
  store:notified('part/delta', delta(2, 3, 'er'))
  same('shorter', text_of(copy))
end)

it('tells whether a part that ends has the text that was drawn', function()
  local store, _, seen = opened()
  store:notified('part/delta', delta(1, 2, 'same'))
  store:notified('part/updated', { sessionId = 's', part = text_part('p1', 3, 'same') })
  same(true, seen.changes[#seen.changes].same)
  store:notified('part/updated', { sessionId = 's', part = text_part('p1', 4, 'other') })
  same(false, seen.changes[#seen.changes].same)
end)

it('grows the output and the raw arguments within a tool state', function()
  local store, copy = opened()
  store:notified('part/updated', {
    sessionId = 's',
    part = { id = 'p2', messageId = 'm1', type = 'tool', pos = 2, rev = 1, state = { status = 'running' } },
  })
  store:notified('part/delta', delta(1, 2, 'one\n', 'p2', 'output'))
  store:notified('part/delta', delta(2, 3, 'two', 'p2', 'output'))
  same('one\ntwo', Store.text(copy.parts.p2, 'output'))
end)

it('takes over a position only after all changes, and grows with notifications', function()
  local store, copy = opened()
  store:notified('todo/updated', { sessionId = 's', seq = 12, todos = {} })
  same(12, copy.position.seq)
  store:notified('part/updated', { sessionId = 's', seq = 11, part = text_part('p1', 2) })
  same(12, copy.position.seq)
  store:attached('s', {
    position = { epoch = 'e', seq = 20 },
    status = { type = 'idle' },
    pending = { permissions = {}, questions = {} },
    changes = {},
  })
  same(20, copy.position.seq)
end)

it('applies changes in order: rows, removals, and all parts of a removed message', function()
  local store, copy = opened()
  store:attached('s', {
    position = { epoch = 'e', seq = 30 },
    status = { type = 'idle' },
    pending = { permissions = {}, questions = {} },
    changes = {
      { seq = 21, kind = 'session', value = { id = 's', title = 'B' } },
      { seq = 22, kind = 'message', removed = 'm1' },
      { seq = 23, kind = 'message', value = { id = 'm2', role = 'user', pos = 2 } },
      {
        seq = 24,
        kind = 'part',
        value = { id = 'p5', messageId = 'm2', type = 'text', text = 'hi', pos = 1, rev = 1 },
      },
      { seq = 25, kind = 'queue', value = { messageId = 'm3', text = 'next' } },
      { seq = 26, kind = 'todo', value = { { content = 'do', status = 'pending' } } },
      { seq = 27, kind = 'permission', removed = 'per_1' },
    },
  })
  same('B', copy.session.title)
  same({ 'm2' }, vim.tbl_keys(copy.messages))
  same({ 'p5' }, vim.tbl_keys(copy.parts))
  same('next', copy.queue[1].text)
  same('do', copy.todos[1].content)
end)

it('takes over what waits from the answer of attach', function()
  local store, copy = opened()
  store:notified(
    'permission/asked',
    { sessionId = 's', rootSessionId = 's', permissionId = 'per_1', seq = 11, createdAt = 1 }
  )
  store:attached('s', {
    position = { epoch = 'e', seq = 12 },
    status = { type = 'waiting' },
    changes = {},
    pending = {
      permissions = { { permissionId = 'per_2', createdAt = 2 } },
      questions = { { questionId = 'que_1', createdAt = 1 } },
    },
  })
  same(
    { 'que_1', 'per_2' },
    vim.tbl_map(function(one) return one.permissionId or one.questionId end, Store.pending_of(copy))
  )
end)

it('counts a child session question for its root', function()
  local store, copy = opened()
  store:notified('permission/asked', { sessionId = 'child', rootSessionId = 's', permissionId = 'per_1', seq = 99 })
  same({ 'per_1' }, vim.tbl_keys(copy.pending))
  same(10, copy.position.seq)
  store:notified('permission/resolved', { sessionId = 'child', rootSessionId = 's', permissionId = 'per_1', seq = 100 })
  same({}, copy.pending)
end)

it('passes over sessions that nobody opened here, and messages that it does not know', function()
  local store, copy, seen = opened()
  local before = #seen.changes
  store:notified('part/delta', vim.tbl_extend('force', delta(1, 2, 'x'), { sessionId = 'other' }))
  store:notified('something/new', { sessionId = 's', seq = 40 })
  same(before, #seen.changes)
  same(40, copy.position.seq)
end)

it('puts a snapshot in place of all it had', function()
  local store, copy = opened()
  store:attached('s', {
    position = { epoch = 'f', seq = 1 },
    status = { type = 'idle' },
    truncated = true,
    pending = { permissions = {}, questions = {} },
    snapshot = { session = { id = 's', title = 'C' }, todos = {}, queue = {}, messages = {} },
  })
  same({}, copy.messages)
  same({}, copy.parts)
  same({ epoch = 'f', seq = 1 }, copy.position)
end)

it('gives messages and parts in their order', function()
  local store, copy = opened()
  store:notified('message/updated', { sessionId = 's', seq = 11, message = { id = 'm0', role = 'user', pos = 0 } })
  store:notified('part/updated', { sessionId = 's', part = text_part('p0', 1, 'first', 0) })
  same({ 'm0', 'm1' }, vim.tbl_map(function(m) return m.id end, Store.messages_of(copy)))
  same({ 'p0', 'p1' }, vim.tbl_map(function(p) return p.id end, Store.parts_of(copy).m1))
end)

io.stdout:write(('%d tests, %d failed\n'):format(ran, failed))
os.exit(failed == 0 and 0 or 1)
