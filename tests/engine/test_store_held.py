"""Another process holds the database while a turn runs: the turn goes on, the loop too, and every row is there."""

from pathlib import Path

import anyio
import pytest

from agentls.engine import runner
from agentls.model.scripted import Call, Hang, Say, ScriptedModel, Think, Wait
from agentls.schema.event import Delta
from engine.house import House, house, is_method
from storage.clock import clocked
from storage.holder import held

LAG = 0.05
SECONDS = 2


def database(it: House) -> Path:
    return it.app.database.path


async def test_d01_a_turn_goes_through_while_another_process_writes(tmp_path: Path) -> None:
    go = anyio.Event()
    write = Call("write", {"filePath": "new.txt", "content": "by the model"})
    model = ScriptedModel([Say("one"), Wait(go), Think("hm"), Say(" two", 20), write], [Say("done")])
    async with house(tmp_path, model) as it:
        session_id = it.session(mode="auto")
        accepted = it.prompt(session_id, "hi")
        await it.until(lambda event: isinstance(event, Delta))
        with held(database(it), SECONDS):
            async with clocked() as clock:
                go.set()
                outcome = await accepted.outcome()
        assert outcome.stop_reason == "done"
        assert clock.worst < LAG
        parts = [part for entry in it.messages(session_id) for part in entry["parts"]]
        texts = [part["text"] for part in parts if part["type"] in ("text", "reasoning")]
        assert texts == ["hi", "one", "hm", " two", "done"]
        [tool] = it.parts(session_id, "tool")
        assert tool["state"]["status"] == "completed"
        assert (it.directory / "new.txt").read_text() == "by the model"
        [row] = it.app.database.all("SELECT path FROM changes")
        assert row == (str(it.directory / "new.txt"),)


async def test_d01_an_abort_is_answered_in_time_and_stored_once_the_other_has_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runner, "END_SECONDS", 0.3)
    model = ScriptedModel([Say("one"), Hang()], [Say("again")])
    async with house(tmp_path, model) as it:
        session_id = it.session()
        accepted = it.prompt(session_id, "hi")
        await it.until(lambda event: isinstance(event, Delta))
        with held(database(it)), anyio.fail_after(runner.ABORT_SECONDS):
            async with clocked() as clock:
                aborted = await it.app.turns.abort(session_id)
                outcome = await accepted.outcome()
            assert (aborted.aborted, aborted.forced) == (True, False)
            assert outcome.error is not None
            assert outcome.error.data["reason"] == "storage"
            assert "Another process has held" in outcome.error.data["message"]
        assert clock.worst < LAG
        with anyio.fail_after(10):
            while it.app.stores.turns.open(session_id) is not None:
                await anyio.sleep(0.02)
        assert it.app.stores.owners.of(session_id) is None
        [text] = [part for part in it.parts(session_id, "text") if part["text"] == "one"]
        assert "end" in text["time"]
        assert (await it.prompt(session_id, "go on").outcome()).stop_reason == "done"
        assert len([event for event in it.events if is_method(event, "turn/ended")]) == 2
