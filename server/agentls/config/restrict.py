"""What of a project's settings holds before its folder is trusted: what narrows, not what runs, redirects or allows."""

import hashlib
import re
from collections.abc import Sequence
from typing import Any, cast

from pydantic_core import to_json

from agentls.config.clean import Raw
from agentls.config.settings import Settings

# All others are withheld: a key that is added later is unsafe until somebody thought about it.
_HARMLESS = frozenset({"model", "small_model", "smallModel", "compaction", "username"})
_NAMES = frozenset(name for key, field in Settings.model_fields.items() for name in (key, field.alias or key))
_REFERENCE = re.compile(r"\{(?:env|file):")
_SNIPPET = re.compile(r"!\s*`")


def restrict(raw: Raw) -> tuple[Raw, Raw]:
    """The settings that hold without trust, and those that are withheld."""
    kept: Raw = {}
    withheld: Raw = {}
    for key, value in raw.items():
        match key:
            case "permission":
                _split(key, _without_allows(value), kept, withheld)
            case "agent" if isinstance(value, dict):
                _split(key, _agents(cast("Raw", value)), kept, withheld)
            case "command" if isinstance(value, dict):
                _split(key, _commands(cast("Raw", value)), kept, withheld)
            case _ if key in _HARMLESS and not _refers(value):
                kept[key] = value
            case _ if key in _NAMES:
                withheld[key] = value
            case _:
                pass  # what is no setting does nothing, trusted or not
    return kept, withheld


def digest_of(withheld: Sequence[tuple[str, Raw]]) -> str:
    """A hash over what trust would let in, by the file that it stands in."""
    parts = [(place, value) for place, value in withheld if value]
    return hashlib.sha256(to_json(parts)).hexdigest()


def described(withheld: Raw) -> tuple[str, ...]:
    """One line for each thing that trust would let in: commands as they would run, names of variables, no values."""
    lines: list[str] = []
    for key, value in withheld.items():
        if key == "mcp" and isinstance(value, dict):
            lines += [_mcp_line(name, server) for name, server in cast("Raw", value).items()]
        elif key == "permission":
            lines += [f"allow {rule['permission']}: {rule['pattern']}" for rule in cast("list[Raw]", value)]
        elif isinstance(value, dict):
            lines += [f"{key}: {name}" for name in cast("Raw", value)]
        else:
            lines.append(key)
    return tuple(line[:200] for line in lines)


def _split(key: str, parts: tuple[Any, Any], kept: Raw, withheld: Raw) -> None:
    for part, target in zip(parts, (kept, withheld), strict=True):
        if part:
            target[key] = part


def _without_allows(value: Any) -> tuple[list[Raw], list[Raw]]:
    rules = cast("list[Raw]", value) if isinstance(value, list) else []
    return [r for r in rules if r["action"] != "allow"], [r for r in rules if r["action"] == "allow"]


def _agents(agents: Raw) -> tuple[Raw, Raw]:
    kept: Raw = {}
    withheld: Raw = {}
    for name, agent in agents.items():
        members = dict(cast("Raw", agent))
        narrowing, allowing = _without_allows(members.pop("permission", []))
        if narrowing:
            kept[name] = {"permission": narrowing}
        if allowing:
            members["permission"] = allowing
        if members:
            withheld[name] = members
    return kept, withheld


def _commands(commands: Raw) -> tuple[Raw, Raw]:
    """A command is text that the user sends. One that runs something or picks an agent (with its rights) is more."""
    kept = {name: command for name, command in commands.items() if _is_text(cast("Raw", command))}
    return kept, {name: command for name, command in commands.items() if name not in kept}


def _is_text(command: Raw) -> bool:
    return command.keys() <= {"template", "description"} and not _refers(command) and not _SNIPPET.search(str(command))


def _refers(value: Any) -> bool:
    if isinstance(value, str):
        return _REFERENCE.search(value) is not None
    if isinstance(value, dict):
        return any(_refers(item) for item in cast("Raw", value).values())
    if isinstance(value, list):
        return any(_refers(item) for item in cast("list[Any]", value))
    return False


def _mcp_line(name: str, server: Any) -> str:
    if not isinstance(server, dict):
        return f"mcp {name}"
    members = cast("Raw", server)
    command = members.get("command")
    runs = (
        " ".join(str(word) for word in cast("list[Any]", command)) if isinstance(command, list) else members.get("url")
    )
    names = ", ".join(cast("Raw", members.get("environment") or {}))
    return f"mcp {name}: {runs}" + (f" (sets {names})" if names else "")
