--- Colours for Markdown that is still being written: line by line, so that a long answer costs no more than a short one.
local M = {}

---@class agentls.Mark
---@field line integer 0-based, within the lines that were given
---@field from integer byte column
---@field to integer
---@field group? string
---@field hide? boolean a sign that only the source needs

---@class agentls.MarkdownState
---@field fence? string the fence that is open

local MAX = 2000

--- Groups and signs within a line. A pattern captures the places where its text begins and where it ends.
local INLINE = {
  { '`()[^`]+()`', 'AgentlsCode' },
  { '%*%*()[^*]+()%*%*', 'AgentlsBold' },
  { '%[()[^%]]+()%]%([^)]+%)', 'AgentlsLink' },
}

local function hide(marks, at, from, to) marks[#marks + 1] = { line = at, from = from, to = to, hide = true } end

local function inline(line, at, marks)
  local code = {}
  for _, kind in ipairs(INLINE) do
    local pattern, group = kind[1], kind[2]
    local from = 1
    while true do
      local s, e, text, rest = line:find(pattern, from)
      if not s then break end
      if not code[s] then
        marks[#marks + 1] = { line = at, from = s - 1, to = e, group = group }
        hide(marks, at, s - 1, text - 1)
        hide(marks, at, rest - 1, e)
        for i = s, group == 'AgentlsCode' and e or s - 1 do
          code[i] = true
        end
      end
      from = e + 1
    end
  end
end

---@param lines string[]
---@param state agentls.MarkdownState changed in place
---@return agentls.Mark[]
function M.marks(lines, state)
  local marks = {}
  for index, line in ipairs(lines) do
    local at = index - 1
    local fence = line:match('^%s*(```+)') or line:match('^%s*(~~~+)')
    local whole = { line = at, from = 0, to = #line }
    if fence and (not state.fence or vim.startswith(fence, state.fence)) then
      state.fence = not state.fence and fence or nil
      marks[#marks + 1] = vim.tbl_extend('error', whole, { group = 'AgentlsFence' })
      hide(marks, at, 0, select(2, line:find(fence, 1, true)))
    elseif state.fence then
      marks[#marks + 1] = vim.tbl_extend('error', whole, { group = 'AgentlsCodeBlock' })
    elseif line:find('^#+%s') then
      marks[#marks + 1] = vim.tbl_extend('error', whole, { group = 'AgentlsHeading' })
      hide(marks, at, 0, #line:match('^#+%s+'))
    elseif #line <= MAX then
      local bullet = line:match('^%s*[-*+]%s') or line:match('^%s*%d+[.)]%s')
      if bullet then marks[#marks + 1] = { line = at, from = 0, to = #bullet, group = 'AgentlsBullet' } end
      inline(line, at, marks)
    end
  end
  return marks
end

--- The marks of a unified diff.
---@param lines string[]
---@return agentls.Mark[]
function M.diff(lines)
  local marks = {}
  for index, line in ipairs(lines) do
    local first = line:sub(1, 1)
    local group = line:find('^@@') and 'AgentlsHunk'
      or line:find('^[-+][-+][-+] ') and 'AgentlsFile'
      or first == '+' and 'AgentlsAdded'
      or first == '-' and 'AgentlsRemoved'
    if group then marks[#marks + 1] = { line = index - 1, from = 0, to = #line, group = group } end
  end
  return marks
end

local LINKS = {
  AgentlsUser = 'String',
  AgentlsAgent = 'Function',
  AgentlsQuiet = 'Comment',
  AgentlsHeading = 'Title',
  AgentlsCode = 'String',
  AgentlsCodeBlock = 'String',
  AgentlsFence = 'Comment',
  AgentlsBold = '@markup.strong',
  AgentlsLink = 'Underlined',
  AgentlsBullet = 'Delimiter',
  AgentlsAdded = 'Added',
  AgentlsRemoved = 'Removed',
  AgentlsHunk = 'Identifier',
  AgentlsFile = 'Directory',
  AgentlsTool = 'Identifier',
  AgentlsOk = 'DiagnosticOk',
  AgentlsError = 'DiagnosticError',
  AgentlsWait = 'DiagnosticWarn',
  AgentlsBusy = 'DiagnosticInfo',
  AgentlsKey = 'Special',
  AgentlsTitle = 'FloatTitle',
  AgentlsOutput = 'Comment',
}

--- Highlight groups, all of them links that a colour scheme or the user may override.
function M.groups()
  for name, link in pairs(LINKS) do
    vim.api.nvim_set_hl(0, name, { link = link, default = true })
  end
end

return M
