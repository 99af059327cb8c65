"""The todowrite tool: the session's list of things to do."""

from collections.abc import Callable, Sequence
from typing import ClassVar

from pydantic import Field, field_validator

from agentls.schema.permission import Ask
from agentls.schema.session import Todo
from agentls.tools.tool import Params, ToolContext, ToolResult

_SIGNS = {"pending": " ", "in_progress": ">", "completed": "x", "cancelled": "-"}


class TodoWriteParams(Params):
    todos: tuple[Todo, ...] = Field(max_length=100)

    @field_validator("todos")
    @classmethod
    def _sound(cls, todos: tuple[Todo, ...]) -> tuple[Todo, ...]:
        if any(not todo.content.strip() for todo in todos):
            raise ValueError("each entry needs a content")
        if sum(todo.status == "in_progress" for todo in todos) > 1:
            raise ValueError("only one entry can be in_progress")
        return todos


class TodoWrite:
    name: ClassVar[str] = "todowrite"
    read_only: ClassVar[bool] = False
    awaits_user: ClassVar[bool] = False
    params: type[TodoWriteParams] = TodoWriteParams

    def __init__(self, save: Callable[[str, tuple[Todo, ...]], None]) -> None:
        self._save = save

    async def asks(self, params: TodoWriteParams, context: ToolContext) -> Sequence[Ask]:
        del params, context
        return [
            Ask(permission=self.name, patterns=("*",), always=("*",), title="Write the list of things to do"),
        ]

    async def run(self, params: TodoWriteParams, context: ToolContext) -> ToolResult:
        context.check_open()
        self._save(context.session_id, params.todos)
        left = sum(todo.status in {"pending", "in_progress"} for todo in params.todos)
        rows = [f"[{_SIGNS[todo.status]}] {todo.content}" for todo in params.todos] or ["(The list is empty.)"]
        metadata = {"todos": [todo.members() for todo in params.todos]}
        return ToolResult(f"{left} to do", "\n".join(rows), metadata)
