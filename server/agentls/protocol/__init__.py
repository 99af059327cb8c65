"""The table of methods and what is generated from it."""
