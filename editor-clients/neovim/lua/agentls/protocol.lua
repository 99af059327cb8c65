-- The names of the protocol's messages, written from protocol.schema.json. Change the table of messages, not this file.
local M = {}

M.VERSION = 1

--- Requests from the editor to the server.
---@enum agentls.Request
M.request = {
  agent_list = 'agent/list',
  command_list = 'command/list',
  config_get = 'config/get',
  file_find = 'file/find',
  mcp_status = 'mcp/status',
  model_list = 'model/list',
  part_get = 'part/get',
  permission_forget = 'permission/forget',
  permission_list = 'permission/list',
  permission_reply = 'permission/reply',
  permission_rules = 'permission/rules',
  question_list = 'question/list',
  question_reject = 'question/reject',
  question_reply = 'question/reply',
  queue_list = 'queue/list',
  queue_remove = 'queue/remove',
  server_status = 'server/status',
  session_abort = 'session/abort',
  session_attach = 'session/attach',
  session_children = 'session/children',
  session_command = 'session/command',
  session_compact = 'session/compact',
  session_continue = 'session/continue',
  session_create = 'session/create',
  session_delete = 'session/delete',
  session_diff = 'session/diff',
  session_export = 'session/export',
  session_fork = 'session/fork',
  session_get = 'session/get',
  session_list = 'session/list',
  session_messages = 'session/messages',
  session_prompt = 'session/prompt',
  session_revert = 'session/revert',
  session_shell = 'session/shell',
  session_todo = 'session/todo',
  session_unrevert = 'session/unrevert',
  session_update = 'session/update',
  skill_list = 'skill/list',
  tool_cancel = 'tool/cancel',
  tool_list = 'tool/list',
  workspace_trust = 'workspace/trust',
}

--- Requests from the server to the editor.
---@enum agentls.EditorRequest
M.editor = {
  document_save = 'document/save',
  editor_context = 'editor/context',
  editor_diagnostics = 'editor/diagnostics',
}

--- Notifications from the server to the editor.
---@enum agentls.Notification
M.notification = {
  file_edited = 'file/edited',
  message_removed = 'message/removed',
  message_updated = 'message/updated',
  notice = 'notice',
  part_delta = 'part/delta',
  part_removed = 'part/removed',
  part_updated = 'part/updated',
  permission_asked = 'permission/asked',
  permission_resolved = 'permission/resolved',
  question_asked = 'question/asked',
  question_resolved = 'question/resolved',
  queue_changed = 'queue/changed',
  server_status = 'server/status',
  session_created = 'session/created',
  session_deleted = 'session/deleted',
  session_diff = 'session/diff',
  session_resync = 'session/resync',
  session_status = 'session/status',
  session_updated = 'session/updated',
  session_usage = 'session/usage',
  todo_updated = 'todo/updated',
  turn_ended = 'turn/ended',
  turn_started = 'turn/started',
}

return M
