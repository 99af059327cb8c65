"""Rows of what was asked: permissions and questions. They outlive a connection and a process."""

from dataclasses import dataclass
from typing import Literal

from agentls.storage.database import Database, Row

QuestionKind = Literal["permission", "question"]


@dataclass(frozen=True, slots=True)
class AskedRow:
    """`wire` is what was asked, `resolution` how it ended; `private` is what the asker keeps beside it."""

    id: str
    session_id: str
    root_id: str
    kind: str
    turn_id: str
    part_id: str | None
    open: bool
    seq: int
    wire: str
    resolution: str | None
    private: str | None


_COLUMNS = "id, session_id, root_id, kind, turn_id, part_id, open, seq, wire, resolution, private"


def _text(value: object) -> str | None:
    return None if value is None else str(value)


def _asked(row: Row) -> AskedRow:
    return AskedRow(
        id=str(row[0]),
        session_id=str(row[1]),
        root_id=str(row[2]),
        kind=str(row[3]),
        turn_id=str(row[4]),
        part_id=_text(row[5]),
        open=bool(row[6]),
        seq=int(row[7] or 0),
        wire=str(row[8]),
        resolution=_text(row[9]),
        private=_text(row[10]),
    )


class QuestionStore:
    def __init__(self, database: Database) -> None:
        self._database = database

    def insert(self, asked: AskedRow) -> int:
        """Returns the row's `seq`; that of the argument is not looked at."""
        seq = self._database.draw_seq(asked.session_id)
        self._database.execute(
            f"INSERT INTO questions ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                asked.id,
                asked.session_id,
                asked.root_id,
                asked.kind,
                asked.turn_id,
                asked.part_id,
                asked.open,
                seq,
                asked.wire,
                asked.resolution,
                asked.private,
            ),
        )
        return seq

    def resolve(self, session_id: str, row_id: str, resolution: str) -> int:
        """Returns the row's new `seq`."""
        seq = self._database.draw_seq(session_id)
        self._database.execute(
            "UPDATE questions SET open = 0, seq = ?, resolution = ? WHERE id = ?", (seq, resolution, row_id)
        )
        return seq

    def get(self, row_id: str) -> AskedRow | None:
        row = self._database.one(f"SELECT {_COLUMNS} FROM questions WHERE id = ?", (row_id,))
        return _asked(row) if row else None

    def of_part(self, part_id: str) -> list[AskedRow]:
        """All that was asked for a tool part, the newest last."""
        rows = self._database.all(f"SELECT {_COLUMNS} FROM questions WHERE part_id = ? ORDER BY seq", (part_id,))
        return [_asked(row) for row in rows]

    def open_of_root(self, root_id: str, kind: QuestionKind | None = None) -> list[AskedRow]:
        """What waits for an answer in a root session and below it."""
        rows = self._database.all(
            f"SELECT {_COLUMNS} FROM questions WHERE root_id = ? AND open ORDER BY session_id, seq",
            (root_id,),
        )
        return [asked for asked in map(_asked, rows) if kind in (None, asked.kind)]

    def open_all(self, kind: QuestionKind) -> list[AskedRow]:
        rows = self._database.all(
            f"SELECT {_COLUMNS} FROM questions WHERE open AND kind = ? ORDER BY session_id, seq",
            (kind,),
        )
        return [_asked(row) for row in rows]
