"""C17: each request of a session begins with the bytes of the one before, whatever came between."""

import itertools
import threading
from pathlib import Path

import anyio

from agentls.model.client import ModelRequest
from agentls.model.scripted import Call, Say, ScriptedModel
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
