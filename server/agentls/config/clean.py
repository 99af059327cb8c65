"""Takes out of one settings file what is wrong, so that the rest still counts, and says what it was."""

from collections.abc import Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast

from pydantic import ValidationError

from agentls.config.jsonc import KeyPath
from agentls.config.paths import expand_home
from agentls.config.settings import Setting, Settings

Severity = Literal["info", "warning", "error"]
Raw = dict[str, Any]

_ACTIONS = ("allow", "ask", "deny")
_SILENT = frozenset({"$schema"})
# Keys of OpenCode's own files that mean nothing here.
_FOREIGN = frozenset(
    {
        "theme", "share", "autoshare", "autoupdate", "keybinds", "tui", "formatter", "lsp", "plugin", "watcher",
        "layout", "logLevel", "server", "enterprise", "attachment", "references", "mode",
    }
)  # fmt: skip
# Folded: they are read and kept, for a later version to use.
_UNUSED = frozenset(
    {
        "mcp", "skills", "compaction", "tooloutput", "subagentdepth", "snapshot", "smallmodel", "command", "shell",
        "username",
    }
)  # fmt: skip
_OLD_TOOLS = {"write": "edit", "patch": "edit", "apply_patch": "edit", "multiedit": "edit"}
_MOST_FLAWS = 100
_DEEPEST = 32


@dataclass(frozen=True, slots=True)
class Flaw:
    path: KeyPath
    message: str
    severity: Severity = "error"


def clean(given: Any, home: Path, *, foreign: bool) -> tuple[Raw, tuple[Flaw, ...]]:
    """What of a file's value can be used, permissions as ordered lists of rules; and what could not."""
    if not isinstance(given, dict):
        return {}, (Flaw((), "settings must be an object `{…}`"),)
    if _is_deep(given):
        return {}, (Flaw((), f"settings are nested more than {_DEEPEST} levels; nothing of them is used"),)
    dropped = _SILENT | _FOREIGN if foreign else _SILENT
    raw: Raw = {key: deepcopy(value) for key, value in cast("Raw", given).items() if key not in dropped}
    flaws: list[Flaw] = []
    _list_rules(raw, (), home, flaws)
    agents = raw.get("agent")
    if isinstance(agents, dict):
        for name, agent in cast("Raw", agents).items():
            if isinstance(agent, dict):
                _list_rules(cast("Raw", agent), ("agent", name), home, flaws)
    settings = _validated(raw, flaws)
    unknown = [path for path in _unknown(settings, ()) if len(path) == 1 or not foreign]  # its inner keys are its own
    flaws += [Flaw(path, f"unknown key `{path[-1]}`", "warning") for path in unknown]
    return raw, (*flaws[:_MOST_FLAWS], *_unused(raw))


def _unused(raw: Raw) -> Iterator[Flaw]:
    """One note for all of a file's keys that are good and change nothing yet."""
    keys = [key for key in raw if _folded(key) in _UNUSED]
    if keys:
        named = ", ".join(f"`{key}`" for key in keys)
        yield Flaw((keys[0],), f"{named} {'is' if len(keys) == 1 else 'are'} not used by this version yet", "info")


def _is_deep(given: Any) -> bool:
    level: list[Any] = [given]
    for _ in range(_DEEPEST):
        below: list[Any] = []
        for value in level:
            if isinstance(value, dict):
                below += cast("Raw", value).values()
            elif isinstance(value, list):
                below += cast("list[Any]", value)
        level = below
    return bool(level)


def _list_rules(holder: Raw, path: KeyPath, home: Path, flaws: list[Flaw]) -> None:
    """Replaces `permission`, and the older `tools`, by a list of rules in the order of the file."""
    rules: list[Raw] = []
    tools = holder.pop("tools", None)
    if isinstance(tools, dict):
        for name, enabled in cast("Raw", tools).items():
            action = "allow" if enabled is True else "deny"
            rules.append({"permission": _OLD_TOOLS.get(name, name), "pattern": "*", "action": action})
    if "permission" in holder:
        rules += _rules(holder.pop("permission"), (*path, "permission"), home, flaws)
    if rules:
        holder["permission"] = rules


def _rules(given: Any, path: KeyPath, home: Path, flaws: list[Flaw]) -> Iterator[Raw]:
    for permission, value in _entries(given, "*", path, flaws):
        below = (*path, permission) if isinstance(given, dict) else path
        for pattern, action in _entries(value, "*", below, flaws):
            place = (*below, pattern) if isinstance(value, dict) else below
            if not permission or not pattern:
                flaws.append(Flaw(place, "an empty pattern matches nothing"))
                continue
            known = action in _ACTIONS
            if not known:
                flaws.append(Flaw(place, "must be `allow`, `ask` or `deny`; until it is mended, this asks"))
            yield {
                "permission": permission,
                "pattern": expand_home(pattern, home),
                "action": action if known else "ask",
            }


def _entries(given: Any, otherwise: str, path: KeyPath, flaws: list[Flaw]) -> list[tuple[str, Any]]:
    if isinstance(given, dict):
        return list(cast("Raw", given).items())
    if isinstance(given, str):
        return [(otherwise, given)]
    flaws.append(Flaw(path, "must be `allow`, `ask` or `deny`, or an object of them; until it is mended, this asks"))
    return [(otherwise, "ask")]


def _validated(raw: Raw, flaws: list[Flaw]) -> Settings:
    for _ in range(_MOST_FLAWS):
        try:
            return Settings.model_validate(raw)
        except ValidationError as error:
            for entry in error.errors(include_url=False, include_input=False, include_context=False):
                path = _existing(raw, entry["loc"])
                _remove(raw, path)
                flaws.append(Flaw(path, f"`{_dotted(entry['loc'], path)}`: {_lower(entry['msg'])}; it is left out"))
    raw.clear()
    flaws.append(Flaw((), "too many mistakes; nothing of this file is used"))
    return Settings()


def _existing(raw: Raw, location: tuple[int | str, ...]) -> KeyPath:
    """The part of a validator's location that stands in the file, under the spelling that the file uses."""
    path: list[str | int] = []
    value: Any = raw
    for item in location:
        if not isinstance(value, dict):
            break
        keys = cast("Raw", value)
        key = item if item in keys else next((k for k in keys if _folded(k) == _folded(str(item))), None)
        if key is None:
            break
        path.append(key)
        value = keys[str(key)]
    return tuple(path)


def _remove(raw: Raw, path: KeyPath) -> None:
    if not path:
        raw.clear()
        return
    holder: Any = raw
    for key in path[:-1]:
        holder = holder.get(key, {})
    holder.pop(path[-1], None)


def _unknown(value: Any, path: KeyPath) -> Iterator[KeyPath]:
    if isinstance(value, Setting):
        yield from ((*path, key) for key in value.model_extra or {})
        for name in value.model_fields_set:
            yield from _unknown(getattr(value, name, None), (*path, name))
    elif isinstance(value, Mapping):
        for key, item in cast("Mapping[str, Any]", value).items():
            if isinstance(item, Setting):
                yield from _unknown(item, (*path, key))


def _folded(key: str) -> str:
    return key.replace("_", "").lower()


def _dotted(location: tuple[int | str, ...], path: KeyPath) -> str:
    return ".".join(str(item) for item in (path or location))[:120]


def _lower(message: str) -> str:
    return message[:1].lower() + message[1:]
