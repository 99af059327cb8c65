-- Opens a session with a long history, as fast as an answer can come. Arguments: how many messages, half of them with a tool.
local count = ...
local agent = require('agentls.agent')
local store, chat = agent.store, agent.current
local messages = {}
for at = 1, count do
  local user = at % 2 == 1
  local id = ('m%05d'):format(at)
  local message =
    { id = id, pos = at, role = user and 'user' or 'assistant', agent = 'build', model = { modelId = 'x' } }
  local words = ('Words of **message** %d with `code`.\n\n```lua\nlocal x = %d\n```\n- a point'):format(at, at)
  local parts =
    { { id = id .. 'p', messageId = id, pos = 1, rev = 1, type = 'text', text = user and 'Go on' or words } }
  if not user then
    local state = {
      status = 'completed',
      input = { command = 'make test' },
      output = ('line\n'):rep(200),
      time = { start = 1, ['end'] = 3000 },
    }
    parts[2] = { id = id .. 't', messageId = id, pos = 2, rev = 1, type = 'tool', tool = 'bash', state = state }
  end
  messages[at] = { message = message, parts = parts }
end
_G.history = {
  position = { epoch = 'e', seq = 0 },
  status = { type = 'idle' },
  pending = { permissions = {}, questions = {} },
  turn = { id = 't', state = 'ended', stopReason = 'done' },
  snapshot = {
    session = { id = 's', title = 'Long', mode = 'ask', agent = 'build', usage = {} },
    todos = {},
    queue = {},
    messages = messages,
  },
}
chat.id = 's'
chat.copy = store:open('s')
function _G.feed() store:attached('s', _G.history) end
