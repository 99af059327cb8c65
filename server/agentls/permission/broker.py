"""Permissions: judges a deed, asks where the rules say so, and applies the reply."""

import logging
import sqlite3
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, assert_never

from agentls.config.prompts import prompt
from agentls.errors import AgentlsError, ToolError, invalid_param
from agentls.permission.ledger import Asker, Ledger, private_of, resolution_of
from agentls.permission.rules import Verdict
from agentls.permission.shell import always_patterns
from agentls.schema.base import now
from agentls.schema.event import Noticed
from agentls.schema.ids import Prefix, new
from agentls.schema.permission import Ask, AskOption, Outcome, Permission, Reply, Rule, RuleScope
from agentls.storage.journal import Journal
from agentls.storage.questions import AskedRow, QuestionStore
from agentls.storage.rules import RuleStore, StoredRule
from agentls.storage.sessions import SessionStore

log = logging.getLogger(__name__)

Judge = Callable[[str, str, Ask], Verdict]
"""Session id, agent, deed: what the rules say now."""


class RejectedError(AgentlsError):
    """The user said no, without words: the turn stops."""


class Broker:
    """`continue_on_reject` tells for a session whether a plain reject lets the turn go on."""

    def __init__(
        self,
        journal: Journal,
        ledger: Ledger,
        rows: QuestionStore,
        rules: RuleStore,
        sessions: SessionStore,
        judge: Judge,
    ) -> None:
        self._journal = journal
        self._ledger = ledger
        self._rows = rows
        self._rules = rules
        self._sessions = sessions
        self._judge = judge
        self.continue_on_reject: Callable[[str], bool] = lambda _: False

    async def authorize(
        self, asker: Asker, ask: Ask, expected: dict[str, str | None], waiting: Callable[[bool], None]
    ) -> dict[str, str | None]:
        """Returns once the deed is allowed, with the content hashes that the answer was given on.

        Raises `ToolError` for a deny, a reject with words, or where nobody can answer; `RejectedError` for a plain
        reject.
        """
        verdict = self._judge(asker.scope.session_id, asker.agent, ask)
        if verdict.action == "deny":
            raise denied(ask, verdict)
        if verdict.action == "allow":
            return expected
        row = self._asked_before(asker.part_id, ask)
        if row is None:
            self._ledger.require_somebody()
            asking = partial(self._ask, asker, _offering(ask), verdict.reason, expected)
            row = await self._journal.patiently(asking)
        waiting(True)
        try:
            resolution = await self._ledger.wait(row.id)
        finally:
            waiting(False)
        self._settle(asker, ask, resolution)
        return private_of(row).get("expected", expected)

    def _settle(self, asker: Asker, ask: Ask, resolution: dict[str, Any]) -> None:
        if resolution["outcome"] == "allowed":
            return
        if resolution["by"] == "rule":
            raise denied(ask, self._judge(asker.scope.session_id, asker.agent, ask))
        if resolution.get("message"):
            raise ToolError(prompt("results/rejected", words=resolution["message"]), "rejected with a word")
        if resolution["outcome"] == "rejected" and self.continue_on_reject(asker.scope.session_id):
            raise ToolError(prompt("results/rejected-go-on"), "rejected")
        raise RejectedError

    def _asked_before(self, part_id: str, ask: Ask) -> AskedRow | None:
        """The same question for the same call, asked before this process began."""
        wanted = ask.members()
        for row in reversed(self._rows.of_part(part_id)):
            if row.kind == "permission" and _same_deed(private_of(row).get("ask", {}), wanted):
                return row
        return None

    def _ask(self, asker: Asker, ask: Ask, reason: str | None, expected: dict[str, str | None]) -> AskedRow:
        permission = Permission(
            session_id=asker.scope.session_id,
            root_session_id=asker.scope.root_id,
            agent=asker.agent,
            permission_id=new(Prefix.PERMISSION),
            turn_id=asker.turn_id,
            message_id=asker.message_id,
            part_id=asker.part_id,
            permission=ask.permission,
            title=ask.title,
            description=ask.description or reason,
            patterns=ask.patterns,
            metadata=ask.metadata,
            options=_options(ask),
            created_at=now(),
        )
        private = {"ask": ask.members(), "expected": expected, "project": asker.project_id, "agent": asker.agent}
        return self._ledger.open(asker, "permission", permission.permission_id, permission.wire(), private)

    def reply(
        self,
        permission_id: str,
        reply: Reply,
        scope: RuleScope | None = None,
        patterns: Sequence[str] | None = None,
        message: str | None = None,
    ) -> dict[str, Any]:
        """The first reply wins. Returns `{status, resolution}`."""
        row = self._ledger.claimed(permission_id, "permission")
        if not row.open:
            return {"status": "superseded", "resolution": resolution_of(row)}
        rules = self._granted(row, patterns) if reply == "always" else []
        rest = {"reply": reply, **({"message": message} if message and reply == "reject" else {})}
        waited = self._ledger.waited_for(row.id)
        resolution = self._ledger.resolve(row, _outcome(reply), "client", rest)
        if rules:
            self._store(row, rules, scope or "session")
            self.rejudge(row.root_id, str(private_of(row)["project"]) if scope == "project" else None)
        if reply == "reject" and not message and not self.continue_on_reject(row.session_id):
            self._ledger.cancel(row.session_id, row.root_id, "client")
        if not waited:  # the call is judged anew, so the rules that were granted stand first
            self._ledger.on_answered(row.session_id)
        return {"status": "accepted", "resolution": resolution}

    def _granted(self, row: AskedRow, patterns: Sequence[str] | None) -> list[Rule]:
        """The rules that this "always" stores: of what was offered, what was chosen."""
        ask = Ask.model_validate(private_of(row)["ask"])
        offered = ask.always
        if not offered or ask.protected:
            raise invalid_param("reply", "This question offers no `always`; reply `once` or `reject`.")
        chosen = tuple(patterns) if patterns else offered
        foreign = [pattern for pattern in chosen if pattern not in offered]
        if foreign:
            raise invalid_param(
                "patterns", f"The pattern `{foreign[0]}` was not offered; choose of: {', '.join(offered)}."
            )
        return [Rule(permission=ask.permission, pattern=pattern, action="allow") for pattern in chosen]

    def _store(self, row: AskedRow, rules: list[Rule], scope: RuleScope) -> None:
        """A rule that cannot be saved does not take the answer back."""
        project = str(private_of(row).get("project", ""))
        try:
            with self._journal.transaction():
                for rule in rules:
                    self._rules.add(project, row.root_id if scope == "session" else None, rule)
        except sqlite3.Error:
            log.exception("the rules of %s could not be stored", row.id)
            where = self._ledger.scope_of(row)
            self._journal.publish(
                Noticed("warning", "The answer holds once: its rule could not be saved.", scope=where)
            )

    def rejudge(self, root_id: str, project_id: str | None = None) -> None:
        """Judge what is open anew, after a grant or a change of rules, mode or agent.

        With `project_id` also what calls of this process wait for in the project's other sessions.
        """
        for row in self._rows.open_all("permission"):
            private = private_of(row)
            reached = private.get("project") == project_id and self._ledger.waited_for(row.id)
            if row.root_id != root_id and not reached:
                continue
            self._rejudge(row)

    def rejudge_waiting(self) -> None:
        """Judge anew what calls of this process wait for, after a change of settings or trust."""
        for row in self._rows.open_all("permission"):
            if self._ledger.waited_for(row.id):
                self._rejudge(row)

    def _rejudge(self, row: AskedRow) -> None:
        private = private_of(row)
        verdict = self._judge(row.session_id, str(private["agent"]), Ask.model_validate(private["ask"]))
        if verdict.action == "ask":
            return
        self._ledger.answer(row, "allowed" if verdict.action == "allow" else "rejected", "rule")

    def listing(self, session_id: str | None) -> list[str]:
        """What is open, as wire JSON: of one session and its children, or of all."""
        return self._ledger.listing("permission", session_id)

    def rules(self, session_id: str | None) -> list[StoredRule]:
        """What an "always" stored: the rules that hold in a session, or all."""
        if session_id is None:
            return self._rules.all()
        row = self._sessions.get(session_id)
        return self._rules.of(row.session.project_id, row.root_id) if row else []

    def forget(self, rule: Rule, session_id: str | None) -> list[StoredRule]:
        """Takes back a stored rule: a session's, or a project's where no session is named. Returns what is left."""
        for stored in self._rules.all():
            if stored.rule == rule and stored.session_id == session_id:
                self._rules.remove(stored.id)
        return self.rules(session_id)


def _outcome(reply: Reply) -> Outcome:
    match reply:
        case "once" | "always":
            return "allowed"
        case "reject":
            return "rejected"
        case _:
            assert_never(reply)


def denied(ask: Ask, verdict: Verdict) -> ToolError:
    rule = f"`{verdict.rule.permission}: {verdict.rule.pattern}`" if verdict.rule else "a rule"
    where = f" ({verdict.layer})" if verdict.layer else ""
    return ToolError(prompt("results/denied", rule=rule + where, deed=ask.title), f"denied by {rule}{where}")


def _offering(ask: Ask) -> Ask:
    """What an "always" to a command would store is read off the command."""
    return ask.but(always=always_patterns(ask.patterns[0])) if ask.permission == "bash" else ask


def _options(ask: Ask) -> tuple[AskOption, ...]:
    options = [AskOption(kind="once")]
    if ask.always and not ask.protected:
        options.append(AskOption(kind="always", patterns=ask.always, scope=("session", "project")))
    return (*options, AskOption(kind="reject", feedback=True))


def _same_deed(asked: dict[str, Any], wanted: dict[str, Any]) -> bool:
    return all(asked.get(key) == wanted.get(key) for key in ("permission", "patterns"))
