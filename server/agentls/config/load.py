"""Loads the settings that hold for a folder. It always gives some, whatever is wrong with the files."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from pydantic import ValidationError

from agentls.config.agents import RuleLayer
from agentls.config.clean import Raw, clean
from agentls.config.files import Problem, SettingsFiles
from agentls.config.paths import Paths, expand_home
from agentls.config.restrict import described, digest_of, restrict
from agentls.config.settings import Settings
from agentls.config.sources import Source, project_sources, user_sources
from agentls.config.substitute import Substitution
from agentls.config.trust import Trust, TrustState
from agentls.schema.permission import Rule

EDITOR = "editor settings"


@dataclass(frozen=True, slots=True)
class Loaded:
    """The settings of a folder. `layers` hold the permission rules by origin, in the order in which they count.

    `digest` is what a grant of trust would be for, `withheld` says what it would let in, a line each.
    """

    settings: Settings
    problems: tuple[Problem, ...]
    layers: tuple[RuleLayer, ...]
    trust: TrustState
    digest: str
    withheld: tuple[str, ...]


class SettingsLoader:
    """Files are read again only when they changed; a load looks at a few names and merges."""

    def __init__(self, paths: Paths, env: Mapping[str, str], trust: Trust) -> None:
        self._paths = paths
        self._env = env
        self._trust = trust
        self._files = SettingsFiles(paths.home)

    def load(
        self, directory: Path, root: Path, editor: Mapping[str, Any] | None = None, *, trusted: bool | None = None
    ) -> Loaded:
        """`editor` are the settings that the editor sent, `trusted` its word about the folder, if it gave one."""
        problems: list[Problem] = []
        user = [self._filled(source, self._raw(source, problems), problems) for source in self._user()]
        project, state, digest, withheld = self._project(directory, root, problems, trusted=trusted)
        own = [self._editor(editor, directory, problems)] if editor else []
        layers = tuple(_layer(name, raws) for name, raws in (("user", user), ("project", project), ("editor", own)))
        merged: Raw = {}
        for raw in (*user, *project, *own):
            merged = _merged(merged, raw)
        return Loaded(_settings(merged, problems), tuple(problems), layers, state, digest, withheld)

    def _user(self) -> list[Source]:
        return user_sources(self._paths, self._env)

    def _project(
        self, directory: Path, root: Path, problems: list[Problem], *, trusted: bool | None
    ) -> tuple[list[Raw], TrustState, str, tuple[str, ...]]:
        sources = project_sources(root, directory)
        found = [(source, self._raw(source, problems)) for source in sources]
        split = [(source, raw, *restrict(raw)) for source, raw in found]
        digest = digest_of([(_relative(source.path, root), withheld) for source, _, _, withheld in split])
        state = self._trust.decide(root, digest, directory, word=trusted)
        if state == "trusted":
            return [self._filled(source, raw, problems) for source, raw in found], state, digest, ()
        lines: list[str] = []
        for source, _, _, withheld in split:
            if withheld:
                lines += described(withheld)
                problems.append(_withheld(source.path, withheld))
        return [kept for _, _, kept, _ in split], state, digest, tuple(lines)

    def _raw(self, source: Source, problems: list[Problem]) -> Raw:
        content = self._files.content(source)
        problems += content.problems
        return content.raw

    def _filled(self, source: Source, raw: Raw, problems: list[Problem]) -> Raw:
        def report(message: str) -> None:
            problems.append(Problem(str(source.path), 0, 0, message, "warning"))

        filled = cast("Raw", Substitution(self._env, self._paths.home, source.path.parent, report).fill(raw))
        if source.origin == "project" and "instructions" in filled:
            filled["instructions"] = [self._instruction(source, text) for text in filled["instructions"]]
        return filled

    def _instruction(self, source: Source, text: str) -> str:
        return text if "://" in text else str(source.base / expand_home(text, self._paths.home))

    def _editor(self, given: Mapping[str, Any], directory: Path, problems: list[Problem]) -> Raw:
        raw, flaws = clean(dict(given), self._paths.home, foreign=False)
        problems += [Problem(EDITOR, 0, 0, flaw.message, flaw.severity) for flaw in flaws]

        def report(message: str) -> None:
            problems.append(Problem(EDITOR, 0, 0, message, "warning"))

        return cast("Raw", Substitution(self._env, self._paths.home, directory, report).fill(raw))


def _settings(merged: Raw, problems: list[Problem]) -> Settings:
    try:
        return Settings.model_validate(merged)
    except ValidationError as error:  # each file alone is valid: only their mixture can be odd
        places = {".".join(str(item) for item in entry["loc"][:3]) for entry in error.errors(include_input=False)}
        problems.append(
            Problem("settings", 0, 0, f"the files together are at odds in {', '.join(sorted(places))[:200]}")
        )
        wrong = {str(entry["loc"][0]) for entry in error.errors(include_input=False)}
        return Settings.model_validate({key: value for key, value in merged.items() if key not in wrong})


def _layer(name: str, raws: Sequence[Raw]) -> RuleLayer:
    agents: dict[str, tuple[Rule, ...]] = {}
    for raw in raws:
        for agent, members in cast("Raw", raw.get("agent", {})).items():
            agents[agent] = (*agents.get(agent, ()), *_rules(members))
    return RuleLayer(name, tuple(rule for raw in raws for rule in _rules(raw)), agents)


def _rules(holder: Raw) -> tuple[Rule, ...]:
    return tuple(Rule.model_validate(rule) for rule in holder.get("permission", []))


def _merged(under: Raw, over: Raw) -> Raw:
    """Objects are merged, all else replaces, but instructions are joined. Rules stay apart, in their layers."""
    result = dict(under)
    for key, value in over.items():
        old = result.get(key)
        if key == "permission" and isinstance(value, list):
            continue
        if key == "instructions" and isinstance(old, list):
            result[key] = list(dict.fromkeys([*cast("list[Any]", old), *value]))
        elif isinstance(value, dict):
            result[key] = _merged(cast("Raw", old) if isinstance(old, dict) else {}, cast("Raw", value))
        else:
            result[key] = value
    return result


def _withheld(path: Path, withheld: Raw) -> Problem:
    keys = ", ".join(sorted(withheld))
    return Problem(str(path), 0, 0, f"does not hold until the folder is trusted: {keys}", "warning")


def _relative(path: Path, root: Path) -> str:
    return str(path.relative_to(root)) if path.is_relative_to(root) else str(path)
