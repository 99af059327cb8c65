"""What dead processes left: each session is brought to an end on its own, and none keeps the server from starting."""

from pathlib import Path

import anyio

from agentls.model.scripted import Say, ScriptedModel
from engine.house import house


async def test_a_row_that_cannot_be_read_keeps_no_other_session_from_its_end(tmp_path: Path) -> None:
    async with house(tmp_path, ScriptedModel()) as it:
        broken, good = it.session(), it.session()
        for session_id in (broken, good):
            it.app.database.execute("INSERT INTO owners VALUES (?, 'ins_dead', 1)", (session_id,))
            it.app.database.execute(
                "INSERT INTO turns VALUES (?, ?, 9, 'running', 1, ?)",
                (f"trn_{session_id}", session_id, _turn(session_id) if session_id == good else '{"id": 5}'),
            )
    async with house(tmp_path, ScriptedModel([Say("Hello.")])) as it:
        with anyio.fail_after(10):
            while it.app.owners.of(good) is not None:
                await anyio.lowlevel.checkpoint()
        assert it.status(good) == "idle"
        assert it.app.owners.of(broken) is not None
        assert (await it.prompt(good, "Are you there?").outcome()).stop_reason == "done"


def _turn(session_id: str) -> str:
    return (
        f'{{"id":"trn_{session_id}","sessionId":"{session_id}","messageId":"msg_1","state":"running",'
        '"usage":{"tokens":{"input":0,"output":0,"reasoning":0,"cache":{"read":0,"write":0}}},"time":{"started":1}}'
    )
