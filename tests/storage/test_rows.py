"""Rows: cascade, order, pages, upserts, contents."""

import sqlite3
import zlib
from pathlib import Path
from typing import Any

import pytest

from agentls.errors import AgentError
from agentls.schema.change import ChangeOrigin, Content, content_hash
from agentls.schema.event import Scope
from agentls.schema.message import AssistantMessage
from agentls.schema.part import PartTime
from agentls.schema.permission import Rule
from agentls.storage.changes import ChangeStore
from agentls.storage.purge import purge
from agentls.storage.sessions import SessionQuery
from engine.builders import World, pending, text_part, user_message

_CONVERSATION = ("sessions", "turns", "messages", "parts", "questions", "rules", "todos", "queue")
TABLES = (*_CONVERSATION, "changes", "contents", "tombstones", "owners")


def fill(world: World, scope: Scope, content: bytes = b"two") -> None:
    """A row in every table."""
    user = world.user(scope)
    message = world.assistant(scope, user)
    turn = world.turn(scope, user)
    part = world.tool(scope, message, pending())
    asker = world.asker(scope, part.id, turn.id)
    writer = world.writer(scope)
    with world.journal.transaction():
        world.ledger.open(asker, "permission", f"per_{scope.session_id}", b'{"a":1}', {})
        world.stores.rules.add("prj", scope.root_id, Rule(permission="bash", pattern=scope.session_id, action="allow"))
        world.stores.todos.save(scope.session_id, "[]")
        world.stores.queue.add(scope.session_id, f"msg_{scope.session_id}", "{}", "{}")
        world.owners.take(scope.session_id)
    writer.remove_part(writer.part(text_part(message, writer.place(), "gone")))
    origin = ChangeOrigin(scope.session_id, turn.id, message.id, part.id)
    ChangeStore(world.database).record(origin, Path("/project/a"), Content.of(b"one"), Content.of(content))


def counts(world: World) -> dict[str, int]:
    return {table: int(world.database.all(f"SELECT count(*) FROM {table}")[0][0] or 0) for table in TABLES}


def purge_all(world: World) -> None:
    while purge(world.database.path):
        pass


def test_deleting_a_session_leaves_no_row_of_it_or_its_children_in_any_table(world: World) -> None:
    root = world.session()
    child = world.session(root)
    fill(world, root)
    fill(world, child)
    assert all(counts(world).values()), counts(world)
    with world.journal.transaction():
        gone = world.stores.sessions.delete(root.session_id)
    assert gone == [root.session_id, child.session_id]
    assert world.stores.sessions.get(root.session_id) is None
    assert world.stores.sessions.tree(root.session_id) == []
    purge_all(world)
    assert counts(world) == dict.fromkeys(TABLES, 0)
    assert world.database.all("PRAGMA foreign_key_check") == []


def test_deleting_one_session_leaves_the_rows_of_another(world: World) -> None:
    mine, other = world.session(), world.session()
    fill(world, mine, b"mine alone")
    before = counts(world)
    fill(world, other, b"other's alone")
    assert counts(world) != before
    with world.journal.transaction():
        world.stores.sessions.delete(other.session_id)
    purge_all(world)
    assert counts(world) == {**before, "sessions": 1}
    assert ChangeStore(world.database).content(content_hash(b"one")) == b"one"
    assert ChangeStore(world.database).content(content_hash(b"other's alone")) is None


# -- messages and parts


def test_an_upsert_is_idempotent_but_for_its_seq(world: World) -> None:
    scope = world.session()
    message = user_message(scope.session_id, world.writer(scope).place())
    store = world.stores.messages
    with world.database.transaction():
        first = store.save(message, message.wire(), "digest")
        second = store.save(message, message.wire())
        part = text_part(message, 2, "a")
        third = store.save_part(part, part.wire())
        fourth = store.save_part(part, part.wire())
    assert first < second < third < fourth
    assert store.get(message.id) == message
    assert store.parts(message.id) == [part]
    assert store.request(message.id) == (scope.session_id, "digest")
    assert counts(world)["messages"] == counts(world)["parts"] == 1


