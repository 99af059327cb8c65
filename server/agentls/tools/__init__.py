"""What a model can call: one file a tool."""
