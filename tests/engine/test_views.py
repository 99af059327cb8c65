"""What clients read: pages, parts, and what `attach` gives."""

import json
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import anyio
import pytest

from agentls.engine.runner import Runner
from agentls.engine.views import PAGE_BYTES, SNAPSHOT_MESSAGES, Views
from agentls.errors import AgentError, ErrorKind
from agentls.schema.base import Raw
from agentls.schema.event import Scope
from agentls.schema.session import Position
from agentls.storage.sessions import SessionQuery
from engine.builders import World, pending, running

OTHER = """
import sys
import time
from pathlib import Path
from agentls.storage.database import Database
from agentls.storage.owners import Owners
folder = Path(sys.argv[1])
database = Database(folder / "agentls.db")
owners = Owners(database, folder / "instances")
owners.start()
with database.transaction():
    owners.take(sys.argv[2])
print("has it", flush=True)
sys.stdin.readline()
"""


@pytest.fixture
async def views(world: World) -> AsyncIterator[Views]:
    async with anyio.create_task_group() as tasks:
        yield Views(world.stores, world.transcript, Runner(tasks, world.stores, world.transcript, world.interrupter))


@pytest.fixture
def scope(world: World) -> Scope:
    return world.session()


def read(raw: Raw) -> Any:
    return json.loads(raw.json)


def position(world: World, scope: Scope) -> Position:
    return Position(epoch=world.database.epoch, seq=world.stores.session(scope.session_id).counter)


def message_ids(page: Any) -> list[str]:
    return [item["message"]["id"] for item in page["messages"]]


# -- pages


@pytest.mark.parametrize("limit", [1, 2, 3, 7, 8])
async def test_pages_of_messages_meet_without_loss(world: World, scope: Scope, views: Views, limit: int) -> None:
    ids = [world.user(scope, str(number)).id for number in range(7)]
    seen: list[str] = []
    mark: str | None = None
    while True:
        page = read(views.messages(scope.session_id, mark, limit))
        assert len(page["messages"]) <= limit
        seen = message_ids(page) + seen
        mark = page.get("nextCursor")
        if mark is None:
            break
        assert isinstance(mark, str)
    assert seen == ids


@pytest.mark.parametrize(("limit", "size"), [(None, 50), (0, 1), (-5, 1), (60, 60), (10_000, 500)])
async def test_limits_are_kept_within_bounds(
    world: World, scope: Scope, views: Views, limit: int | None, size: int
) -> None:
    with world.journal.transaction():
        for _ in range(501):
            world.user(scope)
    assert len(read(views.messages(scope.session_id, None, limit))["messages"]) == size


@pytest.mark.parametrize("mark", ["", "x", "-1", "1.5", "²", "٣", " 1", "9" * 19, "9" * 5000])
async def test_a_page_mark_that_is_none_is_invalid_params(world: World, scope: Scope, views: Views, mark: str) -> None:
    world.user(scope)
    with pytest.raises(AgentError) as raised:
        views.messages(scope.session_id, mark, None)
    assert raised.value.kind is ErrorKind.INVALID_PARAMS


async def test_pages_of_sessions_carry_their_mark(world: World, views: Views) -> None:
    scopes = [world.session(updated=number) for number in range(3)]
    first = read(views.sessions(SessionQuery(None, None, archived=False, cursor=None, limit=2)))
    second = read(views.sessions(SessionQuery(None, None, archived=False, cursor=first["nextCursor"], limit=2)))
    ids = [session["id"] for session in first["sessions"] + second["sessions"]]
    assert ids == [scope.session_id for scope in reversed(scopes)]
    assert "nextCursor" not in second


async def test_reads_give_the_growing_part_and_not_its_row(world: World, scope: Scope, views: Views) -> None:
    message = world.assistant(scope, world.user(scope))
    part = world.growing(scope, message, "grown")
    tool = world.tool(scope, message, running())
    world.writer(scope).grow(tool.id, "output", "printed")
    attached = read(views.attach(scope.session_id, None))["snapshot"]["messages"][-1]["parts"]
    paged = read(views.messages(scope.session_id, None, None))["messages"][-1]["parts"]
    alone = [read(views.part(scope.session_id, one.id))["part"] for one in (part, tool)]
    changed = read(views.attach(scope.session_id, position(world, scope)))["changes"]
    assert attached == paged == alone == [change["value"] for change in changed]
    assert (alone[0]["text"], alone[0]["rev"]) == ("grown", 2)
    assert alone[1]["state"]["output"] == "printed"


# -- what is not there


