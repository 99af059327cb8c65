"""Where a call lands that fits no tool."""

from collections.abc import Sequence
from typing import ClassVar

from agentls.errors import ToolError
from agentls.schema.permission import Ask
from agentls.tools.tool import Params, ToolContext, ToolResult


class InvalidParams(Params):
    tool: str
    error: str


class Invalid:
    name: ClassVar[str] = "invalid"
    read_only: ClassVar[bool] = True
    awaits_user: ClassVar[bool] = False
    params: type[InvalidParams] = InvalidParams

    async def asks(self, params: InvalidParams, context: ToolContext) -> Sequence[Ask]:
        del params, context
        return []

    async def run(self, params: InvalidParams, context: ToolContext) -> ToolResult:
        del context
        raise ToolError(params.error, f"{params.tool}: no such tool, or a broken call")
