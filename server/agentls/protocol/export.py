"""JSON Schema, TypeScript and the reference page, generated from the table of messages."""

from agentls.protocol._digest import DIGEST


def schema_digest() -> str:
    """Of the protocol's schema; a client that was made for another one can say so."""
    return DIGEST
