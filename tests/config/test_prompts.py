"""Texts for models, and how their places are filled."""

import re
from pathlib import Path

from agentls.config.prompts import filled, folder, prompt


def test_what_a_value_holds_is_not_filled_again() -> None:
    assert filled("{a} and {b}, {c} {}", {"a": "{b}", "b": 2}) == "{b} and 2, {c} {}"


def test_a_place_may_have_any_name() -> None:
    assert "explore" in prompt("input/agent", name="explore")


def test_every_text_ends_in_one_line_break_and_says_something() -> None:
    for file in folder().rglob("*.md"):
        text = file.read_text(encoding="utf-8")
        assert re.fullmatch(r"\S.*\S\n|\S\n", text, re.DOTALL), file


def test_every_text_is_read_somewhere() -> None:
    sources = "\n".join(path.read_text(encoding="utf-8") for path in Path(folder().parent, "server").rglob("*.py"))
    for file in folder().rglob("*.md"):
        name = file.relative_to(folder()).with_suffix("").as_posix()
        last = name.rpartition("/")[2]
        assert f'"{name}"' in sources or f"'{name}'" in sources or f'"{last}"' in sources, f"{name} is read nowhere"
