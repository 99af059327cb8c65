"""Permissions and questions."""

from collections.abc import Sequence
from functools import partial

from pydantic_core import to_json

from agentls.app.app import App
from agentls.lsp.handling import Caller, handles
from agentls.protocol import methods as m
from agentls.protocol import permission as p
from agentls.protocol.params import OfSessionMaybe
from agentls.schema.base import Raw, json_array
from agentls.schema.permission import Rule
from agentls.storage.rules import StoredRule


@handles(m.PERMISSION_REPLY)
async def reply(caller: Caller[App], params: p.PermissionReplyParams) -> Raw:
    given = (params.permission_id, params.reply, params.scope, params.patterns, params.message)
    return Raw(to_json(await caller.app.journal.patiently(partial(caller.app.permissions.reply, *given))))


@handles(m.PERMISSION_LIST)
async def permissions(caller: Caller[App], params: OfSessionMaybe) -> Raw:
    return Raw.of(permissions=json_array(caller.app.permissions.listing(params.session_id)))


@handles(m.PERMISSION_RULES)
async def rules(caller: Caller[App], params: OfSessionMaybe) -> p.RulesResult:
    return _rules(caller.app.permissions.rules(params.session_id))


@handles(m.PERMISSION_FORGET)
async def forget(caller: Caller[App], params: p.ForgetParams) -> p.RulesResult:
    rule = Rule(permission=params.rule.permission, pattern=params.rule.pattern, action=params.rule.action)
    session_id = params.rule.session_id if params.rule.scope == "session" else None
    return _rules(await caller.app.journal.patiently(partial(caller.app.permissions.forget, rule, session_id)))


@handles(m.QUESTION_REPLY)
async def answer(caller: Caller[App], params: p.QuestionReplyParams) -> Raw:
    answering = partial(caller.app.questions.reply, params.question_id, params.answers)
    return Raw(to_json(await caller.app.journal.patiently(answering)))


@handles(m.QUESTION_REJECT)
async def reject(caller: Caller[App], params: p.QuestionRejectParams) -> Raw:
    rejecting = partial(caller.app.questions.reject, params.question_id)
    return Raw(to_json(await caller.app.journal.patiently(rejecting)))


@handles(m.QUESTION_LIST)
async def questions(caller: Caller[App], params: OfSessionMaybe) -> Raw:
    return Raw.of(questions=json_array(caller.app.questions.listing(params.session_id)))


def _rules(stored: Sequence[StoredRule]) -> p.RulesResult:
    return p.RulesResult(
        rules=tuple(
            p.StoredRule(
                permission=one.rule.permission,
                pattern=one.rule.pattern,
                action=one.rule.action,
                scope="project" if one.session_id is None else "session",
                session_id=one.session_id,
            )
            for one in stored
        )
    )


HANDLERS = (reply, permissions, rules, forget, answer, reject, questions)
