"""Stand-ins for the world outside: real servers and programs with scripted behaviour."""
