--- The windows of one session: the conversation above, the prompt below, a line that says what goes on.
local Canvas = require('agentls.canvas')
local bar = require('agentls.bar')
local prompt = require('agentls.prompt')
local view = require('agentls.view')

local api = vim.api
local TROUBLE = api.nvim_create_namespace('agentls.trouble')
local FRAME = 33 -- milliseconds between two drawings
local PROMPT_HEIGHT = 5

---@class agentls.Chat
---@field id? string the session; none before the first prompt
---@field number integer of the chats of this Neovim
---@field copy? agentls.Copy
---@field buf integer
---@field prompt integer
---@field canvas agentls.Canvas
---@field outbox table[] prompts that the server has not confirmed
---@field private drawing boolean
---@field private clock? uv.uv_timer_t
---@field private link string
---@field private rebuilding? boolean
local Chat = {}
Chat.__index = Chat

local numbers = 0

local function scratch(name, filetype)
  local buf = api.nvim_create_buf(false, true)
  vim.bo[buf].bufhidden = 'hide'
  vim.bo[buf].swapfile = false
  vim.bo[buf].undolevels = filetype == 'agentls' and -1 or vim.o.undolevels
  api.nvim_buf_set_name(buf, name)
  vim.bo[buf].filetype = filetype
  return buf
end

---@param agent table the controller, `agentls.agent`
---@param id? string
---@return agentls.Chat
function Chat.new(agent, id)
  numbers = numbers + 1
  local self = setmetatable({ id = id, number = numbers, agent = agent, outbox = {}, drawing = false, link = '' }, Chat)
  self:build()
  return self
end

function Chat:build()
  self.buf = scratch('agentls://chat/' .. self.number, 'agentls')
  self.prompt = scratch('agentls://prompt/' .. self.number, 'agentls-prompt')
  vim.bo[self.buf].modifiable = false
  self.canvas = Canvas.new(self.buf)
  self:map()
  api.nvim_create_autocmd('BufWinEnter', { buffer = self.buf, callback = function() self:draw_soon() end })
  prompt.attach(self)
  for _, buf in ipairs({ self.buf, self.prompt }) do
    api.nvim_create_autocmd('BufUnload', { buffer = buf, callback = function() self:rebuild() end })
  end
end

--- The user deletes one of the buffers: both are made anew, the session goes on, and what was typed stays.
function Chat:rebuild()
  if self.rebuilding then return end
  self.rebuilding = true
  local text = prompt.text(self)
  vim.schedule(function()
    for _, buf in ipairs({ self.buf, self.prompt }) do
      if api.nvim_buf_is_valid(buf) then api.nvim_buf_delete(buf, { force = true }) end
    end
    self:build()
    self.rebuilding = false
    prompt.set(self, text)
  end)
end

-- Windows -------------------------------------------------------------------------------------------------------------

---@param buf integer
---@return integer? win in this tab page
local function window_of(buf)
  for _, win in ipairs(api.nvim_tabpage_list_wins(0)) do
    if api.nvim_win_get_buf(win) == buf then return win end
  end
end

local function options(win, set)
  for name, value in pairs(set) do
    api.nvim_set_option_value(name, value, { win = win, scope = 'local' })
  end
end

local PLAIN = {
  number = false,
  relativenumber = false,
  signcolumn = 'no',
  foldcolumn = '0',
  list = false,
  spell = false,
  cursorline = false,
  wrap = true,
  linebreak = true,
  breakindent = true,
  colorcolumn = '',
  statuscolumn = ' ',
  fillchars = 'eob: ',
}

---@return boolean
function Chat:visible() return window_of(self.buf) ~= nil end

