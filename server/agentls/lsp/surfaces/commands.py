"""The commands of `workspace/executeCommand`: the wire's methods, for people and for editors' key bindings."""

from collections.abc import Callable
from typing import Any, cast

from pydantic_core import from_json

from agentls.app.app import App
from agentls.errors import AgentError, ErrorKind
from agentls.lsp.handlers import permission as asks
from agentls.lsp.handlers import session as sessions
from agentls.lsp.handling import Caller, Command
from agentls.lsp.surfaces import names
from agentls.lsp.surfaces.arguments import Given, TextAt
from agentls.lsp.surfaces.current import Current
from agentls.lsp.surfaces.doing import short
from agentls.protocol.permission import PermissionReplyParams, QuestionReplyParams
from agentls.protocol.session import AbortParams, CreateParams, PromptParams, ShellParams
from agentls.schema.base import Raw, Value, json_array

_PROMPT = 'Give the text, such as "Explain main.py", or one object, such as {"text": …, "parts": […]}.'
_ABORT = 'Give nothing, or one object, such as {"sessionId": …, "queue": "clear"}.'
_SHELL = 'Give the command line, such as "make test", or one object, such as {"command": …, "cwd": …}.'
_NEW_SESSION = 'Give nothing, a title, or one object, such as {"title": …, "agent": "plan"}.'
_REPLY = (
    'Give "once", "always", or "reject" and why, or one object: {"permissionId": …, "reply": "once"}, '
    '{"questionId": …, "answers": ["…"]}.'
)
_REPLIES = ("once", "always", "reject")


class Commands:
    def __init__(self, current: Current, text_at: TextAt, offer_again: Callable[[], None]) -> None:
        self._current = current
        self._text_at = text_at
        self._offer_again = offer_again

    def table(self) -> dict[str, Command[App]]:
        return {
            names.PROMPT: Command(self._prompt),
            names.ABORT: Command(self._abort, urgent=True),
            names.SHELL: Command(self._shell),
            names.PERMISSIONS: Command(self._permissions, urgent=True),
            names.REPLY: Command(self._reply, urgent=True),
            names.NEW_SESSION: Command(self._new_session),
        }

    async def _prompt(self, caller: Caller[App], params: dict[str, Any]) -> Value | Raw:
        given = Given(names.PROMPT, _PROMPT, params)
        parts = given.parts(self._text_at)
        if not parts:
            raise given.wrong("there is no text to send, and no way to ask for one")
        checked = given.as_params(PromptParams, parts=parts, sessionId=given.members.get("sessionId", ""))
        session_id = self._current.use(caller, checked.session_id or None)
        return await sessions.prompt.function(caller, checked.but(session_id=session_id))

    async def _abort(self, caller: Caller[App], params: dict[str, Any]) -> Value | Raw:
        given = Given(names.ABORT, _ABORT, params)
        session_id = given.members.get("sessionId") or given.text or self._current.session_id
        if session_id is None:  # no command used any yet, so nothing runs
            return Raw(b'{"aborted":false}')
        return await sessions.abort.function(caller, given.as_params(AbortParams, sessionId=session_id))

    async def _shell(self, caller: Caller[App], params: dict[str, Any]) -> Value | Raw:
        given = Given(names.SHELL, _SHELL, params)
        command = given.text or given.members.get("command") or ""
        checked = given.as_params(ShellParams, command=command, sessionId=given.members.get("sessionId", ""))
        session_id = self._current.use(caller, checked.session_id or None)
        return await sessions.shell.function(caller, checked.but(session_id=session_id))

    async def _new_session(self, caller: Caller[App], params: dict[str, Any]) -> Value | Raw:
        given = Given(names.NEW_SESSION, _NEW_SESSION, params)
        title = given.text or given.members.get("title")
        checked = given.as_params(CreateParams, title=title)
        return Raw.of(session=self._current.begin(caller, checked).wire().decode())

    async def _permissions(self, caller: Caller[App], _params: dict[str, Any]) -> Value | Raw:
        """Shows again what is open, and lists it."""
        self._offer_again()
        return Raw.of(
            permissions=json_array(caller.app.permissions.listing(None)),
            questions=json_array(caller.app.questions.listing(None)),
        )

    async def _reply(self, caller: Caller[App], params: dict[str, Any]) -> Value | Raw:
        given = Given(names.REPLY, _REPLY, params)
        reply, message = (given.words[:1] or [None])[0], " ".join(given.words[1:]) or None
        if "answers" in given.members:
            return await self._answer(caller, given)
        reply = given.members.get("reply", reply)
        if reply not in _REPLIES:
            raise given.wrong(f"{reply!r} is no reply" if reply else "there is no reply", "reply")
        permission_id = given.members.get("permissionId") or self._only(
            given, "permissionId", "title", caller.app.permissions.listing(self._current.session_id)
        )
        message = given.members.get("message", message)
        checked = given.as_params(PermissionReplyParams, permissionId=permission_id, reply=reply, message=message)
        return await asks.reply.function(caller, checked)

    async def _answer(self, caller: Caller[App], given: Given) -> Value | Raw:
        answers = given.members["answers"]
        listed = cast("list[Any]", answers) if isinstance(answers, list) else [answers]
        nested = [cast("list[Any]", one) if isinstance(one, list) else [one] for one in listed]
        question_id = given.members.get("questionId") or self._only(
            given, "questionId", "questionId", caller.app.questions.listing(self._current.session_id)
        )
        checked = given.as_params(QuestionReplyParams, questionId=question_id, answers=nested)
        return await asks.answer.function(caller, checked)

    def _only(self, given: Given, member: str, title: str, wires: list[str]) -> str:
        """Of what is open, if it is one: never a guess which one was meant."""
        found = [cast("dict[str, Any]", from_json(wire)) for wire in wires]
        if not found:
            kind = ErrorKind.PERMISSION_NOT_FOUND if member == "permissionId" else ErrorKind.QUESTION_NOT_FOUND
            where = f" in the session {self._current.session_id}" if self._current.session_id else ""
            words = f"{given.command}: nothing waits for an answer{where}. {names.PERMISSIONS} lists what is open."
            raise AgentError(kind, words)
        if len(found) > 1:
            named = ", ".join(f"{one[member]} ({short(str(one[title]))})" for one in found)
            raise given.wrong(f"several wait for an answer, so name one by `{member}`: {named}", member)
        return str(found[0][member])
