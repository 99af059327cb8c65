"""The order of all rules, from real settings and agents."""

import pytest

from agentls.config.agents import Agents, RuleLayer
from agentls.config.settings import Settings
from agentls.permission.defaults import layers_of
from agentls.permission.rules import denied_wholly, judge
from agentls.schema.permission import Ask, Rule

ALLOW_ALL = Rule(permission="*", action="allow")


def verdict(agent, permission, pattern, layers=(), session=(), approvals=(), mode="ask", raw=None) -> str:
    agents = Agents.of(Settings.model_validate(raw or {}), layers)
    ordered = layers_of(agents.get(agent), layers, session, approvals)
    return judge(ordered, mode, Ask(permission=permission, patterns=(pattern,), title="t")).action


@pytest.mark.parametrize("mode", ["ask", "acceptEdits", "auto"])
@pytest.mark.parametrize("permission", ["edit", "bash"])
def test_p23_nothing_makes_the_planning_agent_edit_or_run(permission, mode):
    user = RuleLayer("user", (ALLOW_ALL,), {"plan": (ALLOW_ALL,)})
    assert verdict("plan", permission, "x", (user,), (ALLOW_ALL,), (ALLOW_ALL,), mode) == "deny"
    assert verdict("build", permission, "x", (user,), mode=mode) == "allow"


def test_the_planning_agent_is_not_offered_what_it_may_not_do():
    agents = Agents.of(Settings())
    offered = {
        name: not denied_wholly(layers_of(agents.get("plan"), ()), name) for name in ("edit", "bash", "read", "grep")
    }
    assert offered == {"edit": False, "bash": False, "read": True, "grep": True}


@pytest.mark.parametrize(
    ("permission", "pattern", "expected"),
    [
        ("read", "a", "allow"),
        ("read", ".env", "ask"),
        ("bash", "ls", "deny"),
        ("edit", "a", "deny"),
        ("mcp_tool", "*", "deny"),
    ],
)
def test_the_exploring_agent_only_reads(permission, pattern, expected):
    assert verdict("explore", permission, pattern) == expected


def test_settings_approvals_and_session_in_their_order():
    user = RuleLayer("user", (Rule(permission="bash", pattern="make *", action="allow"),))
    project = RuleLayer("project", (Rule(permission="bash", pattern="make deploy", action="deny"),))
    approved = (Rule(permission="bash", pattern="*", action="allow"),)
    assert verdict("build", "bash", "make test", (user, project)) == "allow"
    assert verdict("build", "bash", "make deploy", (user, project), (), approved, "auto") == "deny"
    assert verdict("build", "bash", "ls", (user, project), (), approved) == "allow"
    narrowed = (Rule(permission="bash", pattern="make *", action="ask"),)
    assert verdict("build", "bash", "make test", (user, project), narrowed) == "ask"


def test_an_agents_own_deny_binds_and_stays_with_it():
    user = RuleLayer("user", (), {"build": (Rule(permission="webfetch", action="deny"),)})
    assert verdict("build", "webfetch", "https://x", (user,), (ALLOW_ALL,)) == "deny"
    assert verdict("general", "webfetch", "https://x", (user,), (ALLOW_ALL,)) == "allow"
