"""Agents: built in, changed and added."""

import pytest

from agentls.config.agents import Agents, RuleLayer
from agentls.config.prompts import prompt
from agentls.config.settings import Settings, model_ref
from agentls.errors import AgentError, ErrorKind
from agentls.schema.permission import Rule


def agents(raw=None, layers=()) -> Agents:
    return Agents.of(Settings.model_validate(raw or {}), layers)


def test_the_built_in_agents_are_there_with_their_texts():
    found = {agent.name: agent for agent in agents().all()}
    assert list(found) == ["build", "plan", "general", "explore", "compaction", "title", "summary"]
    assert [name for name, agent in found.items() if agent.is_choosable] == ["build", "plan"]
    assert all(found[name].prompt for name in ("build", "plan", "general", "explore"))
    assert agents().default().name == "build"


def test_settings_change_one_and_add_one():
    found = agents(
        {
            "agent": {
                "build": {"temperature": 0.2, "topP": 0.5, "maxSteps": 7, "model": "a/b/c", "options": {"x": 1}},
                "docs": {"prompt": "Write.", "mode": "subagent"},
            }
        }
    )
    build = found.get("build")
    assert (build.temperature, build.top_p, build.steps, build.options) == (0.2, 0.5, 7, {"x": 1})
    assert str(build.model) == "a/b/c"
    assert build.model is not None
    assert build.model.model_id == "b/c"
    assert build.prompt == prompt("agents/build")
    assert found.get("docs").prompt == "Write."


def test_a_missing_agent_is_an_error_with_suggestions():
    with pytest.raises(AgentError) as caught:
        agents().get("biuld")
    assert caught.value.kind == ErrorKind.AGENT_NOT_FOUND
    assert caught.value.data["suggestions"][0] == "build"
    with pytest.raises(AgentError):
        agents({"agent": {"plan": {"disable": True}}}).get("plan")


@pytest.mark.parametrize("name", ["nothing", "general", "title"])
def test_a_wrong_default_is_reported_and_the_usual_one_holds(name):
    found = agents({"default_agent": name})
    assert found.default().name == "build"
    assert name in (found.problem or "")
    assert agents({"default_agent": "plan"}).default().name == "plan"


def test_without_any_agent_the_default_says_what_to_do():
    with pytest.raises(AgentError, match="Enable one"):
        agents({"agent": {"build": {"disable": True}, "plan": {"disable": True}}}).default()


def test_hidden_agents_of_the_engine_cannot_be_disabled():
    assert agents({"agent": {"title": {"disable": True}}}).get("title").hidden


def test_an_agents_own_rules_keep_their_origin():
    rule = Rule(permission="edit", action="deny")
    layers = (RuleLayer("user", agents={"build": (rule,)}), RuleLayer("project"))
    assert agents({}, layers).get("build").own_rules == (("user: agent build", (rule,)),)


@pytest.mark.parametrize("text", [None, "", "gpt", "/x", "x/"])
def test_a_model_needs_its_provider(text):
    assert model_ref(text) is None


def test_the_environment_block_takes_exactly_these_facts():
    text = prompt("system", model="a/b", cwd="/p/c", root="/p", git="yes", platform="Linux", date="2026-01-02")
    for fact in ("a/b", "/p/c", "Git repository: yes", "Linux", "2026-01-02"):
        assert fact in text
