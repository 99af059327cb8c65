"""Params and results of permissions and questions."""

from typing import Literal

from agentls.protocol.params import OfSessionMaybe, Params
from agentls.schema.base import Value
from agentls.schema.permission import Permission, Reply, Resolution, Rule, RuleScope
from agentls.schema.question import Answers, Question, QuestionResolution


class PermissionReplyParams(Params):
    """`patterns` are some of those that the option "always" offers; `message` tells the model why not."""

    permission_id: str
    reply: Reply
    scope: RuleScope | None = None
    patterns: tuple[str, ...] | None = None
    message: str | None = None


class PermissionReplyResult(Value):
    """`superseded`: somebody else replied first; `resolution` is what counts."""

    status: Literal["accepted", "superseded"]
    resolution: Resolution


class PermissionsResult(Value):
    permissions: tuple[Permission, ...]


class StoredRule(Rule):
    """A rule that an "always" left; `sessionId` of one that is the session's."""

    scope: RuleScope
    session_id: str | None = None


class RulesResult(Value):
    rules: tuple[StoredRule, ...]


class ForgetParams(OfSessionMaybe):
    """`rule` as `permission/rules` gave it."""

    rule: StoredRule


class QuestionReplyParams(Params):
    """One list of answers for each question, in their order."""

    question_id: str
    answers: Answers


class QuestionRejectParams(Params):
    question_id: str


class QuestionReplyResult(Value):
    status: Literal["accepted", "superseded"]
    resolution: QuestionResolution


class QuestionsResult(Value):
    questions: tuple[Question, ...]
