--- What a session looks like, as blocks of lines with colours. No windows here: text in, text out.
local Store = require('agentls.store')
local markdown = require('agentls.markdown')

local M = {}

---@class agentls.Block
---@field key string
---@field lines string[]
---@field marks agentls.Mark[]
---@field text? string Markdown in place of lines, which may grow; it is drawn piece by piece
---@field folds? boolean whether it can be opened and closed

local UNNAMED = 'New session' -- what the server calls one that has no title yet
local LIVE = 8 -- lines of output shown of a tool that runs
local LONG = 400 -- lines shown of one that is opened

local ICON = { pending = '○', running = '◐', completed = '✓', error = '✗' }
local COLOUR = { pending = 'AgentlsQuiet', running = 'AgentlsBusy', completed = 'AgentlsOk', error = 'AgentlsError' }
local TODO = { pending = '○', in_progress = '◐', completed = '●', cancelled = '⊘' }

--- Text in lines, without carriage returns and NULs, which a buffer would show as rubbish.
---@param text string
---@return string[]
function M.lines(text) return vim.split((text:gsub('\r\n', '\n'):gsub('%z', '')), '\n', { plain = true }) end

local function mark(block, line, from, to, group)
  block.marks[#block.marks + 1] = { line = line, from = from, to = to, group = group }
end

--- A buffer takes no line with a line feed in it, and Vim's functions no NUL, and models write both.
local function add(block, line, group)
  line = line:gsub('[\n%z]', ' ')
  block.lines[#block.lines + 1] = line
  if group then mark(block, #block.lines - 1, 0, #line, group) end
end

--- A text on one line of at most so many characters.
---@param text? string
---@param limit integer
---@return string
function M.one_line(text, limit)
  text = vim.trim((text or ''):gsub('[%s%z]+', ' '))
  return vim.fn.strcharlen(text) > limit and vim.fn.strcharpart(text, 0, limit - 1) .. '…' or text
end

--- Breaks a text's lines between words, and words that are longer than a line.
---@param text string
---@param width integer
---@return string[]
function M.wrap(text, width)
  local lines = {}
  width = math.max(width, 2) -- of a window that has no room for words, and a word must grow shorter
  for _, given in ipairs(M.lines(text)) do
    lines[#lines + 1] = ''
    for word in given:gmatch('%S+') do
      while vim.fn.strdisplaywidth(word) > width do
        lines[lines[#lines] == '' and #lines or #lines + 1] = vim.fn.strcharpart(word, 0, width)
        lines[#lines + 1] = ''
        word = vim.fn.strcharpart(word, width)
      end
      local longer = lines[#lines] == '' and word or lines[#lines] .. ' ' .. word
      local fits = vim.fn.strdisplaywidth(longer) <= width
      lines[fits and #lines or #lines + 1] = fits and longer or word
    end
  end
  return lines
end

local function seconds(time)
  if not (time and time.start and time['end']) then return '' end
  local s = (time['end'] - time.start) / 1000
  return s < 1 and '' or s < 60 and ('%.0f s'):format(s) or ('%d min %02d s'):format(s / 60, s % 60)
end

--- What a call is about, in few words.
---@param part table
---@param room integer
local function subject(part, room)
  local state = part.state
  local input = state.input or {}
  local path = input.filePath or input.path
  local text = part.tool == 'bash' and input.command
    or state.title
    or path and vim.fn.fnamemodify((tostring(path):gsub('%z', '')), ':.')
    or input.pattern
    or input.description
    or ''
  return M.one_line(tostring(text), math.max(room, 10))
end

local function output_of(part)
  local state = part.state
  if state.status == 'running' then return Store.text(part, 'output') end
  return state.status == 'error' and state.error or state.output or ''
end

--- A patch without the two lines that only name the file again.
---@param patch string
---@return string
function M.patch(patch) return (patch:gsub('^%-%-%- [^\n]*\n%+%+%+ [^\n]*\n', '')) end

local function details(block, part)
  local diff = vim.tbl_get(part.state, 'metadata', 'diff')
  local text = vim.trim(diff and M.patch(diff) or output_of(part))
  local lines = text == '' and {} or M.lines(text)
  local cut = #lines - LONG
  local shown = cut > 0 and vim.list_slice(lines, 1, LONG) or lines
  local base = #block.lines
  for _, line in ipairs(shown) do
    add(block, '  │ ' .. line, not diff and 'AgentlsOutput' or nil)
  end
  for _, m in ipairs(diff and markdown.diff(shown) or {}) do
    mark(block, base + m.line, #'  │ ', #'  │ ' + m.to, m.group)
  end
  if diff then
    for line = base, base + #shown - 1 do
      mark(block, line, 0, #'  │ ', 'AgentlsOutput')
    end
  end
  if cut > 0 then add(block, ('  │ … %d more lines'):format(cut), 'AgentlsQuiet') end
  if #lines == 0 then add(block, '  │ (no output)', 'AgentlsQuiet') end
end

---@param part table
---@param opened boolean
---@param asked? table the question that the call waits for
---@param width integer
---@return agentls.Block
function M.tool(part, opened, asked, width)
  local status = part.state.status
  local block = { key = part.id, lines = {}, marks = {}, folds = true }
  local icon = asked and '?' or ICON[status]
  local head = ('%s %s'):format(icon, M.one_line(part.tool, 60))
  local took = seconds(part.state.time)
  local rest = subject(part, width - vim.fn.strdisplaywidth(head) - #took - 5)
  add(block, head .. (rest ~= '' and '  ' .. rest or '') .. (took ~= '' and '  ' .. took or ''))
  mark(block, 0, 0, #icon, asked and 'AgentlsWait' or COLOUR[status])
  mark(block, 0, #icon, #head, 'AgentlsTool')
  mark(block, 0, #block.lines[1] - #took, #block.lines[1], 'AgentlsQuiet')
  if asked then
    add(block, '  │ waits for your answer: :AgentPermissions', 'AgentlsWait')
  elseif opened then
    details(block, part)
  elseif status == 'running' then
    local text = vim.trim(Store.text(part, 'output'))
    local lines = text == '' and {} or M.lines(text:sub(-4000))
    for _, line in ipairs(vim.list_slice(lines, math.max(1, #lines - LIVE + 1))) do
      add(block, '  │ ' .. line, 'AgentlsOutput')
    end
  elseif status == 'error' then
    add(block, '  │ ' .. M.one_line(part.state.error, 160), 'AgentlsError')
  end
  return block
end

---@return agentls.Block
function M.text(part) return { key = part.id, lines = {}, marks = {}, text = Store.text(part, 'text') } end

---@return agentls.Block
function M.thought(part, opened)
  local block = { key = part.id, lines = {}, marks = {}, folds = true }
  local took = seconds(part.time)
  local done = part.time and part.time['end']
  local text = vim.trim(Store.text(part, 'text'))
  local last = done and '' or M.one_line(text:sub(-300):match('[^\n]*$') or '', 70)
  add(
    block,
    (done and '∴ thought' or '∴ thinking')
      .. (took ~= '' and ' for ' .. took or '')
      .. (last ~= '' and '  ' .. last or ''),
    'AgentlsQuiet'
  )
  if opened then
    for _, line in ipairs(M.lines(text)) do
      add(block, '  │ ' .. line, 'AgentlsQuiet')
    end
  end
  return block
end

local SHOWN = { reasoning = true, tool = true, file = true, subtask = true, compaction = true }

--- Whether a part is to be seen.
---@param part table
---@return boolean
function M.shows(part)
  if part.type == 'text' then return not part.synthetic end
  return SHOWN[part.type] or false
end

---@return agentls.Block
function M.part(part, opened, asked, width)
  if part.type == 'text' then return M.text(part) end
  if part.type == 'reasoning' then return M.thought(part, opened) end
  if part.type == 'tool' then return M.tool(part, opened, asked, width) end
  local block = { key = part.id, lines = {}, marks = {} }
  if part.type == 'file' then
    add(block, '⎘ ' .. M.one_line(part.filename or part.url, 200), 'AgentlsQuiet')
  elseif part.type == 'subtask' then
    add(block, '⑂ ' .. part.agent .. '  ' .. part.description, 'AgentlsTool')
  else
    add(block, '── the conversation before this was summed up ──', 'AgentlsQuiet')
  end
  return block
end

---@param message table
---@return agentls.Block
function M.header(message)
  local user = message.role == 'user'
  local block = { key = 'head:' .. message.id, lines = { '' }, marks = {} }
  local name = user and 'You' or message.agent
  local line = ('▍ %s'):format(name)
  local rest = user and '' or ('  %s'):format(message.model.modelId)
  add(block, line .. rest)
  mark(block, 1, 0, #line, user and 'AgentlsUser' or 'AgentlsAgent')
  mark(block, 1, 0, #line, 'AgentlsBold')
  mark(block, 1, #line, #line + #rest, 'AgentlsQuiet')
  return block
end

--- A session's title; before it has one, the words it began with.
---@param copy agentls.Copy
---@return string
function M.title(copy)
  local title = copy.session and copy.session.title or ''
  if title ~= '' and title ~= UNNAMED then return title end
  if not copy.opening then
    local first, words
    for _, part in pairs(copy.parts) do
      local message = copy.messages[part.messageId]
      local said = part.type == 'text' and not part.synthetic and message and message.role == 'user'
      if said and (not first or message.pos < first.pos) then
        first, words = message, part.text
      end
    end
    copy.opening = words and vim.trim(words) or nil
  end
  return copy.opening or UNNAMED
end

local STOPPED = {
  cancelled = 'stopped',
  rejected = 'stopped: you said no',
  max_steps = 'stopped at the limit of steps',
  length = 'cut off at the limit of length',
  content_filter = 'stopped by the content filter',
  error = 'failed',
}

--- What stands below the conversation: how the turn ended, todos, queue.
---@param copy agentls.Copy
---@return agentls.Block
function M.tail(copy)
  local block = { key = 'tail', lines = {}, marks = {} }
  local turn = copy.turn
  if turn and turn.state == 'ended' and STOPPED[turn.stopReason] then
    local why = vim.tbl_get(turn, 'error', 'data', 'message')
    local failed = turn.stopReason == 'error'
    add(block, '')
    for index, line in ipairs(M.lines('■ ' .. STOPPED[turn.stopReason] .. (failed and why and ': ' .. why or ''))) do
      add(block, index == 1 and line or '  ' .. line, failed and 'AgentlsError' or 'AgentlsWait')
    end
  end
  if copy.status.type == 'retry' then
    add(block, '')
    for _, line in ipairs(M.lines('↻ ' .. copy.status.message)) do
      add(block, line, 'AgentlsWait')
    end
  end
  if #copy.todos > 0 then
    local done = #vim.tbl_filter(function(t) return t.status == 'completed' end, copy.todos)
    local all = done == #copy.todos
    add(block, '')
    add(
      block,
      ('%sTo do  %d of %d'):format(all and '✓ ' or '', done, #copy.todos),
      all and 'AgentlsQuiet' or 'AgentlsHeading'
    )
    for _, todo in ipairs(all and {} or copy.todos) do
      local over = todo.status == 'completed' or todo.status == 'cancelled'
      add(
        block,
        ('  %s %s'):format(TODO[todo.status], M.one_line(todo.content, 200)),
        over and 'AgentlsQuiet' or todo.status == 'in_progress' and 'AgentlsBusy' or nil
      )
    end
  end
  if #copy.queue > 0 then
    add(block, '')
    add(block, ('Queued  %d'):format(#copy.queue), 'AgentlsHeading')
    for _, item in ipairs(copy.queue) do
      add(block, '  → ' .. M.one_line(item.text, 200), 'AgentlsQuiet')
    end
  end
  return block
end

return M
