--- Commands and <Plug> mappings. Nothing is loaded before the first of them is used, and no key is taken.
if vim.g.loaded_agentls then return end
vim.g.loaded_agentls = true

local function run(name)
  return function(opts) require('agentls').run(name, opts) end
end

local function command(name, does, what, more)
  vim.api.nvim_create_user_command(name, run(does), vim.tbl_extend('error', { desc = 'agentls: ' .. what }, more or {}))
end

local function completes(what)
  return function(lead) return require('agentls').complete(what, lead) end
end

command('Agent', 'agent', 'show or hide the chat; ! begins a new session beside it', { nargs = '*', bang = true })
command(
  'AgentSend',
  'send',
  'send words, and with a range the lines; ! after the turn that runs',
  { nargs = '*', bang = true, range = true }
)
command('AgentAbort', 'abort', 'stop; ! clears the queue too', { bang = true })
command('AgentShell', 'shell', 'run a command of yours in the session', { nargs = '+', complete = 'shellcmd' })
command('AgentSessions', 'sessions', 'choose a session; ! of all folders', { nargs = '*', bang = true })
command('AgentMode', 'mode', 'ask, acceptEdits or auto', { nargs = '?', complete = completes('mode') })
command('AgentModel', 'model', 'choose the model', { nargs = '?', complete = completes('model') })
command('AgentAgent', 'who', 'choose the agent', { nargs = '?', complete = completes('agent') })
command('AgentTrust', 'trust', 'what the settings of the folder want; ! takes the trust back', { bang = true })
command('AgentLog', 'log', 'the log of the server')
command('AgentPermissions', 'permissions', 'answer what is open; ! the stored rules', { bang = true })
command('AgentQueue', 'queue', 'take a prompt out of the queue')
command('AgentRestart', 'restart', 'restart the server; sessions go on')

local plugs = {
  toggle = 'agent',
  send = 'send',
  abort = 'abort',
  sessions = 'sessions',
  mode = 'mode',
  model = 'model',
  agent = 'who',
  permissions = 'permissions',
  queue = 'queue',
}
for name, does in pairs(plugs) do
  vim.keymap.set('n', '<Plug>(agentls-' .. name .. ')', run(does), { desc = 'agentls: ' .. name })
end
vim.keymap.set('x', '<Plug>(agentls-send)', ':AgentSend ', { desc = 'agentls: send the selected lines' })
