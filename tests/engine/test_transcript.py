"""The writer of messages and parts, and what a client makes of its events."""

import itertools
import json
import sqlite3
from typing import Any

import anyio
import anyio.lowlevel
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agentls.schema.event import Delta, Scope
from agentls.schema.part import PartTime
from engine.builders import World
from engine.copies import Client, answer, replayed, row_of


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
