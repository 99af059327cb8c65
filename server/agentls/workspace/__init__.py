"""The project on disk: files, processes, search."""
