"""The loop and all that a turn does."""
