"""What a client that comes back must be told: the rows that changed after its `seq`, as wire JSON."""

from dataclasses import dataclass

from agentls.storage.database import Database


@dataclass(frozen=True, slots=True)
class ChangedRow:
    """`wire` None: the row was removed."""

    seq: int
    kind: str
    id: str
    wire: str | None


# Session, turn, message, part, rest; within these by `pos`. Open parts come whatever their seq. What was removed comes
# first: a row that came back under its old id stays.
_QUERIES = (
    "SELECT seq, kind, id, NULL FROM tombstones WHERE session_id = :session AND seq > :seq ORDER BY seq",
    "SELECT seq, 'session', id, wire FROM sessions WHERE id = :session AND seq > :seq",
    "SELECT seq, 'turn', id, wire FROM turns WHERE session_id = :session AND seq > :seq ORDER BY rowid",
    "SELECT seq, 'message', id, wire FROM messages WHERE session_id = :session AND seq > :seq ORDER BY pos",
    "SELECT seq, 'part', id, wire FROM parts WHERE session_id = :session AND (seq > :seq OR open) ORDER BY pos",
    """SELECT seq, kind, id, CASE WHEN open THEN wire END FROM questions
    WHERE session_id = :session AND seq > :seq ORDER BY seq""",
    "SELECT seq, 'todo', session_id, wire FROM todos WHERE session_id = :session AND seq > :seq",
    "SELECT seq, 'queue', message_id, wire FROM queue WHERE session_id = :session AND seq > :seq ORDER BY pos",
)


def changed_rows(database: Database, session_id: str, seq: int) -> list[ChangedRow]:
    values = {"session": session_id, "seq": seq}
    return [
        ChangedRow(row[0], row[1], row[2], row[3])
        for query in _QUERIES
        for row in database.connection.execute(query, values)
    ]
