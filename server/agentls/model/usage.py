"""What tokens cost."""

from dataclasses import dataclass

from agentls.schema.model import Tokens


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars per million tokens. Where a price of the cache is unknown, that of the input holds."""

    input: float
    output: float
    cache_read: float | None = None
    cache_write: float | None = None


def cost(tokens: Tokens | None, price: Price | None) -> float | None:
    """US dollars; None where the tokens or the price are unknown. Reasoning is paid as output."""
    if tokens is None or price is None:
        return None
    read = price.input if price.cache_read is None else price.cache_read
    write = price.input if price.cache_write is None else price.cache_write
    total = (
        tokens.input * price.input
        + (tokens.output + tokens.reasoning) * price.output
        + tokens.cache.read * read
        + tokens.cache.write * write
    )
    return total / 1_000_000
