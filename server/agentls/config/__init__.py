"""Settings, agents, prompts, paths and trust."""
