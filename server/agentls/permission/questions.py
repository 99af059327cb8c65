"""Questions that a tool puts to the user."""

from collections.abc import Callable
from functools import partial
from typing import Any

from agentls.config.prompts import prompt
from agentls.errors import ToolError, invalid_param
from agentls.permission.broker import RejectedError
from agentls.permission.ledger import Asker, Ledger, resolution_of
from agentls.schema.base import now
from agentls.schema.ids import Prefix, new
from agentls.schema.permission import Outcome, ResolvedBy
from agentls.schema.question import Answers, Question, QuestionItem
from agentls.storage.journal import Journal
from agentls.storage.questions import AskedRow, QuestionStore


class Questions:
    def __init__(self, journal: Journal, ledger: Ledger, rows: QuestionStore) -> None:
        self._journal = journal
        self._ledger = ledger
        self._rows = rows

    async def ask(self, asker: Asker, items: tuple[QuestionItem, ...], waiting: Callable[[bool], None]) -> Answers:
        """The answers, one list a question. Raises `RejectedError` where the user dismissed it."""
        row = next((row for row in reversed(self._rows.of_part(asker.part_id)) if row.kind == "question"), None)
        if row is None:
            self._ledger.require_somebody()
            row = await self._journal.patiently(partial(self._open, asker, items))
        waiting(True)
        try:
            resolution = await self._ledger.wait(row.id)
        finally:
            waiting(False)
        if resolution["outcome"] == "expired":
            raise ToolError(prompt("results/nobody"), "nobody could answer the question")
        if resolution["outcome"] != "allowed":
            raise RejectedError
        return tuple(tuple(answer) for answer in resolution.get("answers", ()))

    def _open(self, asker: Asker, items: tuple[QuestionItem, ...]) -> AskedRow:
        question = Question(
            session_id=asker.scope.session_id,
            root_session_id=asker.scope.root_id,
            agent=asker.agent,
            question_id=new(Prefix.QUESTION),
            turn_id=asker.turn_id,
            message_id=asker.message_id,
            part_id=asker.part_id,
            questions=items,
            created_at=now(),
        )
        return self._ledger.open(asker, "question", question.question_id, question.wire(), {})

    def reply(self, question_id: str, answers: Answers) -> dict[str, Any]:
        """The first reply wins. Raises `invalid_params` unless there is one list of answers for each question."""
        row = self._ledger.claimed(question_id, "question")
        if not row.open:
            return {"status": "superseded", "resolution": resolution_of(row)}
        wanted = len(Question.model_validate_json(row.wire).questions)
        if len(answers) != wanted:
            raise invalid_param(
                "answers", f"{question_id} holds {wanted} questions but {len(answers)} lists of answers came."
            )
        return self._end(row, "allowed", {"answers": answers})

    def reject(self, question_id: str, *, unanswerable: bool = False) -> dict[str, Any]:
        """The user dismissed it: the turn stops. `unanswerable`: nobody could answer, which is no refusal."""
        row = self._ledger.claimed(question_id, "question")
        if not row.open:
            return {"status": "superseded", "resolution": resolution_of(row)}
        return self._end(row, "expired" if unanswerable else "rejected", {})

    def _end(self, row: AskedRow, outcome: Outcome, rest: dict[str, Any]) -> dict[str, Any]:
        by: ResolvedBy = "policy" if outcome == "expired" else "client"
        return {"status": "accepted", "resolution": self._ledger.answer(row, outcome, by, rest)}

    def listing(self, session_id: str | None) -> list[str]:
        """What is open, as wire JSON: of one session and its children, or of all."""
        return self._ledger.listing("question", session_id)
