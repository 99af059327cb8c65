"""The fixed head of a session's requests: what it holds, and what is told beside it when the day has changed."""

import json
from pathlib import Path

from agentls.model.scripted import Say, ScriptedModel
from engine.house import house


async def test_instruction_files_stand_in_the_system_text_with_their_path(tmp_path: Path) -> None:
    model = ScriptedModel([Say("Yes.")])
    async with house(tmp_path, model) as it:
        (it.directory / "AGENTS.md").write_text("Be brief: {x} stays.\n")
        await it.prompt(it.session(), "hi").outcome()
        system = model.bodies()[0][0]
        assert system["role"] == "system"
        assert f"Instructions from {it.directory}/AGENTS.md:\nBe brief: {{x}} stays." in system["content"]


async def test_a_new_day_is_told_with_the_message_and_changes_nothing_before_it(tmp_path: Path) -> None:
    model = ScriptedModel([Say("One.")], [Say("Two.")], [Say("Three.")])
    async with house(tmp_path, model) as it:
        session_id = it.session()
        await it.prompt(session_id, "first").outcome()
        await it.prompt(session_id, "the same day").outcome()
        frame = json.loads(it.app.stores.sessions.frame(session_id) or "")
        today, frame["date"] = frame["date"], "2001-02-03"
        it.app.stores.sessions.save_frame(session_id, json.dumps(frame))
        await it.prompt(session_id, "another day").outcome()
        first, second, third = model.bodies()
        assert [one["content"] for one in second if one["role"] == "user"] == ["first", "the same day"]
        assert today in third[-1]["content"]
        assert third[: len(second)] == second
        assert first == second[: len(first)]
