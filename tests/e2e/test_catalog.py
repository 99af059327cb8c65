"""What there is to choose from, and what the folder holds."""

from e2e.client import Client
from e2e.server import Machine
from e2e.talk import Talk


async def test_agents_models_and_tools(shared: Client, talk: Talk) -> None:
    agents = {agent["name"]: agent for agent in (await shared.request("agent/list"))["agents"]}
    assert agents["build"]["default"] is True
    assert {"plan", "general", "explore"} <= set(agents)
    assert not {"compaction", "title", "summary"} & set(agents)
    models = (await shared.request("model/list"))["models"]
    [ours] = [one for one in models if one["modelId"] == "test-model"]
    assert (ours["providerId"], ours["default"], ours["limit"]["context"]) == ("fake", True, 200_000)
    assert any(one["providerId"] == "demo" for one in models)
    tools = {tool["name"]: tool for tool in (await shared.request("tool/list"))["tools"]}
    assert {"read", "write", "edit", "bash", "glob", "grep", "list", "todowrite", "question"} <= set(tools)
    assert tools["read"]["parameters"]["properties"]["filePath"]["type"] == "string"
    assert all(tool["description"] for tool in tools.values())


async def test_settings_and_status(shared: Client, shared_machine: Machine, talk: Talk) -> None:
    config = (await shared.request("config/get", {"directory": str(talk.folder)}))["config"]
    assert config["model"] == "fake/test-model"
    status = await shared.request("server/status")
    assert (status["pid"], status["problems"]) == (shared.process.pid, [])
    assert status["version"]


async def test_files_are_found_by_name(talk: Talk) -> None:
    for name in ("src/main.py", "src/main_test.py", "docs/index.md", "node_modules/x/main.py"):
        path = talk.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x")
    (talk.folder / ".gitignore").write_text("node_modules/\n")
    (talk.folder / ".git").mkdir()
    found = (await talk.client.request("file/find", {"directory": str(talk.folder), "query": "main"}))["files"]
    assert [one["name"] for one in found] == ["src/main.py", "src/main_test.py"]
    assert found[0]["path"] == str(talk.folder / "src" / "main.py")
    found = await talk.client.request("file/find", {"directory": str(talk.folder), "query": "main", "limit": 1})
    assert len(found["files"]) == 1
    assert (await talk.client.request("file/find", {"directory": str(talk.folder), "query": "zzz"}))["files"] == []
    error = await talk.client.refused("file/find", {"directory": "/no/such"})
    assert error.kind in ("path_denied", "invalid_params")
    assert "/no/such" in error.message