async def test_what_is_not_there_is_named(world: World, scope: Scope, views: Views) -> None:
    other = world.session()
    part = world.growing(scope, world.assistant(scope, world.user(scope)), "mine")
    for read_it in (views.session, views.queue, lambda name: views.messages(name, None, None)):
        with pytest.raises(AgentError) as raised:
            read_it("ses_none")
        assert raised.value.kind is ErrorKind.SESSION_NOT_FOUND
    with pytest.raises(AgentError, match="ses_none"):
        views.attach("ses_none", None)
    for session_id, part_id in ((scope.session_id, "prt_none"), (other.session_id, part.id)):
        with pytest.raises(AgentError) as raised:
            views.part(session_id, part_id)
        assert raised.value.kind is ErrorKind.PART_NOT_FOUND


# -- attach


async def test_attach_without_a_position_gives_a_snapshot(world: World, scope: Scope, views: Views) -> None:
    with world.journal.transaction():
        ids = [world.user(scope).id for _ in range(SNAPSHOT_MESSAGES + 1)]
        turn = world.turn(scope, world.user(scope))
        world.stores.todos.save(scope.session_id, '[{"content":"do"}]')
        world.stores.queue.add(scope.session_id, "msg_q", "{}", '{"messageId":"msg_q"}')
    answer = read(views.attach(scope.session_id, None))
    assert set(answer) == {"position", "status", "turn", "pending", "truncated", "snapshot"}
    assert answer["position"] == {"epoch": world.database.epoch, "seq": position(world, scope).seq}
    assert answer["truncated"] is False
    assert answer["turn"]["id"] == turn.id
    snapshot = answer["snapshot"]
    assert set(snapshot) == {"session", "turn", "todos", "queue", "messages", "nextCursor"}
    assert message_ids(snapshot)[:-1] == ids[2:]
    rest = read(views.messages(scope.session_id, snapshot["nextCursor"], None))
    assert message_ids(rest) == ids[:2]
    assert snapshot["todos"] == [{"content": "do"}]
    assert snapshot["queue"] == [{"messageId": "msg_q"}]


async def test_attach_at_the_present_position_gives_the_open_parts_alone(
    world: World, scope: Scope, views: Views
) -> None:
    message = world.assistant(scope, world.user(scope))
    part = world.growing(scope, message, "x")
    answer = read(views.attach(scope.session_id, position(world, scope)))
    assert answer["truncated"] is False
    assert "snapshot" not in answer
    assert [(change["kind"], change["value"]["id"]) for change in answer["changes"]] == [("part", part.id)]


async def test_attach_gives_what_changed_and_what_went(world: World, scope: Scope, views: Views) -> None:
    user, gone = world.user(scope, "a"), world.user(scope, "b")
    since = position(world, scope)
    with world.database.transaction():
        world.stores.messages.remove(scope.session_id, gone.id)
    later = world.user(scope, "c")
    answer = read(views.attach(scope.session_id, since))
    told = [(change["kind"], change.get("removed") or change["value"].get("id")) for change in answer["changes"]]
    assert told[:2] == [("message", gone.id), ("message", later.id)]
    assert [kind for kind, _ in told] == ["message", "message", "part"]
    assert user.id not in {name for _, name in told}
    assert all(since.seq < change["seq"] <= answer["position"]["seq"] for change in answer["changes"])


@pytest.mark.parametrize("wrong", ["epoch", "seq"])
async def test_a_position_that_is_not_of_here_gives_a_snapshot_and_says_so(
    world: World, scope: Scope, views: Views, wrong: str
) -> None:
    here = position(world, scope)
    since = here.but(epoch="other") if wrong == "epoch" else here.but(seq=here.seq + 1)
    answer = read(views.attach(scope.session_id, since))
    assert answer["truncated"] is True
    assert "snapshot" in answer
    assert "changes" not in answer


