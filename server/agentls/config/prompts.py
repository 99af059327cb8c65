"""Finds the texts that a model reads: `prompts/` of the checkout, or `agentls/prompts` of an installed wheel."""

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

_PLACE = re.compile(r"\{(\w+)\}")
_PACKAGE = Path(__file__).resolve().parent.parent
_PLACES = (_PACKAGE / "prompts", _PACKAGE.parent.parent / "prompts")


@cache
def folder() -> Path:
    """The folder of prompts. An editable install does not see the wheel's copy, hence two places."""
    for place in _PLACES:
        if (place / "agents").is_dir():
            return place
    raise FileNotFoundError(f"agentls is not installed whole: no prompts in {_PLACES[0]}. Reinstall it.")


def prompt(name: str, /, **values: object) -> str:
    """The text `name` (`tools/read`, `agents/build`), without its closing line break, its `{places}` filled."""
    return filled(_text(name), values)


def filled(text: str, values: Mapping[str, object]) -> str:
    """Braces around a name that is no value's stay, and so does what the values themselves hold."""
    return _PLACE.sub(lambda found: str(values.get(found[1], found[0])), text) if values else text


@cache
def _text(name: str) -> str:
    return (folder() / f"{name}.md").read_text(encoding="utf-8").rstrip("\n")
