"""What clients read: stored wire rows, spliced, with the growing parts as they are now."""

import re

from pydantic_core import to_json

from agentls.engine.runner import Runner
from agentls.engine.stores import Stores
from agentls.engine.transcript import Transcript
from agentls.errors import AgentError, ErrorKind, invalid_param
from agentls.schema.base import Raw, json_array, json_object
from agentls.schema.session import PlainStatus, Position, RetryStatus
from agentls.storage.attach import ChangedRow, changed_rows
from agentls.storage.messages import WireMessage
from agentls.storage.sessions import SessionQuery, SessionRow

SNAPSHOT_MESSAGES = 50
MOST = 500
PAGE_BYTES = 4 * 1024 * 1024
"""What a page holds at most, but for its newest message: larger frames would hold up what comes behind them."""
_FIRST_SLICE = 10
_MARK = re.compile(r"[0-9]{1,18}")


class Views:
    def __init__(self, stores: Stores, transcript: Transcript, runner: Runner) -> None:
        self._stores = stores
        self._transcript = transcript
        self._runner = runner

    def sessions(self, query: SessionQuery) -> Raw:
        wires, cursor = self._stores.sessions.page(query)
        return Raw.of(sessions=json_array(wires), nextCursor=None if cursor is None else to_json(cursor).decode())

    def session(self, session_id: str) -> Raw:
        row = self._stores.session(session_id)
        return Raw.of(session=row.session.wire().decode(), **self._state(row))

    def messages(self, session_id: str, before: str | None, limit: int | None) -> Raw:
        self._stores.session(session_id)
        with self._stores.journal.database.snapshot():
            return Raw.of(**self._page(session_id, _place(before), bounded(limit)))

    def part(self, session_id: str, part_id: str) -> Raw:
        self._stores.session(session_id)
        wire = self._stores.messages.part(session_id, part_id)
        if wire is None:
            raise AgentError(ErrorKind.PART_NOT_FOUND, f"There is no part {part_id} in session {session_id}.")
        return Raw.of(part=self._transcript.live_wire(part_id) or wire)

    def attach(self, session_id: str, since: Position | None) -> Raw:
        """What brings a client's copy up to date: the changes since its position, or a snapshot."""
        with self._stores.journal.database.snapshot():
            row = self._stores.session(session_id)
            owner = self._stores.owners.foreign(session_id)
            known = (
                since is not None
                and owner is None
                and since.epoch == self._stores.journal.database.epoch
                and since.seq <= row.counter
            )
            members = {**self._state(row), "truncated": to_json(since is not None and not known).decode()}
            if owner is not None:
                members["owner"] = to_json({"pid": owner.pid}).decode()
            if known and since is not None:
                rows = changed_rows(self._stores.journal.database, session_id, since.seq)
                members["changes"] = json_array(self._change(changed) for changed in rows)
            else:
                members["snapshot"] = self._snapshot(row)
            return Raw.of(**members)

    def position(self, session_id: str) -> Position:
        return self._position(self._stores.session(session_id))

    def status(self, session_id: str) -> PlainStatus | RetryStatus:
        active = self._runner.active(session_id)
        if active is not None:
            return active.run.status
        turn = self._stores.turns.open(session_id)
        if turn is None:
            return PlainStatus(type="idle")
        return PlainStatus(type="waiting" if turn.state == "waiting" else "busy")

    def queue(self, session_id: str) -> Raw:
        self._stores.session(session_id)
        return Raw.of(items=json_array(row.wire for row in self._stores.queue.of(session_id)))

    def _position(self, row: SessionRow) -> Position:
        return Position(epoch=self._stores.journal.database.epoch, seq=row.counter)

    def _state(self, row: SessionRow) -> dict[str, str]:
        session_id = row.session.id
        turn = self._stores.turns.open(session_id)
        asked = self._stores.questions.open_of_root(row.root_id)
        if session_id != row.root_id:
            asked = [one for one in asked if one.session_id == session_id]
        state = {
            "position": self._position(row).wire().decode(),
            "status": self.status(session_id).wire().decode(),
            "pending": json_object(
                permissions=json_array(one.wire for one in asked if one.kind == "permission"),
                questions=json_array(one.wire for one in asked if one.kind == "question"),
            ),
        }
        if turn is not None:
            state["turn"] = turn.wire().decode()
        return state

    def _snapshot(self, row: SessionRow) -> str:
        session_id = row.session.id
        members = {
            "session": row.session.wire().decode(),
            "todos": self._stores.todos.get(session_id)[0],
            "queue": json_array(queued.wire for queued in self._stores.queue.of(session_id)),
        }
        turn = self._stores.turns.latest(session_id)
        if turn is not None:
            members["turn"] = turn.wire().decode()
        return json_object(**members, **self._page(session_id, None, SNAPSHOT_MESSAGES))

    def _page(self, session_id: str, before: int | None, limit: int) -> dict[str, str | None]:
        """Read in slices, each about as large as there is still room, so that no more is read than is sent."""
        newest_first: list[str] = []
        size, slice_, cursor, mark = 0, min(limit, _FIRST_SLICE), before, before
        while slice_ > 0:
            messages, cursor = self._stores.messages.page(session_id, cursor, slice_)
            for message in reversed(messages):
                text = self._message(message)
                size += len(text) if text.isascii() else len(text.encode())
                if newest_first and size > PAGE_BYTES:
                    return _page_of(newest_first, mark)
                newest_first.append(text)
                mark = message.pos
            if cursor is None:
                break
            room = (PAGE_BYTES - size) * len(newest_first) // size
            slice_ = min(limit - len(newest_first), room)
        return _page_of(newest_first, cursor)

    def _message(self, message: WireMessage) -> str:
        parts = [self._transcript.live_wire(part_id) or wire for part_id, wire in message.parts.items()]
        return json_object(message=message.wire, parts=json_array(parts))

    def _change(self, row: ChangedRow) -> str:
        seq, kind = str(row.seq), f'"{row.kind}"'
        if row.wire is None:
            return json_object(seq=seq, kind=kind, removed=f'"{row.id}"')
        wire = (self._transcript.live_wire(row.id) if row.kind == "part" else None) or row.wire
        return json_object(seq=seq, kind=kind, value=wire)


def _page_of(newest_first: list[str], mark: int | None) -> dict[str, str | None]:
    return {"messages": json_array(reversed(newest_first)), "nextCursor": None if mark is None else f'"{mark}"'}


def bounded(limit: int | None) -> int:
    """How many a page holds."""
    return min(MOST, max(1, limit if limit is not None else SNAPSHOT_MESSAGES))


def _place(before: str | None) -> int | None:
    if before is None:
        return None
    if not _MARK.fullmatch(before):
        raise invalid_param("before", "`before` is a page mark from `nextCursor`; leave it out for the newest.")
    return int(before)
