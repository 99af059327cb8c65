"""Takes the standard streams for the protocol, so that nothing else can write into it or read from it."""

import os


def claim_stdio() -> tuple[int, int]:
    """Private duplicates of stdin and stdout, which children do not inherit. What is printed goes to stderr."""
    descriptor_in, descriptor_out = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return descriptor_in, descriptor_out
