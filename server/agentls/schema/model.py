"""Which model, and what it used."""

from agentls.schema.base import Value


class ModelRef(Value):
    """A model by name. In settings it is written `provider/model`."""

    provider_id: str
    model_id: str
    variant: str | None = None

    def __str__(self) -> str:
        return f"{self.provider_id}/{self.model_id}"


class CacheTokens(Value):
    read: int = 0
    write: int = 0


class Tokens(Value):
    """`input` is without the cached ones, `output` without the reasoning."""

    input: int = 0
    output: int = 0
    reasoning: int = 0
    cache: CacheTokens = CacheTokens()

    @property
    def total(self) -> int:
        return self.input + self.output + self.reasoning + self.cache.read + self.cache.write

    def __add__(self, other: "Tokens") -> "Tokens":
        return Tokens(
            input=self.input + other.input,
            output=self.output + other.output,
            reasoning=self.reasoning + other.reasoning,
            cache=CacheTokens(read=self.cache.read + other.cache.read, write=self.cache.write + other.cache.write),
        )


class Usage(Value):
    """What a step, a turn or a session used. `cost` is in US dollars; absent where no price is known."""

    tokens: Tokens = Tokens()
    cost: float | None = None

    def __add__(self, other: "Usage") -> "Usage":
        costs = [c for c in (self.cost, other.cost) if c is not None]
        return Usage(tokens=self.tokens + other.tokens, cost=sum(costs) if costs else None)
