"""The writer of messages and parts, and what a client makes of its events."""

import itertools
import json
import sqlite3
from collections.abc import Callable
from typing import Any

import anyio
import anyio.lowlevel
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agentls.engine.transcript import Token
from agentls.errors import RunClosedError
from agentls.schema.event import Changed, Delta, Event, Scope
from agentls.schema.part import PART, PartTime, TextPart, ToolPart
from engine.builders import World, completed, pending, running, text_part, user_message


class Client:
    """A copy of the parts by the rules of the wire: a delta whose `base` is mine is appended, one not newer is dropped;
    whole parts replace.
    """

    def __init__(self) -> None:
        self.parts: dict[str, dict[str, Any]] = {}
        self.gaps = 0

    def take(self, event: Event) -> None:
        match event:
            case Changed(kind="part", method="part/updated"):
                part = json.loads(b"{" + event.params + b"}")["part"]
                self.parts[part["id"]] = part
            case Changed(kind="part", method="part/removed"):
                del self.parts[event.id]
            case Delta():
                self.delta(event)
            case _:
                pass

    def delta(self, event: Delta) -> None:
        part = self.parts[event.part_id]
        if event.rev <= part["rev"]:
            return
        if event.base != part["rev"]:
            self.gaps += 1
            return
        holder = part if event.field == "text" else part["state"]
        holder[event.field] = holder.get(event.field, "") + event.text
        part["rev"] = event.rev


def replayed(events: list[Event]) -> Client:
    client = Client()
    for event in events:
        client.take(event)
    return client


@pytest.fixture
def scope(world: World) -> Scope:
    return world.session()


def answer(world: World, scope: Scope) -> Any:
    return world.assistant(scope, world.user(scope))


def row_of(world: World, part_id: str) -> tuple[dict[str, Any], int]:
    wire, seq = world.database.all("SELECT wire, seq FROM parts WHERE id = ?", (part_id,))[0]
    return json.loads(str(wire)), int(seq or 0)


def test_deltas_chain_and_lead_a_client_to_the_whole_text(world: World, scope: Scope) -> None:
    writer = world.writer(scope)
    part = world.growing(scope, answer(world, scope))
    for piece in ("a", "bé", "", "c😀"):
        writer.grow(part.id, "text", piece)
    deltas = [event for event in world.events if isinstance(event, Delta)]
    assert [(delta.base, delta.rev) for delta in deltas] == [(1, 2), (2, 3), (3, 4), (4, 5)]
    grown = replayed(world.events).parts[part.id]
    assert (grown["text"], grown["rev"]) == ("abéc😀", 5)
    assert writer.current(part.id) == part.but(text="abéc😀", rev=5)
    ended = writer.part(writer.current(part.id).but(time=PartTime(start=1, end=2)))
    assert ended.rev == 6
    assert replayed(world.events).parts[part.id] == json.loads(ended.wire()) == row_of(world, part.id)[0]


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=st.lists(st.one_of(st.text(max_size=4), st.sampled_from([1, 2, 3])), max_size=20), join=st.integers(0, 20))
def test_a_client_that_joins_anywhere_ends_with_the_text(world: World, steps: list[Any], join: int) -> None:
    """1: the rows are saved; 2: the part is updated midway; 3: a second part grows too."""
    scope = world.session()
    before = len(world.events)
    writer, message = world.writer(scope), answer(world, scope)
    part, other = world.growing(scope, message), world.growing(scope, message)
    client, text, joined = Client(), "", None
    for number, step in enumerate(steps):
        if number == join:
            client.parts[part.id] = json.loads(world.transcript.live_wire(part.id) or "null")
            client.parts[other.id] = json.loads(world.transcript.live_wire(other.id) or "null")
            joined = len(world.events)
        if step == 1:
            world.transcript.save_growing()
        elif step == 2:
            writer.part(writer.current(part.id))
        elif step == 3:
            writer.grow(other.id, "text", "x")
        else:
            writer.grow(part.id, "text", step)
            text += step
    for event in world.events[before if joined is None else joined :]:
        client.take(event)
    assert client.gaps == 0
    assert client.parts[part.id] == json.loads(writer.current(part.id).wire())
    assert client.parts[part.id]["text"] == text


def test_a_growing_row_is_written_by_save_growing_alone_and_nothing_is_published(world: World, scope: Scope) -> None:
    writer = world.writer(scope)
    part = world.growing(scope, answer(world, scope))
    seq = row_of(world, part.id)[1]
    for _ in range(100):
        writer.grow(part.id, "text", "x")
    assert row_of(world, part.id) == ({**row_of(world, part.id)[0], "text": ""}, seq)
    told = len(world.events)
    world.transcript.save_growing()
    row, after = row_of(world, part.id)
    assert (row["text"], row["rev"]) == ("x" * 100, 101)
    assert after == seq + 1
    world.transcript.save_growing()
    assert row_of(world, part.id)[1] == after
    assert len(world.events) == told