--- Shows the chat, in the windows of `instead` if that is shown, and goes to the prompt.
---@param instead? agentls.Chat
function Chat:show(instead)
  local win = window_of(self.buf)
  local old = not win and instead and window_of(instead.buf)
  if old then
    local below = window_of(instead.prompt)
    api.nvim_win_set_buf(old, self.buf)
    win = old
    if below then api.nvim_win_set_buf(below, self.prompt) end
  elseif not win then
    win = api.nvim_open_win(self.buf, true, { split = 'right', win = -1 })
  end
  options(
    win,
    vim.tbl_extend('force', PLAIN, { winfixwidth = true, statusline = ' agentls%=%P ', conceallevel = 2 })
  )
  local below = window_of(self.prompt)
  if not below then
    below = api.nvim_open_win(self.prompt, true, { split = 'below', win = win, height = PROMPT_HEIGHT })
  end
  options(
    below,
    vim.tbl_extend('force', PLAIN, { winfixheight = true, winfixwidth = true, statusline = ' prompt%=g? help ' })
  )
  self:share_width()
  api.nvim_win_set_cursor(win, { api.nvim_buf_line_count(self.buf), 0 })
  api.nvim_set_current_win(below)
  self:draw()
  self:show_trouble()
  self:bar()
end

--- Chats that stand side by side are equally wide, and leave room for the user's own windows.
function Chat:share_width()
  local wins = {}
  for _, chat in ipairs(self.agent.chats) do
    wins[#wins + 1] = window_of(chat.buf)
  end
  local share = #wins == 1 and 0.45 or 0.7 / #wins
  local width = math.min(math.max(math.floor(vim.o.columns * share), 40), math.max(vim.o.columns - 20, 20))
  for _, win in ipairs(wins) do
    api.nvim_win_set_width(win, width)
  end
end

function Chat:hide()
  for _, buf in ipairs({ self.prompt, self.buf }) do
    local win = window_of(buf)
    if win and #api.nvim_tabpage_list_wins(0) > 1 then api.nvim_win_close(win, true) end
  end
end

---@return boolean
function Chat:focused()
  local buf = api.nvim_get_current_buf()
  return buf == self.buf or buf == self.prompt
end

-- Drawing -------------------------------------------------------------------------------------------------------------

--- Notes a change; it is drawn with what else comes within a frame.
---@param change agentls.Change
function Chat:changed(change)
  local worth = self.canvas:note(change)
  if change.kind ~= 'append' then self:bar_soon() end
  if worth then self:draw_soon() end
end

function Chat:draw_soon()
  if self.drawing then return end
  self.drawing = true
  vim.defer_fn(function()
    self.drawing = false
    if #vim.fn.win_findbuf(self.buf) > 0 then self:draw() end
  end, FRAME)
end

function Chat:draw()
  if not self.trouble then api.nvim_buf_clear_namespace(self.buf, TROUBLE, 0, -1) end
  if not (self.copy and api.nvim_buf_is_valid(self.buf)) then return end
  local before = api.nvim_buf_line_count(self.buf)
  local following = {}
  for _, win in ipairs(vim.fn.win_findbuf(self.buf)) do
    if api.nvim_win_get_cursor(win)[1] >= before then following[#following + 1] = win end
  end
  local shown = vim.fn.win_findbuf(self.buf)[1]
  if shown then self.canvas.width = api.nvim_win_get_width(shown) - 1 end
  if self.canvas:flush(self.copy) then self:draw_soon() end
  local last = api.nvim_buf_line_count(self.buf)
  for _, win in ipairs(following) do
    api.nvim_win_set_cursor(win, { last, 0 })
  end
end

---@param link string the connection's state; empty if it is up
---@param failed? boolean nothing more is tried: the whole reason is shown below the conversation
function Chat:connection(link, failed)
  self.link = failed and 'agentls does not run' or link
  self.trouble = failed and link or nil
  self:show_trouble()
  self:bar()
end

--- What stands below the text without being part of it: why the server does not run, or a welcome.
function Chat:show_trouble()
  api.nvim_buf_clear_namespace(self.buf, TROUBLE, 0, -1)
  local win = window_of(self.buf)
  if not win or (self.id and not self.trouble) then return end
  local lines, width = {}, api.nvim_win_get_width(win) - 2
  local function add(text, group)
    for _, line in ipairs(view.wrap(text, width)) do
      lines[#lines + 1] = { { line, group } }
    end
  end
  if self.trouble then
    add(self.trouble, 'AgentlsError')
  else
    add('A new session in ' .. vim.fn.fnamemodify(self.agent.root(), ':~'), 'AgentlsQuiet')
    add('Write below what you want done. @ attaches a file, g? helps.', 'AgentlsQuiet')
    if self.agent.untrusted > 0 then
      add(
        ('Settings of this folder wait for your trust (%d): :AgentTrust shows them.'):format(self.agent.untrusted),
        'AgentlsWait'
      )
    end
  end
  api.nvim_buf_set_extmark(self.buf, TROUBLE, api.nvim_buf_line_count(self.buf) - 1, 0, { virt_lines = lines })
end

function Chat:bar_soon()
  if self.bar_due then return end
  self.bar_due = true
  vim.defer_fn(function()
    self.bar_due = false
    self:bar()
  end, FRAME)
end

--- The lines above the chat and above the prompt. While a retry counts down they are written anew again and again.
function Chat:bar()
  local counting = self.copy and self.copy.status.type == 'retry'
  if counting and not self.clock then
    self.clock = assert(vim.uv.new_timer())
    self.clock:start(250, 250, vim.schedule_wrap(function() self:bar() end))
  elseif not counting and self.clock then
    self.clock:close()
    self.clock = nil
  end
  for _, win in ipairs(vim.fn.win_findbuf(self.buf)) do
    options(win, { winbar = bar.text(self.copy, self.link, api.nvim_win_get_width(win)) })
  end
  local hint = bar.hint(self, prompt.keys, self.agent.how_to_answer)
  for _, win in ipairs(vim.fn.win_findbuf(self.prompt)) do
    options(win, { winbar = hint })
  end
end

-- Keys ----------------------------------------------------------------------------------------------------------------

--- The help, also where nobody has made its tags.
local function help()
  if pcall(vim.cmd.help, 'agentls-keys') then return end
  local file = vim.api.nvim_get_runtime_file('doc/agentls.txt', false)[1]
  vim.cmd.split({ vim.fn.fnameescape(file) })
  vim.bo.filetype = 'help'
end

function Chat:map()
  local function map(keys, does, what)
    for _, key in ipairs(keys) do
      vim.keymap.set('n', key, does, { buffer = self.buf, nowait = true, desc = 'agentls: ' .. what })
    end
  end
  local function line() return api.nvim_win_get_cursor(0)[1] end
  map({ '<CR>', '<Tab>', 'za' }, function()
    if self.canvas:toggle(line()) then self:draw() end
  end, 'open or close')
  map({ 'zR' }, function()
    self.canvas:toggle_all(true)
    self:draw()
  end, 'open all')
  map({ 'zM' }, function()
    self.canvas:toggle_all(false)
    self:draw()
  end, 'close all')
  for key, step in pairs({ [']]'] = 1, ['[['] = -1 }) do
    map({ key }, function()
      local at = self.canvas:header(line(), step)
      if at then api.nvim_win_set_cursor(0, { at, 0 }) end
    end, step > 0 and 'next message' or 'message before')
  end
  map({ 'i', 'a' }, function()
    local win = window_of(self.prompt)
    if win then
      api.nvim_set_current_win(win)
      vim.cmd.startinsert({ bang = true })
    end
  end, 'write a prompt')
  map({ 'q' }, function() self:hide() end, 'hide')
  for _, buf in ipairs({ self.buf, self.prompt }) do
    vim.keymap.set('n', 'g?', help, { buffer = buf, desc = 'agentls: help' })
  end
  map({ '<C-c>' }, function() self.agent.abort(self) end, 'stop')
  map({ 'gp' }, function() self.agent.earlier(self) end, 'earlier messages')
end

return Chat
