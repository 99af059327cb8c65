-- Feeds a session's copy with deltas, as fast as notifications can come. Arguments: how many, and what each adds.
local count, words = ...
local agent = require('agentls.agent')
local store, chat = agent.store, agent.current
chat.id = 's'
chat.copy = store:open('s')
store:attached('s', {
  position = { epoch = 'e', seq = 0 },
  status = { type = 'busy' },
  pending = { permissions = {}, questions = {} },
  snapshot = {
    session = { id = 's', title = '', mode = 'ask', agent = 'build', usage = {} },
    todos = {},
    queue = {},
    messages = {
      {
        message = { id = 'm', pos = 1, role = 'assistant', agent = 'build', model = { modelId = 'x' } },
        parts = { { id = 'p', messageId = 'm', pos = 1, rev = 1, type = 'text', text = '' } },
      },
    },
  },
})
local text = string.rep(words, count)
function _G.feed()
  local at = 0
  local function some()
    local start = vim.uv.hrtime()
    while at < count and vim.uv.hrtime() - start < 5e6 do
      at = at + 1
      store:notified(
        'part/delta',
        { sessionId = 's', messageId = 'm', partId = 'p', field = 'text', base = at, rev = at + 1, delta = words }
      )
    end
    if at < count then return vim.schedule(some) end
    store:notified('part/updated', {
      sessionId = 's',
      seq = 5,
      part = { id = 'p', messageId = 'm', pos = 1, rev = at + 2, type = 'text', text = text },
    })
    store:notified('turn/ended', { sessionId = 's', seq = 6, turnId = 't', stopReason = 'done', usage = {} })
  end
  some()
end
