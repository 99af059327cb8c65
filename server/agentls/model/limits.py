"""How much a model may be asked to write."""

from agentls.model.catalog import Model

MOST_OUTPUT = 32_000
_BYTES_PER_TOKEN = 3
_MARGIN = 512
_LEAST = 1_024


def max_output(model: Model, prompt_bytes: int) -> int | None:
    """Tokens to ask for; None, so that the field is left out, where the limit is unknown.

    Some servers refuse what does not fit beside the prompt, so the prompt's size is guessed from its bytes (S30).
    """
    if model.output is None:
        return None
    wanted = min(model.output, MOST_OUTPUT)
    if model.context is None:
        return wanted
    room = model.context - prompt_bytes // _BYTES_PER_TOKEN - _MARGIN
    return max(min(wanted, room), min(wanted, _LEAST))
