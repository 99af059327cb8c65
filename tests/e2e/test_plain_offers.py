"""What a client with no code of ours is offered, and one with it is not."""

from e2e.model import Script, says
from e2e.plain import CAPABILITIES, LONG, Plain
from e2e.server import OPTIONS, Machine


async def test_a_client_with_our_options_has_its_own_surfaces(machine: Machine, model: Script) -> None:
    folder = machine.project("ours")
    async with machine.process(folder) as client:
        root = [{"uri": folder.as_uri(), "name": "ours"}]
        answer = await client.initialize(OPTIONS, workspaceFolders=root, capabilities=CAPABILITIES)
        capabilities = answer["capabilities"]
        assert "codeActionProvider" not in capabilities
        assert capabilities["executeCommandProvider"]["commands"] == ["agentls.permissions"]
        plain = Plain(client, folder)
        model.plays(says(LONG), says("Short."))
        await plain.run("agentls.prompt", {"text": "Go", "wait": "idle"})
        session = await client.request("session/create", {"directory": str(folder)})
        params = {"sessionId": session["session"]["id"], "parts": [{"type": "text", "text": "Go"}]}
        await client.request("session/prompt", {**params, "workDoneToken": 7, "wait": "idle"})
        await plain.progress("end", "done", token=7)
        assert plain.kinds(7)[0] == "begin"
        await client.shut_down()
        assert [m["method"] for m in client.log if str(m.get("method", "")).startswith("window/")] == []


async def test_a_plain_client_is_offered_commands_and_actions(machine: Machine) -> None:
    folder = machine.project("offer")
    async with machine.process(folder) as client:
        capabilities = (await client.initialize(None, capabilities=CAPABILITIES))["capabilities"]
        names = ["prompt", "abort", "shell", "permissions", "reply", "newSession"]
        assert capabilities["executeCommandProvider"]["commands"] == [f"agentls.{name}" for name in names]
        assert capabilities["codeActionProvider"] == {"codeActionKinds": ["quickfix", "agentls.ask"]}
    async with machine.process(folder) as client:
        capabilities = (await client.initialize(None))["capabilities"]
        assert "codeActionProvider" not in capabilities


async def test_a_plain_client_with_methods_of_its_own_is_shown_nothing_unasked(machine: Machine, model: Script) -> None:
    folder = machine.project("methods")
    async with machine.editor(folder, None, capabilities=CAPABILITIES) as client:
        plain = Plain(client, folder)
        session = await client.request("session/create", {"directory": str(folder)})
        params = {"sessionId": session["session"]["id"], "parts": [{"type": "text", "text": "Go"}], "wait": "idle"}
        model.plays(says(LONG), says("By command."))
        assert (await client.request("session/prompt", params))["stopReason"] == "done"
        await plain.run("agentls.prompt", "Go")
        await plain.told("By command.")
        assert client.seen("window/showDocument") == []
