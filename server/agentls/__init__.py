"""agentls, the agent language server."""
