"""The wire, and nothing but the wire."""
