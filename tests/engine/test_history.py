"""A history that is kept equals one that is read afresh, entries and bytes."""

import tempfile
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from agentls.engine.histories import KEPT, Histories
from agentls.engine.history import History
from agentls.model.messages import Traits
from agentls.schema.message import AssistantMessage, UserMessage
from agentls.schema.model import ModelRef
from agentls.schema.part import PartTime, ReasoningPart, TextPart
from engine.builders import MODEL, World, assistant_message, completed, pending, running, text_part, tool_part
from engine.builders import user_message as build_user

TRAITS = Traits()
OTHER = ModelRef(provider_id="demo", model_id="two")
GAP = 1_000


class Kept(RuleBasedStateMachine):
    """Messages stand `GAP` places apart, so that a late one can be put between two."""

    @initialize()
    def begin(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.world = World(Path(self.folder.name))
        self.scope = self.world.session()
        self.history = History(self.world.stores.messages, self.scope.session_id)
        self.messages: dict[str, UserMessage | AssistantMessage] = {}
        self.parts: dict[str, Any] = {}
        self.place = 0
        self.count = 0

    def teardown(self) -> None:
        if hasattr(self, "world"):
            self.world.close()
            self.folder.cleanup()

    def text(self) -> str:
        self.count += 1
        return f"text {self.count}"

    def save(self, message: UserMessage | AssistantMessage) -> None:
        self.messages[message.id] = message
        with self.world.database.transaction():
            self.world.stores.messages.save(message, message.wire())

    def save_part(self, part: Any) -> None:
        self.parts[part.id] = part
        with self.world.database.transaction():
            self.world.stores.messages.save_part(part, part.wire())

    def some_message(self, data: st.DataObject) -> UserMessage | AssistantMessage:
        return self.messages[data.draw(st.sampled_from(list(self.messages)))]

    @rule(role=st.sampled_from(["user", "assistant"]))
    def append(self, role: str) -> None:
        self.place += GAP
        if role == "user":
            self.save(
                build_user(self.scope.session_id, self.place, system=self.text() if self.count % 3 == 0 else None)
            )
        else:
            self.save(assistant_message(self.scope.session_id, self.place, "msg_parent"))

    @rule(data=st.data())
    def steer_into_the_middle(self, data: st.DataObject) -> None:
        taken = {message.pos for message in self.messages.values()}
        pos = data.draw(st.integers(1, self.place + 1))
        if pos not in taken:
            self.save(build_user(self.scope.session_id, pos))

    @rule(data=st.data())
    def change_message(self, data: st.DataObject) -> None:
        if self.messages:
            message = self.some_message(data)
            if isinstance(message, UserMessage):
                self.save(message.but(system=self.text()))
            else:
                self.save(message.but(model=data.draw(st.sampled_from([MODEL, OTHER])), finish="stop"))

    @rule(data=st.data(), kind=st.sampled_from(["text", "blank", "reasoning", "pending", "running", "done"]))
    def add_part(self, data: st.DataObject, kind: str) -> None:
        if not self.messages:
            return
        message = self.some_message(data)
        taken = {part.pos for part in self.parts.values()}
        pos = data.draw(st.integers(1, 200).filter(lambda pos: message.pos + pos not in taken)) + message.pos
        states = {"pending": pending(input={"a": 1}), "running": running(), "done": completed(self.text())}
        if kind in states:
            self.save_part(tool_part(message, pos, states[kind]))
        elif kind == "reasoning":
            part = text_part(message, pos, self.text())
            time = PartTime(start=1)
            self.save_part(
                ReasoningPart(**part.model_dump(exclude={"type", "time", "synthetic"}), time=time, field="reasoning")
            )
        else:
            self.save_part(text_part(message, pos, self.text() if kind == "text" else " "))

    @rule(data=st.data())
    def change_part(self, data: st.DataObject) -> None:
        if not self.parts:
            return
        part = self.parts[data.draw(st.sampled_from(list(self.parts)))]
        if isinstance(part, TextPart | ReasoningPart):
            self.save_part(part.but(text=self.text(), rev=part.rev + 1))
        else:
            self.save_part(part.but(state=completed(self.text()), rev=part.rev + 1))

    @rule(data=st.data())
    def remove_part(self, data: st.DataObject) -> None:
        if self.parts:
            part_id = data.draw(st.sampled_from(list(self.parts)))
            del self.parts[part_id]
            with self.world.database.transaction():
                self.world.stores.messages.remove_part(self.scope.session_id, part_id)

    @rule(data=st.data(), returns=st.booleans())
    def remove_message(self, data: st.DataObject, returns: bool) -> None:
        if not self.messages:
            return
        message = self.messages.pop(self.some_message(data).id)
        self.parts = {key: part for key, part in self.parts.items() if part.message_id != message.id}
        with self.world.database.transaction():
            self.world.stores.messages.remove(self.scope.session_id, message.id)
        if returns:
            self.save(message)

    @rule()
    def a_queued_prompt_becomes_a_message(self) -> None:
        self.place += GAP
        message = build_user(self.scope.session_id, self.place)
        queue = self.world.stores.queue
        self.save(message)
        with self.world.database.transaction():
            queue.add(self.scope.session_id, message.id, "{}", "{}")
        self.history.refresh()
        with self.world.database.transaction():
            queue.remove(self.scope.session_id, message.id)

    @rule()
    def refresh(self) -> None:
        self.history.refresh()

    @rule(model=st.sampled_from([MODEL, OTHER]))
    def convert(self, model: ModelRef) -> None:
        self.history.elements(model, TRAITS)

    @rule()
    def compare(self) -> None:
        self.history.refresh()
        fresh = self.world.history(self.scope)
        assert self.history.entries == fresh.entries
        assert self.history.elements(MODEL, TRAITS) == fresh.elements(MODEL, TRAITS)

    @invariant()
    def at_every_step_of_half_the_runs(self) -> None:
        if hasattr(self, "world") and self.count % 2:
            self.compare()


Kept.TestCase.settings = settings(
    max_examples=60, stateful_step_count=30, deadline=None, suppress_health_check=list(HealthCheck)
)
TestKept = Kept.TestCase


def test_what_was_sent_stays_a_prefix_while_a_turn_goes_on(world: World) -> None:
    """As the loop does: each request is read before the answer to it is written."""
    scope = world.session()
    history = History(world.stores.messages, scope.session_id)
    before: list[bytes] = []
    user = world.user(scope, "first")
    for number in range(6):
        history.refresh()
        elements = history.elements(MODEL, TRAITS)
        assert elements[: len(before)] == before
        assert len(elements) > len(before)
        assert elements == world.history(scope).elements(MODEL, TRAITS)
        before = elements
        message = world.assistant(scope, user)
        history.refresh()
        part = world.growing(scope, message, f"thought {number}")
        world.transcript.save_growing()
        history.refresh()
        world.writer(scope).part(world.writer(scope).current(part.id).but(time=PartTime(start=1, end=2)))
        tool = world.tool(scope, message, pending())
        if number % 2:
            user = world.user(scope, f"steered while {number} ran")
        world.writer(scope).part(tool.but(state=completed(f"result {number}")))
        world.writer(scope).message(message.but(finish="tool-calls"))


def test_a_refresh_without_changes_reads_and_forgets_nothing(world: World) -> None:
    scope = world.session()
    user = world.user(scope)
    world.assistant(scope, user, finish="stop")
    history = world.history(scope)
    first = history.elements(MODEL, TRAITS)
    entries = list(history.entries)
    world.user(world.session())
    world.stores.save_session(scope, world.stores.session(scope.session_id).session)
    history.refresh()
    assert all(one is other for one, other in zip(history.entries, entries, strict=True))
    assert history.elements(MODEL, TRAITS) == first


def test_histories_keep_those_used_last(world: World) -> None:
    histories = Histories(world.stores.messages)
    scopes = [world.session() for _ in range(KEPT + 1)]
    first = histories.of(scopes[0].session_id)
    second = histories.of(scopes[1].session_id)
    assert histories.of(scopes[0].session_id) is first
    for scope in scopes[2:]:
        histories.of(scope.session_id)
    assert histories.of(scopes[0].session_id) is first
    assert histories.of(scopes[1].session_id) is not second
    histories.forget(scopes[0].session_id)
    assert histories.of(scopes[0].session_id) is not first
