"""What the app shows of itself: the settings without their secrets, and what is wrong with them."""

import fcntl
import json
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest

from agentls.errors import AgentError
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


async def test_keys_that_are_not_used_yet_are_a_note(tmp_path: Path) -> None:
    async with house(tmp_path, ScriptedModel()) as it:
        write(it, {"snapshot": False, "small_model": "a/b"})
        [note] = json.loads(it.app.status.view().json)["problems"]
    assert (note["severity"], note["path"], note["line"]) == ("info", str(it.directory / "agentls.json"), 1)
    assert note["message"].endswith("`snapshot`, `small_model` are not used by this version yet")


async def test_what_a_deleted_session_read_is_forgotten(tmp_path: Path) -> None:
    async with house(tmp_path, ScriptedModel()) as it:
        session_id = it.session()
        it.app.toolbox.reads.note(session_id, it.directory / "a", "hash")
        await it.app.sessions.delete(session_id)
        assert it.app.toolbox.reads.seen(session_id, it.directory / "a") is None


async def test_a_word_of_trust_that_cannot_be_stored_names_the_file(tmp_path: Path) -> None:
    async with house(tmp_path, ScriptedModel()) as it:
        it.app.paths.trust.mkdir(parents=True)
        for trusted in (True, False):
            with pytest.raises(AgentError, match="cannot be written") as refused:
                await it.app.trust(it.directory, trusted=trusted)
            assert refused.value.kind == "path_denied"
            assert str(it.app.paths.trust) in refused.value.message


async def test_a_word_of_trust_waits_for_another_process_and_nobody_else_waits(tmp_path: Path) -> None:
    async with house(tmp_path, ScriptedModel()) as it, anyio.create_task_group() as tasks:
        lock = it.app.paths.trust.with_suffix(".lock")
        with lock.open("w") as held:
            fcntl.flock(held, fcntl.LOCK_EX)
            tasks.start_soon(partial(it.app.trust, it.directory, trusted=True))
            await anyio.wait_all_tasks_blocked()
            assert not it.app.paths.trust.exists()
    assert it.app.paths.trust.exists()
