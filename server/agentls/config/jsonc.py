"""JSON with comments and trailing commas, and where in the text each key stands."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import jsonc

KeyPath = tuple[str | int, ...]

_DEEPEST = 16
_COMMENT = re.compile(r'("(?:\\.|[^"\\])*"?)|/\*.*?(?:\*/|\Z)|//[^\r\n]*', re.DOTALL)
_TRAILING_COMMA = re.compile(r'("(?:\\.|[^"\\])*"?)|,(?=\s*[\]}])', re.DOTALL)
_TOKEN = re.compile(r'"(?:\\.|[^"\\])*"|[{}\[\],:]|[^\s{}\[\],:"]+', re.DOTALL)


class JsoncError(Exception):
    """`offset` is where in the text reading failed."""

    def __init__(self, message: str, offset: int) -> None:
        super().__init__(message)
        self.message = message
        self.offset = offset


def parse(text: str) -> Any:
    """The value of a text; `JsoncError` says where it is wrong. An empty text is an empty object."""
    if not _blanked(text).strip():
        return {}
    try:
        return jsonc.loads(text)
    except json.JSONDecodeError as error:
        raise _located(text, error) from error
    except RecursionError as error:
        raise JsoncError("it is nested too deeply", 0) from error


def line_and_column(text: str, offset: int) -> tuple[int, int]:
    """One-based, as editors show them."""
    return text.count("\n", 0, offset) + 1, offset - (text.rfind("\n", 0, offset) + 1) + 1


def offsets(text: str) -> dict[KeyPath, int]:
    """Where each key (or item) of a well-formed text begins, down to a depth that settings never have."""
    return dict(_walk(_blanked(text)))


def duplicates(text: str) -> tuple[KeyPath, ...]:
    """The keys that stand twice in one object."""
    seen: set[KeyPath] = set()
    twice: list[KeyPath] = []
    for path, _ in _walk(_blanked(text)):
        if path in seen:
            twice.append(path)
        seen.add(path)
    return tuple(twice)


@dataclass(slots=True)
class _Level:
    is_object: bool
    path: KeyPath
    number: int = 0
    key: str | None = None


def _walk(text: str) -> Iterator[tuple[KeyPath, int]]:
    levels: list[_Level] = []
    for token in _TOKEN.finditer(text):
        sign, level = token.group(), levels[-1] if levels else None
        match sign:
            case "}" | "]":
                del levels[-1:]
            case "," if level is not None:
                level.number, level.key = level.number + 1, None
            case "," | ":":
                continue
            case _:
                path, is_new = _next(sign, level)
                if is_new and len(levels) <= _DEEPEST:
                    yield path, token.start()
                if sign in "{[":
                    levels.append(_Level(is_object=sign == "{", path=path if len(levels) < _DEEPEST else ()))


def _next(sign: str, level: _Level | None) -> tuple[KeyPath, bool]:
    """The path of a token, and whether it begins a key or an item."""
    if level is not None and level.is_object and level.key is None:
        level.key = _name(sign)
        return (*level.path, level.key), True
    return _path_below(level), level is not None and not level.is_object


def _name(sign: str) -> str:
    try:
        return str(json.loads(sign, strict=False))
    except ValueError:
        return sign


def _path_below(level: _Level | None) -> KeyPath:
    if level is None:
        return ()
    return (*level.path, (level.key or "") if level.is_object else level.number)


def _blanked(text: str) -> str:
    """The same text with comments and trailing commas as blanks, so that offsets stay."""
    without = _COMMENT.sub(lambda found: found.group(1) or re.sub(r"[^\r\n]", " ", found.group()), text)
    return _TRAILING_COMMA.sub(lambda found: found.group(1) or " ", without)


def _located(text: str, error: json.JSONDecodeError) -> JsoncError:
    try:
        json.loads(_blanked(text))
    except json.JSONDecodeError as placed:
        return JsoncError(placed.msg, placed.pos)
    return JsoncError(error.msg, min(error.pos, len(text)))
