"""The question tool: asks the user something that only the user knows."""

from collections.abc import Awaitable, Callable, Sequence
from typing import ClassVar

from pydantic import Field

from agentls.schema.permission import Ask
from agentls.schema.question import Answers, QuestionItem
from agentls.tools.tool import Params, ToolContext, ToolResult


class QuestionParams(Params):
    questions: tuple[QuestionItem, ...] = Field(min_length=1, max_length=10)


class Question:
    name: ClassVar[str] = "question"
    read_only: ClassVar[bool] = False
    awaits_user: ClassVar[bool] = True
    params: type[QuestionParams] = QuestionParams

    def __init__(self, ask: Callable[[ToolContext, tuple[QuestionItem, ...]], Awaitable[Answers]]) -> None:
        self._ask = ask

    async def asks(self, params: QuestionParams, context: ToolContext) -> Sequence[Ask]:
        del params, context
        return []

    async def run(self, params: QuestionParams, context: ToolContext) -> ToolResult:
        answers = await self._ask(context, params.questions)
        rows = [
            f"{item.question}\n→ {', '.join(answers[i]) if i < len(answers) and answers[i] else '(no answer)'}"
            for i, item in enumerate(params.questions)
        ]
        title = params.questions[0].header if len(params.questions) == 1 else f"{len(params.questions)} questions"
        return ToolResult(title, "The user answered:\n" + "\n".join(rows), {"answers": [list(one) for one in answers]})