def test_a_part_of_a_message_that_is_not_there_is_refused(world: World) -> None:
    scope = world.session()
    part = text_part(user_message(scope.session_id, 1), 2, "a")
    with pytest.raises(sqlite3.IntegrityError), world.database.transaction():
        world.stores.messages.save_part(part, part.wire())


def test_order_is_pos_whatever_ids_times_and_the_order_of_saving_say(world: World) -> None:
    scope = world.session()
    store = world.stores.messages
    with world.database.transaction():
        for pos, name in ((30, "msg_A"), (10, "msg_C"), (20, "msg_B")):
            message = user_message(scope.session_id, pos, id=name)
            store.save(message, message.wire())
            for place, part_name in ((pos + 3, "x"), (pos + 1, "z"), (pos + 2, "y")):
                part = text_part(message, place, "", id=f"{part_name}{pos}")
                store.save_part(part, part.wire())
    page, mark = store.page(scope.session_id, None, 10)
    assert [(one.id, list(one.parts)) for one in page] == [
        ("msg_C", ["z10", "y10", "x10"]),
        ("msg_B", ["z20", "y20", "x20"]),
        ("msg_A", ["z30", "y30", "x30"]),
    ]
    assert mark is None
    assert [message.id for message in store.since(scope.session_id, 0).messages] == ["msg_C", "msg_B", "msg_A"]


@pytest.mark.parametrize("limit", [1, 2, 3, 6, 7, 8, 500])
def test_pages_of_messages_lose_and_double_nothing(world: World, limit: int) -> None:
    scope, other = world.session(), world.session()
    ids = [world.user(scope, str(number)).id for number in range(7)]
    world.user(other)
    pages: list[list[str]] = []
    mark: int | None = None
    while True:
        page, mark = world.stores.messages.page(scope.session_id, mark, limit)
        pages.insert(0, [one.id for one in page])
        if mark is None:
            break
    assert [one for page in pages for one in page] == ids
    assert all(len(page) == limit for page in pages[1:])


def test_unfinished_are_the_answers_without_an_end(world: World) -> None:
    scope = world.session()
    user = world.user(scope)
    first, second = world.assistant(scope, user), world.assistant(scope, user)
    world.writer(scope).message(first.but(time=first.time.but(completed=5)))
    assert [message.id for message in world.stores.messages.unfinished(scope.session_id)] == [second.id]
    last = world.stores.messages.last_assistant(scope.session_id)
    assert isinstance(last, AssistantMessage)
    assert last.id == second.id


def test_open_parts_are_those_of_which_more_is_to_come(world: World) -> None:
    scope = world.session()
    message = world.assistant(scope, world.user(scope))
    text, tool = world.growing(scope, message), world.tool(scope, message, pending())
    assert [part.id for part in world.stores.messages.open_parts(scope.session_id)] == [text.id, tool.id]
    world.writer(scope).part(text.but(time=PartTime(start=1, end=2)))
    assert [part.id for part in world.stores.messages.open_parts(scope.session_id)] == [tool.id]


def test_the_part_of_another_session_is_not_found(world: World) -> None:
    scope, other = world.session(), world.session()
    part = world.growing(scope, world.assistant(scope, world.user(scope)))
    assert world.stores.messages.part(other.session_id, part.id) is None
    assert world.stores.messages.part(scope.session_id, part.id) is not None


# -- sessions


def listed(world: World, **more: Any) -> tuple[list[str], str | None]:
    query: dict[str, Any] = {"project_id": None, "text": None, "archived": False, "cursor": None, "limit": 50}
    wires, cursor = world.stores.sessions.page(SessionQuery(**{**query, **more}))
    return [wire.partition('"id":"')[2].partition('"')[0] for wire in wires], cursor


