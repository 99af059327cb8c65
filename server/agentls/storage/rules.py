"""Rows of the rules that an "always" stored."""

from dataclasses import dataclass

from agentls.schema.base import now
from agentls.schema.permission import Rule
from agentls.storage.database import Database, Row


@dataclass(frozen=True, slots=True)
class StoredRule:
    """`session_id` None: for the whole project."""

    id: int
    project_id: str
    session_id: str | None
    rule: Rule


class RuleStore:
    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, project_id: str, session_id: str | None, rule: Rule) -> None:
        """Stored once, however often it is granted."""
        if any(stored.rule == rule and stored.session_id == session_id for stored in self.of(project_id, session_id)):
            return
        self._database.execute(
            "INSERT INTO rules (project_id, session_id, permission, pattern, action, created) "
            "VALUES (?, ?, ?, ?, ?, ?)",
            (project_id, session_id, rule.permission, rule.pattern, rule.action, now()),
        )

    def of(self, project_id: str, session_id: str | None) -> list[StoredRule]:
        """The project's rules, and those of one (root) session, oldest first."""
        rows = self._database.all(
            "SELECT id, project_id, session_id, permission, pattern, action FROM rules "
            "WHERE (project_id = ? AND session_id IS NULL) OR session_id = ? ORDER BY id",
            (project_id, session_id),
        )
        return [_stored(row) for row in rows]

    def all(self) -> list[StoredRule]:
        rows = self._database.all(
            "SELECT id, project_id, session_id, permission, pattern, action FROM rules ORDER BY id"
        )
        return [_stored(row) for row in rows]

    def remove(self, rule_id: int) -> None:
        self._database.execute("DELETE FROM rules WHERE id = ?", (rule_id,))


def _stored(row: Row) -> StoredRule:
    return StoredRule(
        int(row[0] or 0),
        str(row[1]),
        None if row[2] is None else str(row[2]),
        Rule.model_validate({"permission": row[3], "pattern": row[4], "action": row[5]}),
    )
