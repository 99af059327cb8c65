"""Commands of the program; the only place that prints."""
