"""Who runs a session, with a real second process."""

import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from agentls.errors import AgentError, ErrorKind
from agentls.schema.event import Scope
from agentls.storage.owners import Owner
from engine.builders import World, pending

# Takes the sessions named, says its instance id, and holds them until it is killed or told to end.
OTHER = """
import sys
from pathlib import Path
from agentls.storage.database import Database
from agentls.storage.owners import Owners
folder = Path(sys.argv[1])
database = Database(folder / "agentls.db")
owners = Owners(database, folder / "instances")
owners.start()
for session_id in sys.argv[2:]:
    with database.transaction():
        owners.take(session_id)
print(owners.instance_id, flush=True)
sys.stdin.readline()
owners.stop()
print("stopped", flush=True)
sys.stdin.readline()
"""


class Other:
    def __init__(self, folder: Path, sessions: list[str]) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", OTHER, str(folder), *sessions],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.pid = self.process.pid
        self.instance_id = self.line()

    def line(self) -> str:
        assert self.process.stdout
        return self.process.stdout.readline().strip()

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def stop(self) -> None:
        """In order, but it forgets its rows."""
        assert self.process.stdin
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        assert self.line() == "stopped"


Start = Callable[..., Other]


@pytest.fixture
def start(world: World, tmp_path: Path) -> Iterator[Start]:
    world.owners.start()
    others: list[Other] = []

    def begin(*scopes: Scope) -> Other:
        others.append(Other(tmp_path / "data", [scope.session_id for scope in scopes]))
        return others[-1]

    yield begin
    for other in others:
        other.kill()


def locked_by(world: World, scope: Scope) -> int | None:
    try:
        with world.database.transaction():
            world.owners.take(scope.session_id)
    except AgentError as error:
        locked = error
    else:
        return None
    assert (locked.kind, locked.retryable) == (ErrorKind.SESSION_LOCKED, True)
    return int(locked.data["pid"])


def test_a_session_that_another_process_runs_is_locked_with_its_pid(world: World, start: Start) -> None:
    scope, free = world.session(), world.session()
    other = start(scope)
    assert locked_by(world, scope) == other.pid
    assert locked_by(world, free) is None
    assert world.owners.foreign(scope.session_id) == Owner(scope.session_id, other.instance_id, other.pid)
    assert world.owners.foreign(free.session_id) is None
    assert world.owners.dead() == []


def test_the_lock_falls_with_kill_9(world: World, start: Start) -> None:
    scope = world.session()
    other = start(scope)
    other.kill()
    assert world.owners.dead() == [Owner(scope.session_id, other.instance_id, other.pid)]
    assert world.owners.foreign(scope.session_id) is None
    assert locked_by(world, scope) is None
    assert world.owners.dead() == []


def test_one_that_stopped_in_order_is_dead_too(world: World, start: Start) -> None:
    scope = world.session()
    other = start(scope)
    other.stop()
    assert [owner.instance_id for owner in world.owners.dead()] == [other.instance_id]


def test_only_the_dead_are_found_and_looking_frees_no_living_one(world: World, start: Start) -> None:
    dead, living, mine = world.session(), world.session(), world.session()
    other, killed = start(living), start(dead)
    assert locked_by(world, mine) is None
    killed.kill()
    for _ in range(3):
        assert [owner.session_id for owner in world.owners.dead()] == [dead.session_id]
        assert locked_by(world, living) == other.pid


def test_forgetting_a_dead_owner_keeps_its_lock_file_until_its_last_session(
    world: World, start: Start, tmp_path: Path
) -> None:
    first, second = world.session(), world.session()
    other = start(first, second)
    other.kill()
    lock = tmp_path / "data" / "instances" / other.instance_id
    for number, owner in enumerate(world.owners.dead()):
        assert lock.exists(), number
        with world.database.transaction():
            world.owners.forget(owner)
    assert not lock.exists()
    assert world.owners.dead() == []


def test_release_and_forget_touch_no_row_of_another_instance(world: World, start: Start) -> None:
    scope = world.session()
    other = start(scope)
    with world.database.transaction():
        world.owners.release(scope.session_id)
        world.owners.forget(Owner(scope.session_id, "ins_gone", 1))
    owner = world.owners.of(scope.session_id)
    assert owner is not None
    assert owner.instance_id == other.instance_id


def test_what_a_killed_process_left_is_settled_without_a_touch_on_the_living_ones(world: World, start: Start) -> None:
    dead, living = world.session(), world.session()
    for scope in (dead, living):
        user = world.user(scope)
        world.turn(scope, user)
        world.tool(scope, world.assistant(scope, user), pending())
    world.transcript.live.clear()
    start(living)
    start(dead).kill()
    before = world.stores.session(living.session_id)
    for owner in world.owners.dead():
        with world.journal.transaction():
            world.interrupter.settle(world.stores.scope(owner.session_id), "crash")
            world.owners.forget(owner)
    assert world.stores.turns.open(dead.session_id) is None
    assert world.stores.messages.open_parts(dead.session_id) == []
    assert world.stores.turns.open(living.session_id) is not None
    assert len(world.stores.messages.open_parts(living.session_id)) == 1
    assert world.stores.session(living.session_id) == before
