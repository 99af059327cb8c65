--- `:checkhealth agentls`
local M = {}

local function version_of(cmd)
  local ok, result = pcall(function() return vim.system({ cmd, '--version' }, { text = true }):wait(10000) end)
  return ok and result.code == 0 and vim.trim(result.stdout) or nil
end

function M.check()
  local health, server = vim.health, require('agentls.server')
  health.start('agentls')
  if vim.fn.has('nvim-0.10') == 1 then
    health.ok('Neovim ' .. tostring(vim.version()))
  else
    health.error('Neovim 0.10 or newer is needed')
  end
  if next(require('agentls').options) == nil and server.state == 'down' then require('agentls').run('nothing') end
  local cmd, problem = server.find()
  if not cmd then return health.error(problem) end
  local version = version_of(cmd[1])
  if version then
    health.ok(('%s (%s)'):format(vim.fn.exepath(cmd[1]), version))
  else
    health.error(server.broken(cmd[1]) or vim.fn.exepath(cmd[1]) .. ' does not run', {
      'Try `' .. cmd[1] .. ' --version` in a terminal.',
    })
  end
  health.info('Folder: ' .. server.root())
  if server.state == 'up' then
    health.ok('The server runs')
  elseif server.state == 'failed' then
    health.error(server.reason)
  else
    health.info('The server is not running; the first :Agent starts it')
  end
end

return M