async def test_growing_parts_are_saved_in_the_background_at_most_twice_a_second(world: World, scope: Scope) -> None:
    part = world.growing(scope, answer(world, scope))
    seq = row_of(world, part.id)[1]
    saved: list[float] = []
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(world.transcript.keep_saving)
        with anyio.fail_after(20):
            while len(saved) < 3:
                world.writer(scope).grow(part.id, "text", "x")
                await anyio.lowlevel.checkpoint()
                if row_of(world, part.id)[1] > seq:
                    seq = row_of(world, part.id)[1]
                    saved.append(anyio.current_time())
        tasks.cancel_scope.cancel()
    assert all(later - earlier >= 0.45 for earlier, later in itertools.pairwise(saved))


async def test_saving_in_the_background_survives_a_database_that_refuses(
    world: World, scope: Scope, caplog: pytest.LogCaptureFixture
) -> None:
    part = world.growing(scope, answer(world, scope))
    world.database.execute(
        "CREATE TRIGGER full BEFORE UPDATE ON parts BEGIN SELECT RAISE(ABORT, 'database or disk is full'); END"
    )
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(world.transcript.keep_saving)
        world.writer(scope).grow(part.id, "text", "kept")
        with anyio.fail_after(5):
            while "disk is full" not in caplog.text:
                await anyio.sleep(0.01)
            world.database.execute("DROP TRIGGER full")
            while row_of(world, part.id)[0]["text"] != "kept":
                await anyio.sleep(0.01)
        tasks.cancel_scope.cancel()


def test_what_grew_after_a_failed_saving_is_in_the_next(world: World, scope: Scope) -> None:
    writer = world.writer(scope)
    part = world.growing(scope, answer(world, scope), "a")
    world.database.execute("CREATE TRIGGER full BEFORE UPDATE ON parts BEGIN SELECT RAISE(ABORT, 'full'); END")
    with pytest.raises(sqlite3.IntegrityError):
        world.transcript.save_growing()
    world.database.execute("DROP TRIGGER full")
    writer.grow(part.id, "text", "b")
    world.transcript.save_growing()
    assert row_of(world, part.id)[0]["text"] == "ab"


def test_where_one_row_is_refused_all_are_written_the_next_time(world: World, scope: Scope) -> None:
    message = answer(world, scope)
    first, second = world.growing(scope, message, "one"), world.growing(scope, message, "two")
    world.database.execute(
        f"CREATE TRIGGER full BEFORE UPDATE ON parts WHEN old.id = '{second.id}' BEGIN SELECT RAISE(ABORT, 'full'); END"
    )
    with pytest.raises(sqlite3.IntegrityError):
        world.transcript.save_growing()
    world.database.execute("DROP TRIGGER full")
    world.transcript.save_growing()
    assert [row_of(world, part.id)[0]["text"] for part in (first, second)] == ["one", "two"]


def test_a_tool_part_grows_through_its_states(world: World, scope: Scope) -> None:
    writer, message = world.writer(scope), answer(world, scope)
    part = world.tool(scope, message, pending())
    writer.grow(part.id, "raw", '{"a":')
    writer.grow(part.id, "raw", "1}")
    assert replayed(world.events).parts[part.id]["state"]["raw"] == '{"a":1}'
    world.transcript.save_growing()
    assert row_of(world, part.id)[0]["state"]["raw"] == '{"a":1}'
    writer.part(part.but(state=pending(input={"a": 1}, raw='{"a":1}')))
    begun = writer.part(part.but(state=running(input={"a": 1})))
    writer.grow(part.id, "output", "one\n")
    writer.grow(part.id, "output", "two\n")
    current = writer.current(part.id)
    assert isinstance(current, ToolPart)
    assert current.rev == begun.rev + 2
    assert current.state == running(input={"a": 1}, output="one\ntwo\n")
    assert replayed(world.events).parts[part.id] == json.loads(current.wire())
    ended = writer.part(part.but(state=completed("one\ntwo\n", {"a": 1})))
    assert ended.rev == current.rev + 1
    assert part.id not in world.transcript.live
    client = replayed(world.events)
    assert client.gaps == 0
    assert client.parts[part.id] == json.loads(ended.wire()) == row_of(world, part.id)[0]
    assert row_of(world, part.id)[0]["state"]["status"] == "completed"


def test_a_stale_copy_never_lowers_the_rev(world: World, scope: Scope) -> None:
    writer = world.writer(scope)
    part = world.growing(scope, answer(world, scope), "abc")
    writer.grow(part.id, "text", "d")
    assert writer.part(part.but(text="whole")).rev == 4
    closed = writer.part(part.but(text="whole", time=PartTime(start=1, end=2)))
    assert closed.rev == 5


def refuses(write: Callable[[], object]) -> bool:
    try:
        write()
    except RunClosedError:
        return True
    return False


