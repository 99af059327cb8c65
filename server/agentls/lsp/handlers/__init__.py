"""One file a noun: thin mappings from params to the app."""

from agentls.lsp.handlers import catalog, permission, session, workspace

HANDLERS = (*session.HANDLERS, *permission.HANDLERS, *catalog.HANDLERS, *workspace.HANDLERS)
