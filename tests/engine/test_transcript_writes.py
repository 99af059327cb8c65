"""The writer of parts: their states, closed tokens, odd text, removal and rollback."""

import json
import sqlite3
from collections.abc import Callable

import pytest

from agentls.engine.transcript import Token
from agentls.errors import RunClosedError
from agentls.schema.event import Changed, Scope
from agentls.schema.part import PART, PartTime, TextPart, ToolPart
from engine.builders import World, completed, pending, running, text_part, user_message
from engine.copies import answer, replayed, row_of


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
