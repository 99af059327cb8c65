"""The rules that hold before any setting. What they do not name (such as tools of MCP servers) asks."""

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
