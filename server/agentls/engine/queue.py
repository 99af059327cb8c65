"""Prompts that wait for their turn, in order; they survive the process, those who wait for them do not."""

from dataclasses import dataclass

from agentls.engine.prompt import PromptRequest, queued_wire
from agentls.engine.runner import Outcome, Waiter
from agentls.engine.stores import Stores
from agentls.errors import AgentError, ErrorKind
from agentls.schema.base import json_array
from agentls.schema.event import Scope
from agentls.storage.queue import QueuedRow


@dataclass(frozen=True, slots=True)
class Taken:
    message_id: str
    request: PromptRequest
    waiter: Waiter


class Queue:
    def __init__(self, stores: Stores) -> None:
        self._stores = stores
        self._waiters: dict[str, Waiter] = {}

    def add(self, scope: Scope, request: PromptRequest, message_id: str) -> Waiter:
        with self._stores.journal.transaction():
            wire = queued_wire(request, message_id)
            seq = self._stores.queue.add(scope.session_id, message_id, request.wire().decode(), wire)
            self._tell(scope, seq, message_id)
        return self.waiter(message_id)

    def waiter(self, message_id: str) -> Waiter:
        return self._waiters.setdefault(message_id, Waiter())

    def holds(self, session_id: str) -> bool:
        return bool(self._stores.queue.of(session_id))

    def first(self, session_id: str) -> PromptRequest | None:
        rows = self._stores.queue.of(session_id)
        return self.request(rows[0]) if rows else None

    def take(self, scope: Scope) -> Taken | None:
        """Within the transaction that starts its turn."""
        rows = self._stores.queue.of(scope.session_id)
        if not rows:
            return None
        row = rows[0]
        self._drop(scope, row)
        waiter = self._waiters.get(row.message_id) or Waiter()
        self._stores.journal.then(lambda: self._waiters.pop(row.message_id, None))
        return Taken(row.message_id, self.request(row), waiter)

    def remove(self, scope: Scope, message_id: str) -> None:
        row = self._stores.queue.get(message_id)
        if row is None or row.session_id != scope.session_id:
            raise AgentError(ErrorKind.MESSAGE_NOT_FOUND, f"There is no queued prompt {message_id} in this session.")
        with self._stores.journal.transaction():
            self._drop(scope, row)
        self._cancel(message_id)

    def clear(self, scope: Scope) -> None:
        with self._stores.journal.transaction():
            rows = self._stores.queue.of(scope.session_id)
            for row in rows:
                self._drop(scope, row)
        for row in rows:
            self._cancel(row.message_id)

    def request(self, row: QueuedRow) -> PromptRequest:
        return PromptRequest.model_validate_json(row.request)

    def _cancel(self, message_id: str) -> None:
        waiter = self._waiters.pop(message_id, None)
        if waiter is not None:
            waiter.end(Outcome("cancelled"))

    def _drop(self, scope: Scope, row: QueuedRow) -> None:
        seq = self._stores.queue.remove(scope.session_id, row.message_id)
        self._tell(scope, seq, row.message_id)

    def _tell(self, scope: Scope, seq: int, message_id: str) -> None:
        items = json_array(row.wire for row in self._stores.queue.of(scope.session_id))
        params = f'"items":{items}'.encode()
        self._stores.journal.changed(scope, seq, "queue", message_id, "queue/changed", params)
