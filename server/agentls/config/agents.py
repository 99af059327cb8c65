"""Agents: the built-in ones, as the settings change them, and those that the settings add."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from typing import Any, Literal, TypeVar

from agentls.config.prompts import prompt
from agentls.config.settings import AgentSettings, Settings, model_ref
from agentls.errors import AgentError, ErrorKind
from agentls.schema.model import ModelRef
from agentls.schema.permission import Action, Rule

T = TypeVar("T")
AgentMode = Literal["primary", "subagent", "all"]


@dataclass(frozen=True, slots=True)
class RuleLayer:
    """Permission rules by where they come from: top-level ones, and those of each agent."""

    name: str
    rules: tuple[Rule, ...] = ()
    agents: Mapping[str, tuple[Rule, ...]] = field(default_factory=dict[str, tuple[Rule, ...]])


@dataclass(frozen=True, slots=True)
class Agent:
    """A profile. `native_rules` are the built-in agent's, and no setting lifts their denies where it is `sealed`.

    `own_rules` are what settings say of this agent, by the name of their origin.
    """

    name: str
    mode: AgentMode
    description: str | None = None
    model: ModelRef | None = None
    variant: str | None = None
    temperature: float | None = None
    top_p: float | None = None
    prompt: str | None = None
    native_rules: tuple[Rule, ...] = ()
    sealed: bool = False
    own_rules: tuple[tuple[str, tuple[Rule, ...]], ...] = ()
    steps: int | None = None
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])
    hidden: bool = False
    native: bool = False

    @property
    def is_choosable(self) -> bool:
        """Whether a session can run it, and not only another agent or the engine."""
        return self.mode != "subagent" and not self.hidden


class Agents:
    """All agents that there are. `problem` says what is wrong with the choice of the default one, if anything."""

    def __init__(self, agents: Iterable[Agent], default: str | None = None) -> None:
        self._agents = {agent.name: agent for agent in agents}
        choosable = [agent for agent in self._agents.values() if agent.is_choosable]
        wanted = self._agents.get(default or "build")
        self.problem: str | None = None
        if default is not None and (wanted is None or not wanted.is_choosable):
            names = ", ".join(agent.name for agent in choosable)
            self.problem = (
                f"default_agent: `{default}` is no agent that a session can start with. Choose one of: {names}."
            )
        self._default = wanted if wanted is not None and wanted.is_choosable else next(iter(choosable), None)

    @classmethod
    def of(cls, settings: Settings, layers: Sequence[RuleLayer] = ()) -> "Agents":
        """The built-in agents, changed and added to by the settings."""
        found = {agent.name: agent for agent in _native()}
        for name, given in settings.agent.items():
            base = found.get(name) or Agent(name=name, mode="all")
            if given.disable and not (base.native and base.hidden):
                found.pop(name, None)
            else:
                found[name] = _changed(base, given)
        with_rules = [replace(agent, own_rules=_own_rules(agent.name, layers)) for agent in found.values()]
        return cls(with_rules, settings.default_agent)

    def all(self) -> tuple[Agent, ...]:
        return tuple(self._agents.values())

    def get(self, name: str) -> Agent:
        """Raises `AgentError` where there is no such agent."""
        agent = self._agents.get(name)
        if agent is not None:
            return agent
        visible = [agent.name for agent in self._agents.values() if not agent.hidden]
        suggestions = get_close_matches(name, visible, n=3) or visible
        raise AgentError(
            ErrorKind.AGENT_NOT_FOUND,
            f"There is no agent `{name[:80]}`. There are: {', '.join(suggestions)}.",
            {"suggestions": suggestions},
        )

    def default(self) -> Agent:
        """What a session runs if nobody chose. Raises `AgentError` where every such agent was disabled."""
        if self._default is None:
            raise AgentError(
                ErrorKind.AGENT_NOT_FOUND,
                "The settings disable every agent that a session could run. Enable one, such as `build`.",
                {"suggestions": []},
            )
        return self._default


def _changed(base: Agent, given: AgentSettings) -> Agent:
    variant = given.variant if given.variant is not None else base.variant
    return replace(
        base,
        description=_first(given.description, base.description),
        mode=_first(given.mode, base.mode) or base.mode,
        model=model_ref(given.model, variant) or base.model,
        variant=variant,
        temperature=_first(given.temperature, base.temperature),
        top_p=_first(given.top_p, base.top_p),
        prompt=_first(given.prompt, base.prompt),
        steps=_first(given.steps, base.steps),
        options={**base.options, **(given.options or {})},
        hidden=base.hidden if given.hidden is None else given.hidden,
    )


def _first(given: T | None, base: T | None) -> T | None:
    return base if given is None else given


def _own_rules(name: str, layers: Sequence[RuleLayer]) -> tuple[tuple[str, tuple[Rule, ...]], ...]:
    return tuple((f"{layer.name}: agent {name}", layer.agents[name]) for layer in layers if layer.agents.get(name))


def _native() -> tuple[Agent, ...]:
    return (
        Agent(
            name="build",
            mode="primary",
            description="Does the work: reads, edits and runs commands, asking where the rules say so.",
            prompt=prompt("agents/build"),
            native=True,
        ),
        Agent(
            name="plan",
            mode="primary",
            description="Reads and plans; changes nothing.",
            prompt=prompt("agents/plan"),
            native_rules=_rules("deny", "edit", "bash"),
            sealed=True,
            native=True,
        ),
        Agent(
            name="general",
            mode="subagent",
            description="Carries out one task on its own, in several steps, and reports back.",
            prompt=prompt("agents/general"),
            native_rules=_rules("deny", "todowrite", "question"),
            native=True,
        ),
        Agent(
            name="explore",
            mode="subagent",
            description="Finds things out about the code: where something is, how it works. Changes nothing.",
            prompt=prompt("agents/explore"),
            native_rules=_EXPLORE_RULES,
            sealed=True,
            native=True,
        ),
        *(
            Agent(name=name, mode="primary", native_rules=_rules("deny", "*"), sealed=True, hidden=True, native=True)
            for name in ("compaction", "title", "summary")
        ),
    )


def _rules(action: Action, *permissions: str) -> tuple[Rule, ...]:
    return tuple(Rule(permission=permission, action=action) for permission in permissions)


_EXPLORE_RULES = (
    *_rules("deny", "*"),
    *_rules("allow", "read", "grep", "glob", "list", "diagnostics", "skill", "invalid"),
    *(Rule(permission="read", pattern=pattern, action="ask") for pattern in ("*.env", "*.env.*")),
    *(Rule(permission="read", pattern=pattern, action="allow") for pattern in ("*.env.example", "*.env.sample")),
    *_rules("ask", "webfetch", "external_directory", "doom_loop"),
)
