"""agentls, the agent language server."""

__version__ = "0.1.0"