def test_a_closed_token_refuses_every_kind_of_write(world: World, scope: Scope) -> None:
    token = Token()
    writer = world.writer(scope, token)
    message = answer(world, scope)
    part = world.growing(scope, message, "a")
    token.closed = True
    before, told = world.stores.session(scope.session_id), len(world.events)
    writes = [
        lambda: writer.message(message),
        lambda: writer.part(part),
        lambda: writer.grow(part.id, "text", "late"),
        lambda: writer.remove_part(part),
        writer.place,
        lambda: writer.ids(message.id),
    ]
    for number, write in enumerate(writes):
        assert refuses(write), number
    assert world.stores.session(scope.session_id) == before
    assert len(world.events) == told
    assert world.transcript.live[part.id].take() == part.but(text="a", rev=2)


LONE = "\ud83d"


def test_halves_of_surrogate_pairs_never_reach_the_wire(world: World, scope: Scope) -> None:
    writer = world.writer(scope)
    user = writer.message(user_message(scope.session_id, writer.place(), system=f"s{LONE}"))
    message = world.assistant(scope, user)
    plain = writer.part(text_part(message, writer.place(), f"a{LONE}b"))
    tool = world.tool(scope, message, pending(input={f"k{LONE}": [f"v{LONE}", 1]}))
    writer.part(tool.but(state=completed(f"out{LONE}", {"x": LONE}, metadata={"m": {"n": LONE}})))
    part = world.growing(scope, message)
    writer.grow(part.id, "text", f"x{LONE}")
    writer.grow(part.id, "text", f"{LONE}y")
    grown = writer.part(writer.current(part.id).but(time=PartTime(start=1, end=2)))
    for event in world.events:
        text = event.params.decode() if isinstance(event, Changed) else getattr(event, "text", "")
        assert text.encode(), event
    assert replayed(world.events).parts[part.id]["text"] == grown.text
    assert len(replayed(world.events).parts[plain.id]["text"]) == 3
    assert plain.text == replayed(world.events).parts[plain.id]["text"]
    assert world.stores.messages.get(user.id) == user
    assert world.stores.messages.parts(message.id) == [writer.stored(one.id) for one in (plain, tool, part)]


def test_a_removed_part_is_forgotten_though_it_grew(world: World, scope: Scope) -> None:
    writer = world.writer(scope)
    part = world.growing(scope, answer(world, scope), "half")
    writer.remove_part(part)
    world.transcript.save_growing()
    assert world.stores.messages.part(scope.session_id, part.id) is None
    assert part.id not in replayed(world.events).parts
    assert world.transcript.live_wire(part.id) is None


def test_a_part_whose_creation_was_rolled_back_does_not_keep_others_from_being_saved(
    world: World, scope: Scope
) -> None:
    writer, message = world.writer(scope), answer(world, scope)
    kept = world.growing(scope, message, "kept")
    made: list[TextPart] = []

    def half() -> None:
        with world.journal.transaction():
            made.append(world.growing(scope, message, "never was"))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        half()
    world.transcript.save_growing()
    assert row_of(world, kept.id)[0]["text"] == "kept"
    assert writer.stored(made[0].id) is None
    assert world.transcript.live_wire(made[0].id) is None


def test_late_text_of_a_part_that_has_ended_is_dropped(world: World, scope: Scope) -> None:
    writer = world.writer(scope)
    tool = world.tool(scope, answer(world, scope), running())
    ended = writer.part(tool.but(state=completed("all")))
    told = len(world.events)
    writer.grow(tool.id, "output", "late")
    world.transcript.save_growing()
    assert len(world.events) == told
    assert writer.stored(tool.id) == ended


def test_a_part_of_an_earlier_process_goes_on_growing_where_its_row_ended(world: World, scope: Scope) -> None:
    part = world.growing(scope, answer(world, scope), "before")
    world.transcript.save_growing()
    world.transcript.live.clear()
    row = world.writer(scope).stored(part.id)
    assert isinstance(row, TextPart)
    writer = world.writer(scope)
    writer.adopt(row)
    writer.grow(part.id, "text", " and after")
    assert writer.current(part.id) == row.but(text="before and after", rev=row.rev + 1)


def test_a_write_that_is_rolled_back_leaves_the_growing_part_as_it_was(world: World, scope: Scope) -> None:
    writer = world.writer(scope)
    part = world.growing(scope, answer(world, scope), "text")
    world.database.execute("CREATE TRIGGER full BEFORE UPDATE ON parts BEGIN SELECT RAISE(ABORT, 'full'); END")
    told = len(world.events)
    with pytest.raises(sqlite3.IntegrityError):
        writer.part(writer.current(part.id).but(time=PartTime(start=1, end=2)))
    world.database.execute("DROP TRIGGER full")
    assert len(world.events) == told
    assert writer.current(part.id) == part.but(text="text", rev=2)


def test_rows_read_back_as_what_was_written(world: World, scope: Scope) -> None:
    writer, message = world.writer(scope), answer(world, scope)
    tool = world.tool(scope, message, completed("x", {"a": None, "b": [1, {"c": "d"}]}))
    assert writer.stored(tool.id) == tool
    assert PART.validate_json(world.stores.messages.part(scope.session_id, tool.id) or "") == tool
    assert writer.stored("prt_none") is None
