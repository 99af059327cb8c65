"""How results of searches are told to a model."""

from pathlib import Path
from typing import Any

from agentls.schema.text import clean
from agentls.tools.tool import ToolContext
from agentls.workspace.search import Found


def shown(path: Path, context: ToolContext) -> str:
    """A path as the model can give it back: relative to the session's folder, or absolute."""
    inside = path.is_relative_to(context.directory)
    return clean(str(path.relative_to(context.directory) if inside else path))


def notes(found: Found[Any], what: str) -> list[str]:
    """What the results lack."""
    said: list[str] = []
    if found.more:
        said.append(
            f"(Only the first {len(found.items)} {what} are shown; there are more. Narrow the pattern or the path.)"
        )
    if found.timed_out:
        said.append("(Incomplete: the search took too long and was stopped. Narrow the pattern or the path.)")
    if found.withheld:
        said.append(left_out(len(found.withheld)))
    return said


def left_out(count: int) -> str:
    files = f"{count} file{'' if count == 1 else 's'}"
    return f"({files} that may not be read without a question, such as .env, left out.)"
