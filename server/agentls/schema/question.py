"""Questions that a tool puts to the user."""

from agentls.schema.base import Value
from agentls.schema.permission import Outcome, ResolvedBy


class QuestionOption(Value):
    label: str
    description: str | None = None


class QuestionItem(Value):
    """`multiple`: several labels may be chosen; `custom`: the user may answer in own words (default yes)."""

    header: str
    question: str
    options: tuple[QuestionOption, ...] = ()
    multiple: bool | None = None
    custom: bool | None = None


class Question(Value):
    """As stored and as sent (`question/asked`)."""

    session_id: str
    root_session_id: str
    agent: str
    question_id: str
    turn_id: str
    message_id: str
    part_id: str | None = None
    questions: tuple[QuestionItem, ...]
    created_at: int


Answers = tuple[tuple[str, ...], ...]


class QuestionResolution(Value):
    outcome: Outcome
    by: ResolvedBy
    answers: Answers | None = None


class QuestionResolved(Value):
    """`question/resolved`."""

    session_id: str
    root_session_id: str
    question_id: str
    outcome: Outcome
    by: ResolvedBy
    answers: Answers | None = None
