"""The change counter: `changed_rows(since)` brings a copy at `since` to what a whole reading gives."""

import json
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from agentls.schema.part import PartTime, Running
from agentls.storage.attach import changed_rows
from engine.builders import World, pending, text_part, tool_part, user_message

Copy = dict[tuple[str, str], Any]


def whole(world: World, session_id: str) -> Copy:
    """Every row of a session that a client may hold."""
    queries = {
        "session": "SELECT id, wire FROM sessions WHERE id = ?",
        "turn": "SELECT id, wire FROM turns WHERE session_id = ?",
        "message": "SELECT id, wire FROM messages WHERE session_id = ?",
        "part": "SELECT id, wire FROM parts WHERE session_id = ?",
        "permission": "SELECT id, wire FROM questions WHERE session_id = ? AND open AND kind = 'permission'",
        "question": "SELECT id, wire FROM questions WHERE session_id = ? AND open AND kind = 'question'",
        "todo": "SELECT session_id, wire FROM todos WHERE session_id = ?",
        "queue": "SELECT message_id, wire FROM queue WHERE session_id = ?",
    }
    return {
        (kind, str(row[0])): json.loads(str(row[1]))
        for kind, query in queries.items()
        for row in world.database.all(query, (session_id,))
    }


def apply(copy: Copy, world: World, session_id: str, since: int) -> None:
    """As a client does: one row after the other; a removed message takes its parts along."""
    for row in changed_rows(world.database, session_id, since):
        if row.wire is not None:
            copy[row.kind, row.id] = json.loads(row.wire)
            continue
        copy.pop((row.kind, row.id), None)
        if row.kind == "message":
            for key in [key for key, value in copy.items() if key[0] == "part" and value["messageId"] == row.id]:
                del copy[key]


