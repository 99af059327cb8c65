"""Params and results of agents, models, tools, commands, skills, settings and the server's state."""

from typing import Any, Literal

from agentls.protocol.params import Params
from agentls.schema.base import Value
from agentls.schema.model import ModelRef

Severity = Literal["info", "warning", "error"]


class InFolder(Params):
    """`directory` is an absolute path; absent, the editor's first folder."""

    directory: str | None = None


class AgentEntry(Value):
    name: str
    description: str | None = None
    mode: Literal["primary", "subagent", "all"] = "primary"
    model: ModelRef | None = None
    default: bool | None = None


class AgentsResult(Value):
    agents: tuple[AgentEntry, ...]


class ModelLimit(Value):
    context: int | None = None
    input: int | None = None
    output: int | None = None


class ModelEntry(Value):
    provider_id: str
    model_id: str
    name: str
    default: bool | None = None
    limit: ModelLimit | None = None
    cost: dict[str, Any] | None = None
    reasoning: bool | None = None
    attachment: bool | None = None
    variants: tuple[str, ...] | None = None


class ModelsResult(Value):
    models: tuple[ModelEntry, ...]


class ToolEntry(Value):
    """`parameters` is the JSON Schema that the model sees."""

    name: str
    description: str
    parameters: dict[str, Any] | None = None


class ToolsResult(Value):
    tools: tuple[ToolEntry, ...]


class CommandEntry(Value):
    name: str
    description: str | None = None
    agent: str | None = None


class CommandsResult(Value):
    commands: tuple[CommandEntry, ...]


class SkillEntry(Value):
    name: str
    description: str | None = None


class SkillsResult(Value):
    skills: tuple[SkillEntry, ...]


class McpEntry(Value):
    name: str
    state: str
    error: str | None = None


class McpResult(Value):
    servers: tuple[McpEntry, ...]


class ConfigResult(Value):
    """The settings in force; secrets are left out."""

    config: dict[str, Any]


class Problem(Value):
    """Something that is wrong with the settings or the installation, and where."""

    severity: Severity
    message: str
    path: str | None = None
    line: int | None = None
    column: int | None = None


class ServerStatus(Value):
    version: str
    pid: int
    problems: tuple[Problem, ...] = ()
