"""What a client with no code of ours is given, by LSP's own methods."""