class Replay(RuleBasedStateMachine):
    @initialize()
    def begin(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.world = World(Path(self.folder.name))
        self.scope, self.stranger = self.world.session(), self.world.session()
        self.counter = self.world.stores.session(self.scope.session_id).counter
        self.stranger_counter = self.world.stores.session(self.stranger.session_id).counter
        self.messages: dict[str, Any] = {}
        self.parts: dict[str, Any] = {}
        self.open_questions: list[str] = []
        self.queued: list[str] = []
        self.gone: list[str] = []
        self.count = 0
        self.copies: list[tuple[int, Copy]] = [(0, {})]

    def teardown(self) -> None:
        if hasattr(self, "world"):
            self.world.close()
            self.folder.cleanup()

    def name(self, kind: str) -> str:
        self.count += 1
        return f"{kind}_{self.count}"

    def took(self, changes: int) -> None:
        """Each change draws one number."""
        counter = self.world.stores.session(self.scope.session_id).counter
        assert counter == self.counter + changes
        self.counter = counter

    @rule(again=st.booleans(), data=st.data())
    def save_message(self, again: bool, data: st.DataObject) -> None:
        if again and (self.messages or self.gone):
            name = data.draw(st.sampled_from([*self.messages, *self.gone]))
        else:
            name = self.name("msg")
        pos = self.messages[name].pos if name in self.messages else self.world.writer(self.scope).place()
        message = user_message(self.scope.session_id, pos, id=name, agent=self.name("agent"))
        self.gone = [one for one in self.gone if one != name]
        self.messages[name] = message
        with self.world.database.transaction():
            self.world.stores.messages.save(message, message.wire())
        self.took(1)

    @rule(data=st.data(), kind=st.sampled_from(["text", "open", "tool", "running"]), again=st.booleans())
    def save_part(self, data: st.DataObject, kind: str, again: bool) -> None:
        if not self.messages:
            return
        writer = self.world.writer(self.scope)
        if again and self.parts:
            part = self.parts[data.draw(st.sampled_from(list(self.parts)))]
            part = part.but(rev=part.rev + 1, pos=part.pos)
        elif kind in ("text", "open"):
            message = self.messages[data.draw(st.sampled_from(list(self.messages)))]
            time = PartTime(start=1) if kind == "open" else None
            part = text_part(message, writer.place(), self.name("text"), id=self.name("prt"), time=time)
        else:
            message = self.messages[data.draw(st.sampled_from(list(self.messages)))]
            state = pending() if kind == "tool" else Running(input={}, time=PartTime(start=1))
            part = tool_part(message, writer.place(), state)
        self.parts[part.id] = part
        with self.world.database.transaction():
            self.world.stores.messages.save_part(part, part.wire())
        self.took(1)

    @rule(data=st.data())
    def remove_part(self, data: st.DataObject) -> None:
        if not self.parts:
            return
        part_id = data.draw(st.sampled_from(list(self.parts)))
        del self.parts[part_id]
        with self.world.database.transaction():
            self.world.stores.messages.remove_part(self.scope.session_id, part_id)
        self.took(1)

    @rule(data=st.data())
    def remove_message(self, data: st.DataObject) -> None:
        if not self.messages:
            return
        name = data.draw(st.sampled_from(list(self.messages)))
        del self.messages[name]
        self.gone.append(name)
        self.parts = {key: part for key, part in self.parts.items() if part.message_id != name}
        with self.world.database.transaction():
            self.world.stores.messages.remove(self.scope.session_id, name)
        self.took(1)

    @rule(state=st.sampled_from(["running", "waiting", "ended"]))
    def turn(self, state: str) -> None:
        turn = self.world.stores.turns.open(self.scope.session_id)
        if turn is None:
            self.world.turn(self.scope, user_message(self.scope.session_id, 1, id="msg_x"))
        else:
            with self.world.database.transaction():
                self.world.stores.turns.save(turn.but(state=state))
        self.took(1)

    @rule(kind=st.sampled_from(["permission", "question"]))
    def ask(self, kind: Any) -> None:
        name = self.name(kind)
        self.world.ledger.open(self.world.asker(self.scope), kind, name, b'{"n":"%s"}' % name.encode(), {})
        self.open_questions.append(name)
        self.took(1)

    @rule()
    def resolve(self) -> None:
        if not self.open_questions:
            return
        row = self.world.stores.questions.get(self.open_questions.pop(0))
        assert row is not None
        self.world.ledger.resolve(row, "allowed", "client")
        self.took(1)

    @rule(again=st.booleans())
    def queue(self, again: bool) -> None:
        name = self.gone.pop() if again and self.gone else self.name("msg")
        with self.world.database.transaction():
            self.world.stores.queue.add(self.scope.session_id, name, "{}", json.dumps({"messageId": name}))
        self.queued.append(name)
        self.took(1)

    @rule(becomes=st.booleans())
    def unqueue(self, becomes: bool) -> None:
        """The queue's next is removed, or becomes a message of the same id."""
        if not self.queued:
            return
        name = self.queued.pop(0)
        with self.world.database.transaction():
            self.world.stores.queue.remove(self.scope.session_id, name)
            if becomes:
                pos = self.world.database.draw_pos(self.scope.session_id)
                message = self.messages[name] = user_message(self.scope.session_id, pos, id=name)
                self.world.stores.messages.save(message, message.wire())
            else:
                self.gone.append(name)
        self.took(1 + becomes)

    @rule()
    def todos(self) -> None:
        with self.world.database.transaction():
            self.world.stores.todos.save(self.scope.session_id, json.dumps([self.name("todo")]))
        self.took(1)

    @rule()
    def title(self) -> None:
        session = self.world.stores.session(self.scope.session_id).session
        self.world.stores.save_session(self.scope, session.but(title=self.name("title")))
        self.took(1)

    @rule()
    def remember(self) -> None:
        """A client reads the whole now, and comes back later."""
        self.copies.append((self.counter, whole(self.world, self.scope.session_id)))

    @rule()
    def disturb(self) -> None:
        """Another session changes."""
        self.world.user(self.stranger)

    @invariant()
    def every_copy_catches_up(self) -> None:
        if not hasattr(self, "world"):
            return
        now = whole(self.world, self.scope.session_id)
        for since, copy in self.copies:
            mine = dict(copy)
            apply(mine, self.world, self.scope.session_id, since)
            assert mine == now, since

    @invariant()
    def numbers_only_rise_and_rows_hold_no_number_twice(self) -> None:
        if not hasattr(self, "world"):
            return
        rows = changed_rows(self.world.database, self.scope.session_id, 0)
        seqs = [row.seq for row in rows]
        assert len(seqs) == len(set(seqs))
        assert all(0 < seq <= self.counter for seq in seqs)


Replay.TestCase.settings = settings(
    max_examples=40, stateful_step_count=25, deadline=None, suppress_health_check=list(HealthCheck)
)
TestReplay = Replay.TestCase


def test_changes_come_by_kind_then_by_pos_and_open_parts_whatever_their_seq(world: World) -> None:
    scope = world.session()
    user = world.user(scope)
    message = world.assistant(scope, user)
    open_part = world.growing(scope, message)
    world.turn(scope, user)
    since = world.stores.session(scope.session_id).counter
    late = world.user(scope)
    world.writer(scope).message(user.but(agent="plan"))
    world.stores.save_session(scope, world.stores.session(scope.session_id).session)
    rows = changed_rows(world.database, scope.session_id, since)
    assert [(row.kind, row.id) for row in rows if row.kind != "part"] == [
        ("session", scope.session_id),
        ("message", user.id),
        ("message", late.id),
    ]
    parts = [row for row in rows if row.kind == "part"]
    assert parts[0].id == open_part.id
    assert parts[0].seq <= since < parts[1].seq