@pytest.mark.parametrize("limit", [1, 2, 3, 4, 5, 9, 10, 11])
def test_pages_of_sessions_lose_and_double_nothing_also_at_equal_times(world: World, limit: int) -> None:
    scopes = [world.session(updated=updated) for updated in (5, 5, 5, 9, 9, 1, 1, 1, 5, 7)]
    world.session(scopes[0], updated=6)
    seen: list[str] = []
    cursor: str | None = None
    while True:
        ids, cursor = listed(world, cursor=cursor, limit=limit)
        assert len(ids) <= limit
        seen += ids
        if cursor is None:
            break
    assert len(seen) == len(set(seen)) == 10
    assert set(seen) == {scope.session_id for scope in scopes}
    times = [world.stores.session(one).session.time.updated for one in seen]
    assert times == sorted(times, reverse=True)


@pytest.mark.parametrize("cursor", ["", ".", "x.y", "²³.ses_1", "9" * 30 + ".ses_1", "9" * 5000 + ".ses_1", "1"])
def test_a_cursor_that_is_no_page_mark_is_refused(world: World, cursor: str) -> None:
    world.session()
    with pytest.raises(AgentError, match="page mark"):
        listed(world, cursor=cursor)


def test_sessions_are_found_by_project_archive_and_title(world: World) -> None:
    percent, plain = world.session(title="100% done_"), world.session(title="100 percent done-", project="other")
    assert listed(world, text="% done_")[0] == [percent.session_id]
    assert listed(world, text="DONE-")[0] == [plain.session_id]
    assert listed(world, project_id="other")[0] == [plain.session_id]
    row = world.stores.session(plain.session_id)
    world.stores.sessions.save(row.session.but(time=row.session.time.but(archived=3)))
    assert listed(world, archived=True)[0] == [plain.session_id]
    assert listed(world)[0] == [percent.session_id]


def test_the_frame_is_kept_beside_the_session_and_draws_no_seq(world: World) -> None:
    scope = world.session()
    before = world.stores.session(scope.session_id)
    assert world.stores.sessions.frame(scope.session_id) is None
    world.stores.sessions.save_frame(scope.session_id, '{"system":"x"}')
    assert world.stores.sessions.frame(scope.session_id) == '{"system":"x"}'
    assert world.stores.session(scope.session_id) == before


# -- turns


def test_the_latest_turn_is_the_newest_row_though_the_clock_stepped_back(world: World) -> None:
    scope = world.session()
    user = world.user(scope)
    first = world.turn(scope, user, started=9_000, state="ended")
    second = world.turn(scope, user, started=1_000, state="ended")
    world.stores.turns.save(first)  # changed later
    assert world.stores.turns.latest(scope.session_id) == second
    assert world.stores.turns.of_message(scope.session_id, user.id) == second
    assert world.stores.turns.open(scope.session_id) is None
    third = world.turn(scope, user, started=500)
    assert world.stores.turns.open(scope.session_id) == third


# -- changes and contents


def test_a_content_is_kept_once_and_compressed_and_none_stands_for_no_file(world: World) -> None:
    scope = world.session()
    changes = ChangeStore(world.database)
    origin = ChangeOrigin(scope.session_id, "trn_1", "msg_1", "prt_1")
    big = b"line\n" * 20_000
    changes.record(origin, Path("/b"), None, Content.of(big))
    changes.record(origin, Path("/a"), Content.of(big), Content.of(b""))
    changes.record(origin, Path("/b"), Content.of(big), None)
    rows = world.database.all("SELECT path, before, after FROM changes ORDER BY id")
    key, empty = content_hash(big), content_hash(b"")
    assert rows == [("/b", None, key), ("/a", key, empty), ("/b", key, None)]
    stored = world.database.all("SELECT data FROM contents WHERE hash = ?", (key,))
    assert len(stored) == 1
    assert isinstance(stored[0][0], bytes)
    assert len(stored[0][0]) < len(big) / 50
    assert zlib.decompress(stored[0][0]) == big
    assert (changes.content(key), changes.content(empty), changes.content("none")) == (big, b"", None)
    assert changes.paths_of_message("msg_1") == ["/b", "/a"]
    assert changes.paths_of_message("msg_2") == []
