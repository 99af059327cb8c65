"""What is not allowed is neither done nor told."""

import json
from pathlib import Path

import anyio
import pytest

from agentls.model.scripted import Call, Say, ScriptedModel
from engine.house import House, house, is_method, params

SECRET = "name=topsecretname"


async def rejected(it: House, model: ScriptedModel, call: Call, **options: str) -> list[tuple[str, list[str]]]:
    """Plays one call; every question is answered with a no in words. What was asked."""
    model.add([call], [Say("so be it")])
    asked: list[tuple[str, list[str]]] = []

    async def answer() -> None:
        at = len(it.events)
        while True:
            event = await it.until(lambda event: is_method(event, "permission/asked"), since=at)
            at = it.events.index(event) + 1
            question = params(event)
            asked.append((question["permission"], question["patterns"]))
            it.app.permissions.reply(question["permissionId"], "reject", message="no")

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(answer)
        await it.prompt(it.session(**options), "go").outcome()
        tasks.cancel_scope.cancel()
    return asked


@pytest.mark.parametrize("path", [".env", "../outside/secret.txt", "link/secret.txt"])
async def test_p25_why_an_edit_cannot_be_quotes_no_file_that_may_not_be_read(tmp_path: Path, path: str) -> None:
    """An oldString that is nearly right is answered with the lines of the file, so they are asked for first."""
    outside = tmp_path / "outside"
    outside.mkdir()
    model = ScriptedModel()
    async with house(tmp_path, model) as it:
        (it.directory / "link").symlink_to(outside)
        for file in (it.directory / ".env", outside / "secret.txt"):
            file.write_text(f"A=1\n{SECRET}\n")
        asked = await rejected(it, model, Call("edit", {"filePath": path, "oldString": "A=1\nnam_", "newString": ""}))
        assert [permission for permission, _ in asked] == ["read" if path == ".env" else "external_directory"]
        assert SECRET.encode() not in b"".join(model.requests[-1].messages)


@pytest.mark.parametrize("mode", ["ask", "auto"])
@pytest.mark.parametrize("target", [".", "..", "private"])
async def test_p25_a_search_shows_nothing_of_files_whose_reading_a_rule_forbids(
    tmp_path: Path, target: str, mode: str
) -> None:
    model = ScriptedModel()
    async with house(tmp_path, model) as it:
        (it.directory / "private").mkdir()
        (it.directory / "private" / "keys").write_text(f"{SECRET}\n")
        (it.directory / "open").write_text("name=seen\n")
        rules = {"read": {"private/*": "deny"}, "external_directory": "allow"}
        (it.directory / "agentls.json").write_text(json.dumps({"permission": rules}))
        model.add([Call("grep", {"pattern": "name=", "path": target})], [Say("done")])
        session_id = it.session(mode=mode)
        await it.prompt(session_id, "go").outcome()
        [found] = it.parts(session_id, "tool")
        assert ("name=seen" in found["state"]["output"]) == (target != "private")
        assert "1 file that may not be read" in found["state"]["output"]
        assert SECRET.encode() not in b"".join(model.requests[-1].messages)


@pytest.mark.parametrize("arguments", [{"command": "touch made", "workdir": "sub"}, {"command": "cat sub/secret.txt"}])
async def test_a_command_goes_to_no_place_that_a_link_leads_to_since_it_was_asked(
    tmp_path: Path, arguments: dict[str, str]
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.txt").write_text(f"{SECRET}\n")
    model = ScriptedModel([Call("bash", arguments)], [Say("done")])
    async with house(tmp_path, model) as it:
        folder = it.directory / "sub"
        folder.mkdir()
        accepted = it.prompt(it.session(), "go")
        question = await it.asked()
        folder.rmdir()
        folder.symlink_to(outside)
        it.app.permissions.reply(question["permissionId"], "once")
        await accepted.outcome()
        assert sorted(path.name for path in outside.iterdir()) == ["secret.txt"]
        assert SECRET.encode() not in b"".join(model.requests[-1].messages)
