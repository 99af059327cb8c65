"""Pure values: what is stored and what goes over the wire. No I/O."""
