"""The engine in this process as the one who asks."""

from typing import Any

from pydantic_core import from_json, to_json

from agentls.app.app import App
from agentls.cli.asking import Asking, Person
from agentls.schema.event import Changed, Event
from agentls.schema.permission import Permission, Reply, RuleScope
from agentls.schema.question import Answers, Question


class InProcess:
    """Asks what comes as an event, if it is still open by then."""

    def __init__(self, app: App, person: Person, directory: str) -> None:
        self._app = app
        self._asking = Asking(self, person, directory)

    async def ask(self, event: Event) -> None:
        match event:
            case Changed(method="permission/asked") if is_open(self._app, event):
                await self._asking.permission(Permission.model_validate_json(asked_of(event)))
            case Changed(method="question/asked") if is_open(self._app, event):
                await self._asking.question(Question.model_validate_json(asked_of(event)))
            case _:
                pass

    async def allow(self, permission_id: str, reply: Reply, scope: RuleScope | None, words: str | None) -> bool:
        done = self._app.permissions.reply(permission_id, reply, scope, message=words)
        return done["status"] != "superseded"

    async def answer(self, question_id: str, answers: Answers | None) -> None:
        if answers is None:
            self._app.questions.reject(question_id)
        else:
            self._app.questions.reply(question_id, answers)


def asked_of(event: Changed) -> bytes:
    """The whole question: its session stands beside it in the event."""
    members: dict[str, Any] = from_json(b"{%b}" % event.params)
    return to_json(members | {"sessionId": event.scope.session_id, "rootSessionId": event.scope.root_id})


def is_open(app: App, event: Changed) -> bool:
    """An "always" to one question may have answered others that were asked with it."""
    asked = app.permissions if event.kind == "permission" else app.questions
    return any(from_json(wire).get(f"{event.kind}Id") == event.id for wire in asked.listing(event.scope.session_id))
