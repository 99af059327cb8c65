"""C17: each request of a session begins with the bytes of the one before, whatever came between."""

import itertools
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import anyio
import pytest

from agentls.model.client import ModelRequest
from agentls.model.failures import FailureKind, ModelFailure
from agentls.model.scripted import Call, Fail, Hang, Say, ScriptedModel, Signal, Think, Wait
from agentls.schema.event import Delta
from engine.house import House, house, is_method


def prefixed(requests: list[ModelRequest]) -> bool:
    pairs = itertools.pairwise(requests)
    return all(
        (one.tools, list(one.messages)) == (two.tools, list(two.messages)[: len(one.messages)]) for one, two in pairs
    )


async def test_c17_a_prompt_that_comes_while_the_step_is_prepared_is_in_its_request(tmp_path: Path) -> None:
    """It must not be stored in front of an answer whose request did not hold it."""
    begun, let = threading.Event(), threading.Event()

    def making() -> None:
        begun.set()
        let.wait(10)

    model = ScriptedModel([Call("list", {})], [Say("done")])
    async with house(tmp_path, model, making=making) as it:
        session_id = it.session()
        accepted = it.prompt(session_id, "one")
        await anyio.to_thread.run_sync(begun.wait, 10)
        it.prompt(session_id, "two")
        it.prompt(session_id, "three", no_reply=True)
        let.set()
        assert (await accepted.outcome()).stop_reason == "done"
        assert [message["content"] for message in model.bodies()[0][1:]] == ["one\n\ntwo\n\nthree"]
        assert len(model.requests) == 2
        assert prefixed(model.requests)
        assert len(ended(it)) == 1


def ended(it: House) -> list[object]:
    return [event for event in it.events if is_method(event, "turn/ended")]


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], None]]:
    """Sets the zone: between UTC+12 and UTC-14 (as POSIX writes them) there is always another day."""

    def move(zone: str) -> None:
        monkeypatch.setenv("TZ", zone)
        time.tzset()

    yield move
    monkeypatch.undo()
    time.tzset()


async def test_c17_the_prefix_stands_over_steering_abort_error_a_new_day_and_a_restart(
    tmp_path: Path, clock: Callable[[str], None]
) -> None:
    clock("UTC+12")
    going, steered = anyio.Event(), anyio.Event()
    refused = ModelFailure(FailureKind.API, "no", provider="script")
    model = ScriptedModel(
        [Call("list", {}), Signal(going), Wait(steered)],
        [Say("both answered")],
        [Say("half"), Hang()],
        [Fail(refused)],
        [Think("hm"), Say("again")],
        [Say("a new day")],
        [Call("list", {}), Call("read", {"filePath": "none"})],
        [Say("after a restart")],
    )
    async with house(tmp_path, model) as it:
        session_id = it.session()
        accepted = it.prompt(session_id, "one")
        await going.wait()
        it.prompt(session_id, "steered")
        it.prompt(session_id, "no reply", no_reply=True)
        steered.set()
        assert (await accepted.outcome()).stop_reason == "done"
        told = len(it.events)
        it.prompt(session_id, "to be stopped")
        await it.until(lambda event: isinstance(event, Delta), since=told)
        await it.app.turns.abort(session_id)
        assert (await it.prompt(session_id, "fails").outcome()).stop_reason == "error"
        assert (await it.prompt(session_id, "next").outcome()).stop_reason == "done"
        clock("UTC-14")
        assert (await it.prompt(session_id, "tomorrow").outcome()).stop_reason == "done"
    async with house(tmp_path, model) as it:
        assert (await it.prompt(session_id, "restarted").outcome()).stop_reason == "done"
    assert len(model.requests) == 8
    assert prefixed(model.requests)
    told_days = [message for message in model.bodies()[-1] if "A new day has begun" in message["content"]]
    assert told_days == [model.bodies()[5][-1]]
