--- A word to the user that never makes Neovim wait for a key: one line, no wider than the screen.
---@param text string
---@param level? integer of vim.log.levels
return function(text, level)
  local line = vim.trim((text:gsub('[%s%z]+', ' ')))
  local room = math.max(vim.o.columns - 16, 20)
  if vim.fn.strdisplaywidth(line) > room then line = vim.fn.strcharpart(line, 0, room - 1) .. '…' end
  vim.notify(line, level or vim.log.levels.INFO, { title = 'agentls' })
end
