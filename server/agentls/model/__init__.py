"""Language models: one port, its implementations and what surrounds a request."""
