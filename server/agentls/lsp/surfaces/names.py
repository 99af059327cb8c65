"""The commands' names."""

PROMPT = "agentls.prompt"
ABORT = "agentls.abort"
SHELL = "agentls.shell"
PERMISSIONS = "agentls.permissions"
REPLY = "agentls.reply"
NEW_SESSION = "agentls.newSession"

ALL = (PROMPT, ABORT, SHELL, PERMISSIONS, REPLY, NEW_SESSION)
