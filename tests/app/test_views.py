"""What the app shows of itself: the settings without their secrets, and what is wrong with them."""

import json
from pathlib import Path
from typing import Any

from agentls.model.scripted import ScriptedModel
from engine.house import House, house


def write(it: House, settings: dict[str, Any]) -> None:
    (it.directory / "agentls.json").write_text(json.dumps(settings))


async def test_the_settings_in_force_are_shown_without_secrets(tmp_path: Path) -> None:
    options = {"baseURL": "https://x.test/v1", "apiKey": "hush-1", "headers": {"X-Mine": "hush-2"}}
    server = {"command": ["run"], "environment": {"ANY": "hush-3"}}
    async with house(tmp_path, ScriptedModel()) as it:
        write(
            it,
            {
                "provider": {"x": {"options": options}},
                "mcp": {"m": server},
                "compaction": {"preserveRecentTokens": 5000},
            },
        )
        shown = json.loads(it.app.choices.settings(it.directory).json)["config"]
    assert "hush" not in json.dumps(shown)
    assert shown["provider"]["x"]["options"] == {
        "baseUrl": "https://x.test/v1",
        "apiKey": "(hidden)",
        "headers": "(hidden)",
    }
    assert shown["compaction"] == {"preserveRecentTokens": 5000}


async def test_a_problem_names_its_file_only_where_there_is_one(tmp_path: Path) -> None:
    async with house(tmp_path, ScriptedModel()) as it:
        write(it, {"no_such_key": 1, "default_agent": "nobody"})
        problems = json.loads(it.app.status.view().json)["problems"]
    [unknown] = [problem for problem in problems if "no_such_key" in problem["message"]]
    [agent] = [problem for problem in problems if "nobody" in problem["message"]]
    assert unknown["path"] == str(it.directory / "agentls.json")
    assert unknown["line"] == 1
    assert "path" not in agent


async def test_what_a_deleted_session_read_is_forgotten(tmp_path: Path) -> None:
    async with house(tmp_path, ScriptedModel()) as it:
        session_id = it.session()
        it.app.toolbox.reads.note(session_id, it.directory / "a", "hash")
        await it.app.sessions.delete(session_id)
        assert it.app.toolbox.reads.seen(session_id, it.directory / "a") is None
