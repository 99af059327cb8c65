"""File patterns: `*` within a name, `**` across folders, `?`, `[…]`, `{a,b}`; without a slash, at any depth."""

import re
from collections.abc import Callable

from agentls.errors import ToolError

_MAX_PATTERN = 1000


def matcher(pattern: str) -> Callable[[str], bool]:
    """Whether a relative path with slashes fits the pattern."""
    if len(pattern) > _MAX_PATTERN:
        raise ToolError(f"The pattern is longer than {_MAX_PATTERN} characters.")
    anchored = pattern.removeprefix("./")
    if "/" not in anchored.rstrip("/"):
        anchored = "**/" + anchored
    try:
        regex = re.compile(_regex(anchored.lstrip("/")), re.DOTALL)
    except re.error as error:
        raise ToolError(f"The pattern {pattern!r} is not valid: {error}.") from error
    return lambda path: regex.fullmatch(path) is not None


def _regex(pattern: str) -> str:
    out: list[str] = []
    depth = 0
    pieces = re.findall(r"\*\*/|\*+|\[[!^]?\]?[^\]]*\]|\\.|.", pattern, re.DOTALL)
    for piece in pieces:
        match piece:
            case "**/":
                out.append("(?:.*/)?")
            case "?":
                out.append("[^/]")
            case "{" if "}" in pattern:
                out.append("(?:")
                depth += 1
            case "}" if depth:
                out.append(")")
                depth -= 1
            case "," if depth:
                out.append("|")
            case _:
                out.append(_piece(piece))
    return "".join(out) + ")" * depth


def _piece(piece: str) -> str:
    if piece.startswith("*"):
        return "[^/]*" if piece == "*" else ".*"
    if len(piece) > 1 and piece.startswith("["):
        body = piece[1:-1].replace("\\", r"\\").replace("[", r"\[")
        return f"[{'^' + body[1:] if body[:1] in {'!', '^'} else body}]"
    return re.escape(piece[-1] if piece.startswith("\\") else piece)
