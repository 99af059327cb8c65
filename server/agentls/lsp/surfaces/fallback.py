"""Permissions and questions for a client without dialogs of its own: LSP's `window/showMessageRequest`."""

import logging
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any

from anyio import CancelScope
from lsprotocol import types
from pydantic_core import from_json
from pygls.exceptions import JsonRpcException

from agentls.errors import AgentError
from agentls.lsp.language import AgentProtocol
from agentls.lsp.notifications import Told
from agentls.permission.broker import Broker
from agentls.permission.questions import Questions
from agentls.protocol.options import ClientUi
from agentls.schema.event import Changed
from agentls.schema.permission import AskMetadata, Permission, Reply
from agentls.schema.question import Question, QuestionItem
from agentls.schema.text import one_line, visible
from agentls.storage.journal import Journal

_TITLES: dict[Reply, str] = {"once": "Allow once", "always": "Always", "reject": "Reject"}
_ASKED = {"permission/asked": Permission, "question/asked": Question}
_PATCH_ROWS = 40
_RESOLVED = ("permission/resolved", "question/resolved")

log = logging.getLogger(__name__)

Asked = Permission | Question


class Fallback:
    """Shows one at a time. What is dismissed stays open until the command `agentls.permissions` shows it again."""

    def __init__(
        self,
        permissions: Broker,
        questions: Questions,
        language: AgentProtocol,
        spawn: Callable[[Coroutine[Any, Any, object]], None],
        journal: Journal,
    ) -> None:
        self._journal = journal
        self._permissions = permissions
        self._questions = questions
        self._language = language
        self._spawn = spawn
        self._ui = ClientUi()
        self._open: dict[str, Asked] = {}
        self._dismissed: set[str] = set()
        self._shown: tuple[str, CancelScope] | None = None

    def configure(self, ui: ClientUi) -> None:
        self._ui = ui

    def changed(self, event: Told) -> None:
        if not isinstance(event, Changed):
            return
        if event.method in _RESOLVED:
            self._settled(event.id)
        kind = _ASKED.get(event.method)
        if kind is None:
            return
        scope = {"sessionId": event.scope.session_id, "rootSessionId": event.scope.root_id}
        self._take(kind.model_validate(from_json(b"{%b}" % event.params) | scope))

    def offer_again(self) -> None:
        """Also what an earlier process asked, and what is shown by now: a client may have lost it without an answer."""
        shown = self._shown
        for wire in self._permissions.listing(None):
            self._take(Permission.model_validate_json(wire))
        for wire in self._questions.listing(None):
            self._take(Question.model_validate_json(wire))
        self._dismissed.clear()
        if shown is not None:
            shown[1].cancel()
        self._next()

    def _take(self, asked: Asked) -> None:
        has_dialog = self._ui.permission if isinstance(asked, Permission) else self._ui.question
        if has_dialog:
            return
        self._open.setdefault(_id(asked), asked)
        self._next()

    def _settled(self, asked_id: str) -> None:
        self._open.pop(asked_id, None)
        self._dismissed.discard(asked_id)
        if self._shown is not None and self._shown[0] == asked_id:
            self._shown[1].cancel()

    def _next(self) -> None:
        if self._shown is not None:
            return
        waiting = next((asked for asked_id, asked in self._open.items() if asked_id not in self._dismissed), None)
        if waiting is not None:
            scope = CancelScope()
            self._shown = (_id(waiting), scope)
            self._spawn(self._show(waiting, scope))

    async def _show(self, asked: Asked, scope: CancelScope) -> None:
        try:
            with scope:
                await (self._permission(asked) if isinstance(asked, Permission) else self._question(asked))
        except AgentError as error:
            log.warning("the answer to %s was not taken: %s", _id(asked), error.message)
            self._dismissed.add(_id(asked))
        finally:  # whatever happens, the place is free for the next one
            self._shown = None
            if _id(asked) not in self._dismissed and not scope.cancelled_caught:
                self._open.pop(_id(asked), None)
        self._next()

    async def _permission(self, asked: Permission) -> None:
        offered = {_TITLES[option.kind]: option for option in asked.options}
        lines = [one_line(asked.title), one_line(asked.description or ""), *_deed(asked.metadata)]
        always = offered.get(_TITLES["always"])
        scope = always.scope[0] if always is not None and always.scope else None
        patterns = [one_line(pattern) for pattern in (always.patterns if always is not None else None) or ()]
        if patterns:
            where = "in this project" if scope == "project" else "in this session"
            lines.append(f'"Always" allows {where}: {", ".join(patterns)}')
        text = visible("\n".join(line for line in lines if line))
        chosen = offered.get(await self._choice(types.MessageType.Warning, text, list(offered)) or "")
        if chosen is None:
            self._dismissed.add(asked.permission_id)
            return
        given_scope = scope if chosen.kind == "always" else None
        await self._journal.patiently(partial(self._permissions.reply, asked.permission_id, chosen.kind, given_scope))

    async def _question(self, asked: Question) -> None:
        """One question after another; no answer to one of them dismisses all."""
        if any(not item.options for item in asked.questions):
            await self._journal.patiently(partial(self._questions.reject, asked.question_id, unanswerable=True))
            return
        answers: list[tuple[str, ...]] = []
        for item in asked.questions:
            labels = {visible(one_line(option.label)): option.label for option in item.options}
            chosen = await self._choice(types.MessageType.Info, _text(item), list(labels))
            if chosen is None:
                await self._journal.patiently(partial(self._questions.reject, asked.question_id))
                return
            answers.append((labels[chosen],))
        await self._journal.patiently(partial(self._questions.reply, asked.question_id, tuple(answers)))

    async def _choice(self, kind: types.MessageType, text: str, titles: list[str]) -> str | None:
        """The title that was chosen; None if the user dismissed the message or the client cannot show it."""
        actions = [types.MessageActionItem(title=title) for title in titles]
        params = types.ShowMessageRequestParams(type=kind, message=text, actions=actions)
        try:
            chosen = await self._language.ask(types.WINDOW_SHOW_MESSAGE_REQUEST, params)
        except JsonRpcException as error:
            log.warning("the client could not show a message: %s", error)
            return None
        title = chosen.title if isinstance(chosen, types.MessageActionItem) else None
        return title if title in titles else None


def _deed(metadata: AskMetadata) -> list[str]:
    """What would be done, as it would be done: the whole command, the beginning of each diff."""
    lines = [f"$ {metadata.command}"] if metadata.command else []
    lines += [f"in {metadata.cwd}"] if metadata.command and metadata.cwd else []
    lines += [metadata.url] if metadata.url else []
    for file in metadata.files or ():
        rows = file.patch.splitlines()
        lines += rows[:_PATCH_ROWS]
        lines += [f"… {len(rows) - _PATCH_ROWS} more lines"] if len(rows) > _PATCH_ROWS else []
    return lines


def _id(asked: Asked) -> str:
    return asked.permission_id if isinstance(asked, Permission) else asked.question_id


def _text(item: QuestionItem) -> str:
    described = [one_line(f"{option.label}: {option.description}") for option in item.options if option.description]
    return visible("\n".join([f"{item.header}: {item.question}" if item.header else item.question, *described]))
