"""Arguments that are nested without end are the model's fault, not a fault of ours."""

from pathlib import Path

import pytest

from agentls.model.scripted import Call, Say, ScriptedModel
from engine.house import house


@pytest.mark.parametrize("depth", [100, 195, 250, 900, 100_000])
async def test_arguments_however_deep_end_no_turn(tmp_path: Path, depth: int) -> None:
    raw = '{"filePath": "a", "x": ' + "[" * depth + "]" * depth + "}"
    async with house(tmp_path, ScriptedModel([Call("read", raw=raw)], [Say("done")])) as it:
        session_id = it.session()
        assert (await it.prompt(session_id, "go").outcome()).stop_reason == "done"
        [tool] = it.parts(session_id, "tool")
        assert tool["state"]["status"] == "error"
