"""The history of a session, kept from step to step: what was read and converted once is not read or converted again."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from agentls.model.messages import Traits, assistant_elements, user_element
from agentls.schema.message import AssistantMessage, UserMessage
from agentls.schema.model import ModelRef
from agentls.schema.part import Part
from agentls.storage.messages import MessageStore


@dataclass(slots=True)
class Entry:
    """A message and its parts, in order."""

    message: UserMessage | AssistantMessage
    parts: list[Part] = field(default_factory=list[Part])


@dataclass(frozen=True, slots=True)
class _Group:
    """Entries up to `end` that became these elements: one assistant message, or neighbouring user messages."""

    end: int
    role: str
    elements: list[bytes]


class History:
    """`refresh` reads only rows that changed since; `elements` converts only what follows the first of them."""

    def __init__(self, messages: MessageStore, session_id: str) -> None:
        self._messages = messages
        self._session_id = session_id
        self._seq = self._counter = 0
        self._places: dict[str, int] = {}
        self._groups: list[_Group] = []
        self._target: tuple[ModelRef, Traits] | None = None
        self.entries: list[Entry] = []

    def refresh(self) -> None:
        counter = self._messages.counter(self._session_id)
        if counter == self._counter:
            return
        self._counter = counter
        changes = self._messages.since(self._session_id, self._seq)
        if changes.seq == self._seq:
            return
        if changes.removed:
            self._remove(set(changes.removed))
        first = len(self.entries)
        for message in changes.messages:
            first = min(first, self._put(message))
        for part in changes.parts:
            first = min(first, self._put_part(part))
        self._seq = changes.seq
        self._forget(first)

    def elements(self, target: ModelRef, traits: Traits) -> list[bytes]:
        """The chat messages for a model, without the system text."""
        if self._target != (target, traits):
            self._groups.clear()
            self._target = (target, traits)
        if self._groups and self._groups[-1].role == "user":
            self._groups.pop()  # a neighbour may have joined it
        start = self._groups[-1].end if self._groups else 0
        while start < len(self.entries):
            group = self._group(start, target, traits)
            self._groups.append(group)
            start = group.end
        return [element for group in self._groups for element in group.elements]

    def _group(self, start: int, target: ModelRef, traits: Traits) -> _Group:
        first = self.entries[start]
        if isinstance(first.message, AssistantMessage):
            return _Group(start + 1, "assistant", assistant_elements(first.message, first.parts, target, traits))
        end = start
        users: list[tuple[UserMessage, Sequence[Part]]] = []
        while end < len(self.entries):
            entry = self.entries[end]
            if not isinstance(entry.message, UserMessage):
                break
            users.append((entry.message, entry.parts))
            end += 1
        element = user_element(users, traits)
        return _Group(end, "user", [element] if element else [])

    def _put(self, message: UserMessage | AssistantMessage) -> int:
        at = self._places.get(message.id)
        if at is not None:
            self.entries[at].message = message
            return at
        at = len(self.entries)
        self.entries.append(Entry(message))
        while at and self.entries[at - 1].message.pos > message.pos:
            self.entries[at - 1], self.entries[at] = self.entries[at], self.entries[at - 1]
            self._places[self.entries[at].message.id] = at
            at -= 1
        self._places[message.id] = at
        return at

    def _put_part(self, part: Part) -> int:
        at = self._places.get(part.message_id)
        if at is None:
            return len(self.entries)
        parts = self.entries[at].parts
        for index in range(len(parts) - 1, -1, -1):
            if parts[index].id == part.id:
                parts[index] = part
                return at
            if parts[index].pos < part.pos:
                parts.insert(index + 1, part)
                return at
        parts.insert(0, part)
        return at

    def _remove(self, ids: set[str]) -> None:
        gone = [index for index, entry in enumerate(self.entries) if entry.message.id in ids]
        if gone:
            self.entries = [entry for entry in self.entries if entry.message.id not in ids]
            self._places = {entry.message.id: index for index, entry in enumerate(self.entries)}
            self._forget(gone[0])
        for index, entry in enumerate(self.entries):
            kept = [part for part in entry.parts if part.id not in ids]
            if len(kept) != len(entry.parts):
                entry.parts = kept
                self._forget(index)

    def _forget(self, first: int) -> None:
        while self._groups and self._groups[-1].end > first:
            self._groups.pop()