async def test_a_session_that_another_process_runs_is_a_snapshot_with_its_owner(
    world: World, scope: Scope, views: Views, tmp_path: Path
) -> None:
    world.owners.start()
    since = position(world, scope)
    with subprocess.Popen(
        [sys.executable, "-c", OTHER, str(tmp_path / "data"), scope.session_id],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as other:
        assert other.stdout
        assert other.stdout.readline() == "has it\n"
        answer = read(views.attach(scope.session_id, since))
        other.kill()
    assert answer["owner"] == {"pid": other.pid}
    assert answer["truncated"] is True
    assert "snapshot" in answer
    assert "owner" not in read(views.attach(scope.session_id, since))


# -- state


async def test_what_is_pending_is_a_roots_with_its_childrens_and_a_childs_own(
    world: World, scope: Scope, views: Views
) -> None:
    child = world.session(scope)
    world.ledger.open(world.asker(scope), "permission", "per_1", b'{"permissionId":"per_1"}', {})
    world.ledger.open(world.asker(child), "question", "que_1", b'{"questionId":"que_1"}', {})
    mine, of_child = read(views.session(scope.session_id)), read(views.session(child.session_id))
    assert mine["pending"] == {"permissions": [{"permissionId": "per_1"}], "questions": [{"questionId": "que_1"}]}
    assert of_child["pending"] == {"permissions": [], "questions": [{"questionId": "que_1"}]}
    assert read(views.attach(scope.session_id, None))["pending"] == mine["pending"]


@pytest.mark.parametrize(("state", "status"), [(None, "idle"), ("ended", "idle"), ("waiting", "waiting")])
async def test_the_status_of_a_session_that_does_not_run_is_that_of_its_turn(
    world: World, scope: Scope, views: Views, state: Any, status: str
) -> None:
    if state is not None:
        world.turn(scope, world.user(scope), state=state)
    answer = read(views.session(scope.session_id))
    assert answer["status"] == {"type": status}
    assert ("turn" in answer) is (state == "waiting")


async def test_the_queue_is_read_in_its_order(world: World, scope: Scope, views: Views) -> None:
    for name in ("msg_b", "msg_a"):
        world.stores.queue.add(scope.session_id, name, "{}", json.dumps({"messageId": name}))
    assert read(views.queue(scope.session_id)) == {"items": [{"messageId": "msg_b"}, {"messageId": "msg_a"}]}


async def test_text_of_any_kind_is_json_in_the_end(world: World, scope: Scope, views: Views) -> None:
    nasty = '"}],\\ \n\u2028 \x00 \x1b[31m 😀 </script>'
    world.user(scope, nasty)
    message = world.assistant(scope, world.user(scope))
    world.tool(scope, message, pending(input={nasty: nasty}))
    page = read(views.messages(scope.session_id, None, None))
    assert page["messages"][0]["parts"][0]["text"] == nasty
    assert page["messages"][2]["parts"][0]["state"]["input"] == {nasty: nasty}


# -- size


async def test_l14_a_page_and_a_snapshot_are_bounded_in_bytes_too(world: World, scope: Scope, views: Views) -> None:
    """Eight messages of 1 MiB: a page ends before 4 MiB, whatever its limit, and the marks lead through all of them."""
    with world.journal.transaction():
        ids = [world.user(scope, "é" * (1 << 19)).id for _ in range(8)]
    attached = views.attach(scope.session_id, None)
    assert len(attached.json) < PAGE_BYTES + 10_000
    snapshot = read(attached)["snapshot"]
    assert message_ids(snapshot) == ids[-3:]
    pages = [message_ids(snapshot)]
    mark = snapshot.get("nextCursor")
    while mark is not None:
        page = views.messages(scope.session_id, mark, 500)
        assert len(page.json) < PAGE_BYTES + 10_000
        pages.append(message_ids(read(page)))
        mark = read(page).get("nextCursor")
    assert pages == [ids[5:], ids[2:5], ids[:2]]


@pytest.mark.parametrize("sizes", [[5, 5, 1], [1, 1, 5], [5], [1, 5, 1, 5, 1]])
async def test_l14_a_message_larger_than_a_page_comes_alone(
    world: World, scope: Scope, views: Views, sizes: list[int]
) -> None:
    with world.journal.transaction():
        ids = [world.user(scope, "x" * (size << 20)).id for size in sizes]
    seen: list[str] = []
    mark: str | None = None
    while True:
        page = read(views.messages(scope.session_id, mark, None))
        texts = [one["parts"][0]["text"] for one in page["messages"]]
        assert len(texts) == 1 or sum(map(len, texts)) < PAGE_BYTES
        seen = message_ids(page) + seen
        mark = page.get("nextCursor")
        if mark is None:
            break
    assert seen == ids


async def test_l14_a_history_of_five_thousand_messages_is_read_page_by_page(
    world: World, scope: Scope, views: Views
) -> None:
    with world.journal.transaction():
        ids = [world.user(scope, f"message {number} " + "x" * 2_000).id for number in range(5_000)]
    seen: list[str] = []
    mark: str | None = None
    slowest = 0.0
    while True:
        began = time.thread_time()
        page = views.messages(scope.session_id, mark, 500)
        slowest = max(slowest, time.thread_time() - began)
        assert len(page.json) < PAGE_BYTES
        seen = message_ids(read(page)) + seen
        mark = read(page).get("nextCursor")
        if mark is None:
            break
    assert seen == ids
    assert slowest < 0.5
