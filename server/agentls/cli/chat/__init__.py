"""`agentls chat`: a client of the protocol, in a terminal. It knows of the server what any client does: the wire."""
