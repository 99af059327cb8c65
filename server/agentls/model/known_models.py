"""Limits and prices of well-known hosted models, as their makers publish them. What is not here is unknown.

By provider; the first of each is the one to begin with. Columns: context, input limit, output limit (tokens), then US
dollars per million: input, output, cached input, cache write; then whether it reasons and whether it sees images.
"""

from typing import NamedTuple


class Known(NamedTuple):
    context: int
    input: int | None
    output: int | None
    cost_input: float
    cost_output: float
    cache_read: float | None
    cache_write: float | None
    reasoning: bool
    attachment: bool


MODELS: dict[str, dict[str, Known]] = {
    "openai": {
        "gpt-4.1": Known(1_047_576, None, 32_768, 2.0, 8.0, 0.5, None, False, True),
        "gpt-4.1-mini": Known(1_047_576, None, 32_768, 0.4, 1.6, 0.1, None, False, True),
        "gpt-4.1-nano": Known(1_047_576, None, 32_768, 0.1, 0.4, 0.025, None, False, True),
        "gpt-4o": Known(128_000, None, 16_384, 2.5, 10.0, 1.25, None, False, True),
        "gpt-4o-mini": Known(128_000, None, 16_384, 0.15, 0.6, 0.075, None, False, True),
        "gpt-5": Known(400_000, 272_000, 128_000, 1.25, 10.0, 0.125, None, True, True),
        "gpt-5-mini": Known(400_000, 272_000, 128_000, 0.25, 2.0, 0.025, None, True, True),
        "gpt-5-nano": Known(400_000, 272_000, 128_000, 0.05, 0.4, 0.005, None, True, True),
        "o3": Known(200_000, None, 100_000, 2.0, 8.0, 0.5, None, True, True),
        "o4-mini": Known(200_000, None, 100_000, 1.1, 4.4, 0.275, None, True, True),
    },
    "anthropic": {
        "claude-sonnet-4": Known(200_000, None, 64_000, 3.0, 15.0, 0.3, 3.75, True, True),
        "claude-3.5-haiku": Known(200_000, None, 8_192, 0.8, 4.0, 0.08, 1.0, False, True),
        "claude-opus-4.1": Known(200_000, None, 32_000, 15.0, 75.0, 1.5, 18.75, True, True),
    },
    "gemini": {
        "gemini-2.5-flash": Known(1_048_576, None, 65_536, 0.3, 2.5, 0.075, None, True, True),
        "gemini-2.5-pro": Known(1_048_576, None, 65_536, 1.25, 10.0, 0.31, None, True, True),
        "gemini-2.5-flash-lite": Known(1_048_576, None, 65_536, 0.1, 0.4, 0.025, None, True, True),
        "gemini-2.0-flash": Known(1_048_576, None, 8_192, 0.1, 0.4, 0.025, None, False, True),
    },
    "deepseek": {
        "deepseek-chat": Known(131_072, None, 8_192, 0.28, 0.42, 0.028, None, False, False),
        "deepseek-reasoner": Known(131_072, None, 65_536, 0.28, 0.42, 0.028, None, True, False),
    },
    "xai": {
        "grok-code-fast-1": Known(256_000, None, None, 0.2, 1.5, 0.02, None, True, False),
        "grok-4": Known(256_000, None, None, 3.0, 15.0, 0.75, None, True, True),
        "grok-3": Known(131_072, None, None, 3.0, 15.0, 0.75, None, False, False),
        "grok-3-mini": Known(131_072, None, None, 0.3, 0.5, 0.075, None, True, False),
    },
    "groq": {
        "openai/gpt-oss-120b": Known(131_072, None, 65_536, 0.15, 0.6, None, None, True, False),
        "openai/gpt-oss-20b": Known(131_072, None, 65_536, 0.075, 0.3, None, None, True, False),
        "llama-3.3-70b-versatile": Known(131_072, None, 32_768, 0.59, 0.79, None, None, False, False),
        "llama-3.1-8b-instant": Known(131_072, None, 131_072, 0.05, 0.08, None, None, False, False),
    },
}

# OpenRouter names models as maker/model and passes the makers' prices on.
MAKERS = {"openai": "openai", "anthropic": "anthropic", "google": "gemini", "deepseek": "deepseek", "x-ai": "xai"}


def known(provider: str, model: str) -> Known | None:
    if provider == "openrouter":
        maker, _, name = model.partition("/")
        provider, model = MAKERS.get(maker, ""), name.partition(":")[0]
        if provider == "deepseek":
            return None  # its open models are served by many, each at a price of its own
    return MODELS.get(provider, {}).get(model)
