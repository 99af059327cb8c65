-- Another language server, inside Neovim, for the tests of how the two get along: `_G.other` is its configuration.
local START = { line = 0, character = 0 }
local WHOLE = { start = START, ['end'] = { line = 0, character = 5 } }

local answers = {
  initialize = {
    capabilities = {
      textDocumentSync = { openClose = true, change = 2 },
      hoverProvider = true,
      documentFormattingProvider = true,
      renameProvider = true,
      codeLensProvider = {},
    },
  },
  ['textDocument/hover'] = { contents = 'hover of the other' },
  ['textDocument/formatting'] = { { range = WHOLE, newText = 'right' } },
  ['textDocument/codeLens'] = { { range = WHOLE, command = { title = 'lens of the other', command = 'x' } } },
}

answers['textDocument/rename'] = function(params)
  return { changes = { [params.textDocument.uri] = { { range = WHOLE, newText = params.newName } } } }
end

local function connect()
  local closed = false
  local server = {}
  function server.request(method, params, callback)
    local answer = answers[method]
    if type(answer) == 'function' then answer = answer(params) end
    vim.schedule(function() callback(nil, answer or vim.NIL) end)
    return true, 1
  end
  function server.notify() return true end
  function server.is_closing() return closed end
  function server.terminate() closed = true end
  return server
end

_G.other = { name = 'other', cmd = connect }
