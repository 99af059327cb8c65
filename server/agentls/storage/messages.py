"""Rows of messages and parts. Rows hold the wire form, so reading for a client decodes nothing."""

from collections.abc import Sequence
from dataclasses import dataclass

from agentls.schema.message import MESSAGE, AssistantMessage, UserMessage
from agentls.schema.part import PART, Part, is_open
from agentls.storage.database import Database, Row

# Of assistant messages those without a completion time. An index has the very same words: it holds these rows alone.
UNFINISHED = "role = 'assistant' AND iif(json_valid(wire), wire ->> '$.time.completed', 0) IS NULL"


@dataclass(frozen=True, slots=True)
class WireMessage:
    """A message and its parts as wire JSON, the parts by id."""

    id: str
    pos: int
    wire: str
    parts: dict[str, str]


@dataclass(frozen=True, slots=True)
class Changes:
    """What changed after a `seq`: values in `pos` order, and the ids that were removed."""

    messages: list[UserMessage | AssistantMessage]
    parts: list[Part]
    removed: list[str]
    seq: int


class MessageStore:
    def __init__(self, database: Database) -> None:
        self._database = database

    def save(self, message: UserMessage | AssistantMessage, wire: bytes, request: str | None = None) -> int:
        """Returns the row's new `seq`. `request` is kept from the first time: what a client asked for with this id."""
        seq = self._database.draw_seq(message.session_id)
        self._database.execute(
            "INSERT INTO messages VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT(id) DO UPDATE "
            "SET seq = excluded.seq, wire = excluded.wire",
            (message.id, message.session_id, seq, message.pos, message.role, request, wire.decode()),
        )
        return seq

    def save_part(self, part: Part, wire: bytes) -> int:
        """Returns the row's new `seq`."""
        seq = self._database.draw_seq(part.session_id)
        self._database.execute(
            "INSERT INTO parts VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT(id) DO UPDATE "
            "SET seq = excluded.seq, open = excluded.open, wire = excluded.wire",
            (part.id, part.session_id, part.message_id, seq, part.pos, is_open(part), wire.decode()),
        )
        return seq

    def remove_part(self, session_id: str, part_id: str) -> int:
        """Returns the tombstone's `seq`."""
        self._database.execute("DELETE FROM parts WHERE id = ?", (part_id,))
        return self._database.bury(session_id, "part", part_id)

    def remove(self, session_id: str, message_id: str) -> int:
        """The message goes with its parts. Returns the tombstone's `seq`."""
        self._database.execute("DELETE FROM messages WHERE id = ?", (message_id,))
        return self._database.bury(session_id, "message", message_id)

    def get(self, message_id: str) -> UserMessage | AssistantMessage | None:
        row = self._database.one("SELECT wire FROM messages WHERE id = ?", (message_id,))
        return MESSAGE.validate_json(str(row[0])) if row else None

    def request(self, message_id: str) -> tuple[str, str | None] | None:
        """The session and the request of a message that a client named."""
        row = self._database.one("SELECT session_id, request FROM messages WHERE id = ?", (message_id,))
        return (str(row[0]), str(row[1]) if row[1] is not None else None) if row else None

    def answer_part(self, session_id: str, message_id: str) -> str:
        """The first tool part of the message that answers `message_id`."""
        row = self._database.one(
            "SELECT parts.id FROM parts JOIN messages ON parts.message_id = messages.id WHERE messages.session_id = ? "
            "AND messages.wire ->> 'parentId' = ? AND parts.wire ->> 'type' = 'tool' ORDER BY parts.pos LIMIT 1",
            (session_id, message_id),
        )
        return str(row[0]) if row else ""

    def part(self, session_id: str, part_id: str) -> str | None:
        row = self._database.one("SELECT wire FROM parts WHERE id = ? AND session_id = ?", (part_id, session_id))
        return str(row[0]) if row else None

    def parts(self, message_id: str) -> list[Part]:
        rows = self._database.all("SELECT wire FROM parts WHERE message_id = ? ORDER BY pos", (message_id,))
        return [PART.validate_json(str(row[0])) for row in rows]

    def open_parts(self, session_id: str) -> list[Part]:
        rows = self._database.all("SELECT wire FROM parts WHERE session_id = ? AND open ORDER BY pos", (session_id,))
        return [PART.validate_json(str(row[0])) for row in rows]

    def unfinished(self, session_id: str) -> list[AssistantMessage]:
        """Assistant messages without a completion time."""
        rows = self._database.all(
            f"SELECT wire FROM messages WHERE session_id = ? AND {UNFINISHED} ORDER BY pos", (session_id,)
        )
        return [AssistantMessage.model_validate_json(str(row[0])) for row in rows]

    def last_assistant(self, session_id: str) -> AssistantMessage | None:
        row = self._database.one(
            "SELECT wire FROM messages WHERE session_id = ? AND role = 'assistant' ORDER BY pos DESC LIMIT 1",
            (session_id,),
        )
        return AssistantMessage.model_validate_json(str(row[0])) if row else None

    def page(self, session_id: str, before: int | None, limit: int) -> tuple[list[WireMessage], int | None]:
        """The newest `limit` messages before the place `before`, oldest first; and the place of the next page."""
        rows = self._database.all(
            "SELECT id, pos, wire FROM messages WHERE session_id = ? AND pos < ? ORDER BY pos DESC LIMIT ?",
            (session_id, before if before is not None else 1 << 62, limit + 1),
        )
        page = rows[:limit][::-1]
        parts = self._parts_of([str(row[0]) for row in page])
        messages = [WireMessage(str(row[0]), int(row[1] or 0), str(row[2]), parts.get(str(row[0]), {})) for row in page]
        return messages, messages[0].pos if len(rows) > limit else None

    def _parts_of(self, message_ids: Sequence[str]) -> dict[str, dict[str, str]]:
        found: dict[str, dict[str, str]] = {}
        marks = ",".join("?" * len(message_ids))
        rows: list[Row] = self._database.all(
            f"SELECT message_id, id, wire FROM parts WHERE message_id IN ({marks}) ORDER BY message_id, pos",
            message_ids,
        )
        for row in rows:
            found.setdefault(str(row[0]), {})[str(row[1])] = str(row[2])
        return found

    def counter(self, session_id: str) -> int:
        """The session's newest change number, of whatever row."""
        row = self._database.one("SELECT counter FROM sessions WHERE id = ?", (session_id,))
        return int(row[0] or 0) if row else 0

    def since(self, session_id: str, seq: int) -> Changes:
        """Everything of the conversation that changed after `seq`."""
        messages = self._database.all(
            "SELECT wire, seq FROM messages WHERE session_id = ? AND seq > ? ORDER BY pos", (session_id, seq)
        )
        parts = self._database.all(
            "SELECT wire, seq FROM parts WHERE session_id = ? AND seq > ? ORDER BY pos", (session_id, seq)
        )
        removed = self._database.all(
            "SELECT id, seq FROM tombstones WHERE session_id = ? AND seq > ? AND kind IN ('message', 'part')",
            (session_id, seq),
        )
        return Changes(
            [MESSAGE.validate_json(str(row[0])) for row in messages],
            [PART.validate_json(str(row[0])) for row in parts],
            [str(row[0]) for row in removed],
            max([seq, *(int(row[1] or 0) for row in (*messages, *parts, *removed))]),
        )
