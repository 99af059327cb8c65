"""Finds the texts that a model reads: `prompts/` of the checkout, or `agentls/prompts` of an installed wheel."""

from functools import cache
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent.parent
_PLACES = (_PACKAGE / "prompts", _PACKAGE.parent.parent / "prompts")


@cache
def folder() -> Path:
    """The folder of prompts. An editable install does not see the wheel's copy, hence two places."""
    for place in _PLACES:
        if (place / "agents").is_dir():
            return place
    raise FileNotFoundError(f"agentls is not installed whole: no prompts in {_PLACES[0]}. Reinstall it.")


@cache
def prompt(name: str) -> str:
    """The text `name` (`tools/read`, `agents/build`), without its closing line break."""
    return (folder() / f"{name}.md").read_text(encoding="utf-8").rstrip("\n")
