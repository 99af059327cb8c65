"""What clients read: stored wire rows, spliced, with the growing parts as they are now."""

import re
from collections.abc import Iterable

from pydantic_core import to_json

from agentls.engine.runner import Runner
from agentls.engine.stores import Stores
from agentls.engine.transcript import Transcript
from agentls.errors import AgentError, ErrorKind, invalid_param
from agentls.schema.base import Raw
from agentls.schema.session import PlainStatus, Position, RetryStatus
from agentls.storage.attach import ChangedRow, changed_rows
from agentls.storage.messages import WireMessage
from agentls.storage.sessions import SessionQuery, SessionRow

SNAPSHOT_MESSAGES = 50
MOST = 500
_MARK = re.compile(r"[0-9]{1,18}")


class Views:
    def __init__(self, stores: Stores, transcript: Transcript, runner: Runner) -> None:
        self._stores = stores
        self._transcript = transcript
        self._runner = runner

    def sessions(self, query: SessionQuery) -> Raw:
        wires, cursor = self._stores.sessions.page(query)
        return _object(sessions=_array(wires), nextCursor=_text(cursor))

    def session(self, session_id: str) -> Raw:
        row = self._stores.session(session_id)
        return _object(session=row.session.wire().decode(), **self._state(row))

    def messages(self, session_id: str, before: str | None, limit: int | None) -> Raw:
        self._stores.session(session_id)
        with self._stores.journal.database.snapshot():
            return Raw(f"{{{self._page(session_id, _place(before), _bounded(limit))}}}".encode())

    def part(self, session_id: str, part_id: str) -> Raw:
        self._stores.session(session_id)
        wire = self._stores.messages.part(session_id, part_id)
        if wire is None:
            raise AgentError(ErrorKind.PART_NOT_FOUND, f"There is no part {part_id} in session {session_id}.")
        return _object(part=self._transcript.live_wire(part_id) or wire)

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
            members = {**self._state(row), "truncated": _bool(since is not None and not known)}
            if owner is not None:
                members["owner"] = to_json({"pid": owner.pid}).decode()
            if known and since is not None:
                rows = changed_rows(self._stores.journal.database, session_id, since.seq)
                members["changes"] = _array(self._change(changed) for changed in rows)
            else:
                members["snapshot"] = self._snapshot(row)
            return _object(**members)

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
        return _object(items=_array(row.wire for row in self._stores.queue.of(session_id)))

    def _state(self, row: SessionRow) -> dict[str, str]:
        session_id = row.session.id
        turn = self._stores.turns.open(session_id)
        asked = self._stores.questions.open_of_root(row.root_id)
        if session_id != row.root_id:
            asked = [one for one in asked if one.session_id == session_id]
        state = {
            "position": Position(epoch=self._stores.journal.database.epoch, seq=row.counter).wire().decode(),
            "status": self.status(session_id).wire().decode(),
            "pending": "{"
            f'"permissions":{_array(one.wire for one in asked if one.kind == "permission")},'
            f'"questions":{_array(one.wire for one in asked if one.kind == "question")}}}',
        }
        if turn is not None:
            state["turn"] = turn.wire().decode()
        return state

    def _snapshot(self, row: SessionRow) -> str:
        session_id = row.session.id
        members = {
            "session": row.session.wire().decode(),
            "todos": self._stores.todos.get(session_id)[0],
            "queue": _array(queued.wire for queued in self._stores.queue.of(session_id)),
        }
        turn = self._stores.turns.latest(session_id)
        if turn is not None:
            members["turn"] = turn.wire().decode()
        head = _object(**members).json.decode()[:-1]
        return f"{head},{self._page(session_id, None, SNAPSHOT_MESSAGES)}}}"

    def _page(self, session_id: str, before: int | None, limit: int) -> str:
        messages, cursor = self._stores.messages.page(session_id, before, limit)
        text = f'"messages":{_array(self._message(message) for message in messages)}'
        return text if cursor is None else f'{text},"nextCursor":"{cursor}"'

    def _message(self, message: WireMessage) -> str:
        parts = [self._transcript.live_wire(part_id) or wire for part_id, wire in message.parts.items()]
        return f'{{"message":{message.wire},"parts":{_array(parts)}}}'

    def _change(self, row: ChangedRow) -> str:
        if row.wire is None:
            return f'{{"seq":{row.seq},"kind":"{row.kind}","removed":"{row.id}"}}'
        wire = (self._transcript.live_wire(row.id) if row.kind == "part" else None) or row.wire
        return f'{{"seq":{row.seq},"kind":"{row.kind}","value":{wire}}}'


def _array(items: Iterable[str]) -> str:
    return f"[{','.join(items)}]"


def _object(**members: str | None) -> Raw:
    text = ",".join(f'"{name}":{value}' for name, value in members.items() if value is not None)
    return Raw(f"{{{text}}}".encode())


def _text(value: str | None) -> str | None:
    return None if value is None else to_json(value).decode()


def _bool(value: object) -> str:
    return "true" if value else "false"


def _bounded(limit: int | None) -> int:
    return min(MOST, max(1, limit if limit is not None else SNAPSHOT_MESSAGES))


def _place(before: str | None) -> int | None:
    if before is None:
        return None
    if not _MARK.fullmatch(before):
        raise invalid_param("before", "`before` is a page mark from `nextCursor`; leave it out for the newest.")
    return int(before)
