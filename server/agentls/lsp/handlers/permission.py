"""Permissions and questions."""

from agentls.lsp.facade import App
from agentls.lsp.handling import Caller, handles
from agentls.protocol import methods as m
from agentls.protocol import permission as p
from agentls.protocol.params import OfSessionMaybe
from agentls.schema.base import Raw


@handles(m.PERMISSION_REPLY)
async def reply(caller: Caller[App], params: p.PermissionReplyParams) -> Raw:
    return caller.app.permissions.reply(
        params.permission_id, params.reply, params.scope, params.patterns, params.message
    )


@handles(m.PERMISSION_LIST)
async def permissions(caller: Caller[App], params: OfSessionMaybe) -> Raw:
    return caller.app.permissions.listing(params.session_id)


@handles(m.PERMISSION_RULES)
async def rules(caller: Caller[App], params: OfSessionMaybe) -> Raw:
    return caller.app.permissions.rules(params.session_id)


@handles(m.PERMISSION_FORGET)
async def forget(caller: Caller[App], params: p.ForgetParams) -> Raw:
    return caller.app.permissions.forget(params.rule)


@handles(m.QUESTION_REPLY)
async def answer(caller: Caller[App], params: p.QuestionReplyParams) -> Raw:
    return caller.app.questions.reply(params.question_id, params.answers)


@handles(m.QUESTION_REJECT)
async def reject(caller: Caller[App], params: p.QuestionRejectParams) -> Raw:
    return caller.app.questions.reject(params.question_id)


@handles(m.QUESTION_LIST)
async def questions(caller: Caller[App], params: OfSessionMaybe) -> Raw:
    return caller.app.questions.listing(params.session_id)


HANDLERS = (reply, permissions, rules, forget, answer, reject, questions)
