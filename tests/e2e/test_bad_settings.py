"""Settings that are broken, odd or gone: told with their place, and nothing stops."""

import pytest

from e2e.client import Client
from e2e.model import Script, calls, says
from e2e.people import is_for_people, usable
from e2e.server import OPTIONS, Machine, provider
from e2e.talk import Talk

BROKEN: list[tuple[str, int | None, int | None]] = [
    ('{\n  "model": "fake/test-model",\n  "provider": {"fake" 5}\n}\n', 3, 23),
    ("{", 1, None),
    ("not json at all", 1, 1),
    ('{"model": 5}', None, None),
    ('{"permission": {"bash": "perhaps"}}', None, None),
    ('{"provider": []}', None, None),
    ("[]", None, None),
]


async def test_broken_settings_are_told_with_their_place(machine: Machine, model: Script) -> None:
    """From the start and while it runs; mended ones count at once."""
    machine.config.write_text(BROKEN[0][0])
    folder = machine.project("broken")
    async with machine.editor(folder) as client:
        talk = await Talk.begin(client, folder)
        for text, line, column in BROKEN:
            write(machine, client, text)
            status = await client.request("server/status")
            [problem, *_] = [one for one in status["problems"] if one.get("path") == str(machine.config)]
            is_for_people(problem["message"])
            assert problem["severity"] == "error"
            assert line in (None, problem["line"]), text
            assert column in (None, problem["column"]), text
        machine.settings(model.url)
        write(machine, client, machine.config.read_text())
        await usable(talk, model)
        write(machine, client, BROKEN[0][0])
        await usable(talk, model)


def write(machine: Machine, client: Client, text: str) -> None:
    """The word of the editor has the files read again at once; else that is done twice a second."""
    machine.config.write_text(text)
    client.notify("workspace/didChangeConfiguration", {"settings": {"agentls": {}}})


@pytest.mark.parametrize("how", ["no text", "a folder", "too large"])
async def test_settings_that_cannot_be_read(machine: Machine, model: Script, how: str) -> None:
    if how == "no text":
        machine.config.write_bytes(b'{"model": "\xff\xfe"}')
    elif how == "a folder":
        machine.config.unlink()
        machine.config.mkdir()
    else:
        machine.config.write_text(" " * (1 << 21))
    folder = machine.project("unreadable")
    async with machine.editor(folder) as client:
        status = await client.request("server/status")
        [problem] = [one for one in status["problems"] if one.get("path") == str(machine.config)]
        is_for_people(problem["message"])
        await Talk.begin(client, folder)


async def test_unknown_keys_warn_and_nothing_stops(machine: Machine, model: Script) -> None:
    machine.settings(model.url, colour="red", permission={"bash": "allow"})
    folder = machine.project("keys")
    async with machine.editor(folder) as client:
        status = await client.request("server/status")
        [problem] = status["problems"]
        assert problem["severity"] == "warning"
        assert "colour" in problem["message"]
        talk = await Talk.begin(client, folder)
        model.plays(calls(("bash", {"command": "echo hi"})), says("Done."))
        assert (await talk.prompt("Run it.", wait="idle"))["stopReason"] == "done"
        assert talk.seen("permission/asked") == []


async def test_the_editors_settings_come_last_and_can_change(machine: Machine, model: Script) -> None:
    folder = machine.project("editor")
    options = {
        "protocolVersion": 1,
        "ui": {"permission": True},
        "trusted": True,
        "settings": {"permission": {"bash": "deny"}},
    }
    async with machine.editor(folder, options) as client:
        talk = await Talk.begin(client, folder)
        model.plays(calls(("bash", {"command": "echo hi"})), says("Denied."))
        assert (await talk.prompt("Run it.", wait="idle"))["stopReason"] == "done"
        assert [tool["state"]["status"] for tool in await talk.tools()] in ([], ["error"])
        client.notify("workspace/didChangeConfiguration", {"settings": {"agentls": {"permission": {"bash": "allow"}}}})
        model.plays(calls(("bash", {"command": "echo hi"})), says("Done."))
        assert (await talk.prompt("Run it.", wait="idle"))["stopReason"] == "done"
        assert (await talk.tools())[-1]["state"]["status"] == "completed"
        assert talk.seen("permission/asked") == []


@pytest.mark.parametrize("options", [[], "text", 5, {"protocolVersion": "x", "ui": 5}, {"events": {"coalesceMs": -5}}])
async def test_odd_options_of_a_client_do_not_keep_it_out(machine: Machine, options: object) -> None:
    folder = machine.project("odd")
    async with machine.process(folder) as client:
        await client.request(
            "initialize",
            {"processId": None, "rootUri": None, "capabilities": {}, "initializationOptions": {"agentls": options}},
        )
        assert "sessions" in await client.request("session/list")


async def test_a_model_of_a_provider_without_a_key(machine: Machine, model: Script) -> None:
    keyless = provider(model.url)
    keyless["options"].pop("apiKey")
    machine.settings(model.url, provider={"fake": keyless})
    folder = machine.project("keyless")
    async with machine.editor(folder) as client:
        talk = await Talk.begin(client, folder)
        model.plays(says("No key needed here."))
        result = await talk.prompt("Hi.", wait="idle")
        assert result["stopReason"] in ("done", "error")
        if result["stopReason"] == "error":
            assert "key" in result["error"]["data"]["message"].lower()


async def test_a_data_folder_that_cannot_be_written_is_said(machine: Machine) -> None:
    machine.data.parent.mkdir(parents=True)
    machine.data.write_text("a file where the folder should be")
    folder = machine.project("nowhere")
    async with machine.process(folder) as client:
        assert await client.gone() != 0
        said = client.errors.decode()
        assert str(machine.data) in said
        assert "Traceback" not in said


async def test_a_queued_prompt_whose_agent_is_gone_is_held(machine: Machine, model: Script) -> None:
    """The end of the turn before it is told as it was; `continue` says what is missing."""
    folder = machine.project("gone")
    helper = {"agent": {"helper": {"description": "helps", "mode": "primary", "prompt": "Help."}}}
    async with machine.editor(folder, {**OPTIONS, "settings": helper}) as client:
        talk = await Talk.begin(client, folder)
        model.plays(says("one two", 2, gate="half"))
        turn_id = (await talk.prompt("One."))["turnId"]
        await talk.first_text()
        await talk.prompt("Two.", delivery="queue", agent="helper")
        client.notify("workspace/didChangeConfiguration", {"settings": {"agentls": {}}})
        await talk.ask("session/get")
        model.open("half")
        assert (await talk.ended(turn_id))["stopReason"] == "done"
        await talk.idle()
        assert [item["text"] for item in (await talk.ask("queue/list"))["items"]] == ["Two."]
        error = await client.refused("session/continue", {"sessionId": talk.id})
        assert error.kind == "agent_not_found"
        assert "helper" in error.message
        await talk.abort(queue="clear")
        await usable(talk, model)
