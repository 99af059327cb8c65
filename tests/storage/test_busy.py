"""Another process holds the database: nothing is lost, nothing is said to be locked, the loop goes on."""

import time
from functools import partial

import anyio
import pytest

from agentls.errors import AgentError
from agentls.schema.event import Noticed
from agentls.storage.database import BusyError
from engine.builders import World
from storage.clock import clocked
from storage.holder import held

LAG = 0.05


def put(world: World, key: str) -> None:
    world.database.execute("INSERT INTO meta VALUES (?, 'here')", (key,))
    world.journal.publish(Noticed("info", key))


def keys(world: World) -> list[str]:
    return [str(row[0]) for row in world.database.all("SELECT key FROM meta WHERE value = 'here' ORDER BY rowid")]


async def test_d01_while_another_process_writes_for_two_seconds_the_loop_runs_and_nothing_is_lost(world: World) -> None:
    worst: list[float] = []
    for attempt in "abc":  # a stall of ours would be there each time, one of a loaded machine is not
        began = time.monotonic()
        with held(world.database.path, 2):
            async with clocked() as clock, anyio.create_task_group() as tasks:
                for number in range(50):
                    tasks.start_soon(world.journal.patiently, partial(put, world, f"{attempt}{number:02}"))
        assert time.monotonic() - began > 1.5
        worst.append(clock.worst)
        assert keys(world)[-50:] == [f"{attempt}{number:02}" for number in range(50)]
        if clock.worst < LAG:
            break
    assert min(worst) < LAG
    assert [event.title for event in world.events if isinstance(event, Noticed)] == keys(world)


async def test_a_write_that_nobody_is_in_the_way_of_is_done_without_a_pause(world: World) -> None:
    done: list[int] = []

    async def other() -> None:
        done.append(len(keys(world)))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(other)
        await world.journal.patiently(partial(put, world, "a"))
        assert done == []
    assert done == [1]


async def test_a_write_that_is_cancelled_while_it_waits_is_not_done_and_those_behind_it_are(world: World) -> None:
    scope = anyio.CancelScope()

    async def first() -> None:
        with scope:
            await world.journal.patiently(partial(put, world, "first"))

    async with anyio.create_task_group() as tasks:
        with held(world.database.path):
            tasks.start_soon(first)
            await anyio.wait_all_tasks_blocked()
            tasks.start_soon(world.journal.patiently, partial(put, world, "second"))
            await anyio.wait_all_tasks_blocked()
            scope.cancel()
            await anyio.wait_all_tasks_blocked()
    assert keys(world) == ["second"]


async def test_where_the_other_does_not_end_it_is_said_and_nothing_is_done(world: World) -> None:
    with held(world.database.path):
        with pytest.raises(AgentError, match=r"Another process has held .*agentls\.db for 0\.2 s") as raised:
            await world.journal.patiently(partial(put, world, "a"), seconds=0.2)
        assert raised.value.retryable
    assert keys(world) == []
    assert world.events == []
    await world.journal.patiently(partial(put, world, "b"))
    assert keys(world) == ["b"]


async def test_a_deed_that_fails_is_not_tried_again(world: World) -> None:
    tries: list[int] = []

    def fails() -> None:
        tries.append(1)
        put(world, "a")
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await world.journal.patiently(fails)
    assert (tries, keys(world), world.events) == ([1], [], [])


def test_at_once_says_busy_within_the_loops_budget_and_has_begun_nothing(world: World) -> None:
    with held(world.database.path):
        began = time.perf_counter()
        with pytest.raises(BusyError), world.database.transaction(at_once=True):
            raise AssertionError("it began")
        assert time.perf_counter() - began < LAG
    with world.database.transaction(at_once=True):
        put(world, "after")
    assert keys(world) == ["after"]


@pytest.mark.parametrize("deed", ["transaction", "statement"])
def test_what_does_not_wait_apart_waits_for_the_other_too(world: World, deed: str) -> None:
    with held(world.database.path, 0.3):
        if deed == "transaction":
            with world.database.transaction():
                put(world, "a")
        else:
            put(world, "a")
    assert keys(world) == ["a"]


def test_reads_go_on_beside_a_writer(world: World) -> None:
    put(world, "a")
    with held(world.database.path):
        began = time.perf_counter()
        assert keys(world) == ["a"]
        assert time.perf_counter() - began < LAG


def test_nothing_is_written_within_a_snapshot(world: World) -> None:
    with world.database.snapshot(), pytest.raises(RuntimeError), world.database.transaction():
        raise AssertionError("it began")
    with world.database.transaction():
        put(world, "after")
    assert keys(world) == ["after"]
