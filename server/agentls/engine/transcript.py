"""The only writer of messages and parts: save, then publish.

Growing text lives in a buffer beside the frozen part. Its row is written at most twice a second and at the end; those
writes raise the row's `seq` and publish nothing, so a crash loses half a second of text at most.
"""

import logging
import sqlite3
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, TypeVar, cast

import anyio
from pydantic_core import PydanticSerializationError

from agentls.errors import AgentError, RunClosedError
from agentls.schema.base import Value
from agentls.schema.event import Delta, DeltaField, Scope
from agentls.schema.ids import Prefix, new
from agentls.schema.message import AssistantMessage, UserMessage
from agentls.schema.part import PART, Part, Pending, ReasoningPart, Running, TextPart, ToolPart, is_open
from agentls.schema.text import clean
from agentls.storage.journal import Journal
from agentls.storage.messages import MessageStore

log = logging.getLogger(__name__)

SAVE_SECONDS = 0.5

M = TypeVar("M", UserMessage, AssistantMessage)
P = TypeVar("P", bound=Part)
V = TypeVar("V", bound=Value)


class Token:
    """The right of one run to write. Once closed, everything written in its name is refused."""

    __slots__ = ("closed",)

    def __init__(self) -> None:
        self.closed = False

    def check(self) -> None:
        if self.closed:
            raise RunClosedError


@dataclass(slots=True)
class _Live:
    """A part that grows: `part` as it was last put together, its newest `rev`, and the text that came since."""

    part: Part
    rev: int
    chunks: list[str] = field(default_factory=list[str])
    dirty: bool = False

    def take(self) -> Part:
        """The part with all its text."""
        if self.chunks:
            self.part = _grown(self.part, "".join(self.chunks)).but(rev=self.rev)
            self.chunks.clear()
        return self.part


class Transcript:
    def __init__(self, journal: Journal, messages: MessageStore) -> None:
        self.journal = journal
        self.messages = messages
        self.live: dict[str, _Live] = {}
        self._dirty = anyio.Event()

    def writer(self, scope: Scope, token: Token) -> "Writer":
        return Writer(self, scope, token)

    def live_wire(self, part_id: str) -> str | None:
        """A growing part as it stands now; None where the row is the whole truth."""
        live = self.live.get(part_id)
        return live.take().wire().decode() if live else None

    def touch(self) -> None:
        self._dirty.set()

    async def keep_saving(self) -> None:
        """Writes rows of growing parts twice a second, for as long as any grows. What fails is tried again."""
        while True:
            await self._dirty.wait()
            await anyio.sleep(SAVE_SECONDS)
            self._dirty = anyio.Event()
            try:
                await self.journal.patiently(self.save_growing)
            except (sqlite3.Error, AgentError):
                log.exception("growing text could not be saved")
                self.touch()

    def save_growing(self) -> None:
        dirty = [live for live in self.live.values() if live.dirty]
        if not dirty:
            return
        with self.journal.transaction():
            for live in dirty:
                part = live.take()
                if self.messages.part(part.session_id, part.id) is None:
                    self.live.pop(part.id, None)  # it was removed, or its creation rolled back
                    continue
                self.messages.save_part(part, part.wire())
        self.journal.then(lambda: _saved(dirty))


def _saved(lives: list[_Live]) -> None:
    for live in lives:
        live.dirty = False


class Writer:
    """Writes in the name of one run of one session. Every method raises `RunClosedError` once the run was stopped."""

    def __init__(self, transcript: Transcript, scope: Scope, token: Token) -> None:
        self._transcript = transcript
        self._journal = transcript.journal
        self._token = token
        self.scope = scope

    def together(self) -> AbstractContextManager[None]:
        """What is written within is one transaction."""
        return self._journal.transaction()

    def place(self) -> int:
        self._token.check()
        return self._journal.database.draw_pos(self.scope.session_id)

    def ids(self, message_id: str) -> dict[str, Any]:
        """The members that each new part begins with."""
        return {
            "id": new(Prefix.PART),
            "session_id": self.scope.session_id,
            "message_id": message_id,
            "pos": self.place(),
        }

    def message(self, message: M, request: str | None = None) -> M:
        """Create or update; returns what it was given."""
        self._token.check()
        message, wire = _encoded(message)
        with self._journal.transaction():
            seq = self._transcript.messages.save(message, wire, request)
            self._journal.changed(self.scope, seq, "message", message.id, "message/updated", b'"message":' + wire)
        return message

    def part(self, part: P) -> P:
        """Create or update; returns the part with its new `rev`."""
        self._token.check()
        live = self._transcript.live.get(part.id)
        saved, wire = _encoded(part.but(rev=(live.rev if live else part.rev) + 1))
        with self._journal.transaction():
            seq = self._transcript.messages.save_part(saved, wire)
            self._journal.changed(self.scope, seq, "part", saved.id, "part/updated", b'"part":' + wire)
        if is_open(saved):
            self._transcript.live[saved.id] = _Live(saved, saved.rev)
        else:
            self._transcript.live.pop(saved.id, None)
        return saved

    def grow(self, part_id: str, name: DeltaField, text: str) -> None:
        """Append text to an open part. `name` must be the member of the part that grows. Of a part that has ended,
        late text (the output of a child that outlived its command) is dropped.
        """
        self._token.check()
        live = self._transcript.live.get(part_id)
        if live is None:
            return
        text = clean(text)
        base = live.rev
        live.rev = base + 1
        live.chunks.append(text)
        live.dirty = True
        self._transcript.touch()
        self._journal.publish(Delta(self.scope, live.part.message_id, part_id, name, base, base + 1, text))

    def adopt(self, part: Part) -> None:
        """Take over an open part of an earlier process."""
        if is_open(part):
            self._transcript.live[part.id] = _Live(part, part.rev)

    def current(self, part_id: str) -> Part:
        """An open part with all its text."""
        return self._transcript.live[part_id].take()

    def stored(self, part_id: str) -> Part | None:
        """A part as its row has it."""
        wire = self._transcript.messages.part(self.scope.session_id, part_id)
        return PART.validate_json(wire) if wire is not None else None

    def remove_part(self, part: Part) -> None:
        self._token.check()
        self._transcript.live.pop(part.id, None)
        with self._journal.transaction():
            seq = self._transcript.messages.remove_part(self.scope.session_id, part.id)
            params = f'"messageId":"{part.message_id}","partId":"{part.id}"'.encode()
            self._journal.changed(self.scope, seq, "part", part.id, "part/removed", params)


def _encoded(value: V) -> tuple[V, bytes]:
    """The value and its wire form. Halves of surrogate pairs, which JSON of others may hold, are replaced in both."""
    try:
        return value, value.wire()
    except PydanticSerializationError:
        value = type(value).model_validate(_cleaned(value.model_dump(by_alias=True)))
        return value, value.wire()


def _cleaned(data: object) -> object:
    match data:
        case str():
            return clean(data)
        case dict():
            members = cast("dict[str, object]", data)
            return {clean(key): _cleaned(value) for key, value in members.items()}
        case list() | tuple():
            return [_cleaned(item) for item in cast("list[object]", data)]
        case _:
            return data


def _grown(part: Part, text: str) -> Part:
    match part:
        case TextPart() | ReasoningPart():
            return part.but(text=part.text + text)
        case ToolPart(state=Pending() as state):
            return part.but(state=state.but(raw=state.raw + text))
        case ToolPart(state=Running() as state):
            return part.but(state=state.but(output=(state.output or "") + text))
        case _:
            return part
