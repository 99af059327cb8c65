"""The rules that hold before any setting, and the order of all. What no rule names (as tools of MCP servers) asks."""

from collections.abc import Sequence

from agentls.config.agents import Agent, RuleLayer
from agentls.permission.rules import Layer
from agentls.schema.permission import Rule

_ALLOWED = (
    "read",
    "grep",
    "glob",
    "list",
    "diagnostics",
    "todowrite",
    "question",
    "task",
    "skill",
    "plan_exit",
    "invalid",
    "StructuredOutput",
)
_ASKED = ("bash", "edit", "webfetch", "external_directory", "doom_loop")
_SECRET_FILES = ("*.env", "*.env.*")
_SAMPLES = ("*.env.example", "*.env.sample")

DEFAULTS = Layer(
    "defaults",
    (
        *(Rule(permission=name, action="allow") for name in _ALLOWED),
        *(Rule(permission=name, action="ask") for name in _ASKED),
        *(Rule(permission="read", pattern=pattern, action="ask") for pattern in _SECRET_FILES),
        *(Rule(permission="read", pattern=pattern, action="allow") for pattern in _SAMPLES),
    ),
)


def layers_of(
    agent: Agent, settings: Sequence[RuleLayer], session: Sequence[Rule] = (), approvals: Sequence[Rule] = ()
) -> tuple[Layer, ...]:
    """All rules for an agent in the order in which they count. What the settings deny, no approval lifts."""
    return (
        DEFAULTS,
        Layer(f"agent {agent.name}", agent.native_rules, binding=agent.sealed),
        *(Layer(layer.name, layer.rules, binding=True) for layer in settings),
        *(Layer(name, rules, binding=True) for name, rules in agent.own_rules),
        Layer("session", tuple(session)),
        Layer("approvals", tuple(approvals)),
    )
