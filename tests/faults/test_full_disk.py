"""D09: a store that is full refuses, says so, and works again once there is room."""

import resource
import sqlite3
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import anyio
import pytest

from agentls.model.scripted import Say, ScriptedModel, Wait
from agentls.schema.event import Delta
from engine.house import House, house, is_method, params


@contextmanager
def full(it: House) -> Generator[None]:
    """No file of this process may grow beyond what the store's log has: its next commit fails as on a full disk."""
    log = Path(f"{it.app.database.path}-wal")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (log.stat().st_size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


async def test_d09_a_prompt_that_cannot_be_stored_begins_nothing(tmp_path: Path) -> None:
    model = ScriptedModel([Say("hello")], [Say("again")])
    async with house(tmp_path, model) as it:
        session_id = it.session()
        await it.prompt(session_id, "hi").outcome()
        told = len(it.events)
        with full(it), pytest.raises(sqlite3.OperationalError):
            it.prompt(session_id, "no room")
        await anyio.wait_all_tasks_blocked()
        assert it.events[told:] == []
        assert it.status(session_id) == "idle"
        assert (await it.prompt(session_id, "room again").outcome()).stop_reason == "done"
        assert len([event for event in it.events if is_method(event, "turn/ended")]) == 2
        assert len(it.messages(session_id)) == 4


async def test_d09_a_turn_whose_end_cannot_be_stored_ends_once_and_the_session_goes_on(tmp_path: Path) -> None:
    full_now = anyio.Event()
    model = ScriptedModel([Say("words"), Wait(full_now), Say(" more")], [Say("again")])
    async with house(tmp_path, model) as it:
        session_id = it.session()
        accepted = it.prompt(session_id, "hi")
        await it.until(lambda event: isinstance(event, Delta))
        with full(it):
            full_now.set()
            outcome = await accepted.outcome()
            assert outcome.stop_reason == "error"
            assert outcome.error is not None
            assert outcome.error.data["reason"] == "storage"
        with anyio.fail_after(10):
            while it.status(session_id) != "idle":
                await anyio.sleep(0.05)
        assert (await it.prompt(session_id, "room again").outcome()).stop_reason == "done"
        ended = [params(event)["turnId"] for event in it.events if is_method(event, "turn/ended")]
        assert len(ended) == len(set(ended)) == 2
        assert it.app.stores.owners.of(session_id) is None
