"""What a model is offered, and what its calls mean."""

import json
from pathlib import Path
from typing import Any

import pytest

from agentls.errors import ToolError
from agentls.schema.question import Answers
from agentls.schema.session import Todo
from agentls.tools.bash import Bash
from agentls.tools.changing import Changes
from agentls.tools.diagnostics import Diagnostics
from agentls.tools.edit import Edit
from agentls.tools.glob import Glob
from agentls.tools.grep import Grep
from agentls.tools.invalid import Invalid
from agentls.tools.list import List
from agentls.tools.output import Outputs
from agentls.tools.question import Question
from agentls.tools.read import Read
from agentls.tools.registry import Registry
from agentls.tools.todowrite import TodoWrite
from agentls.tools.write import Write
from agentls.workspace.buffers import Buffers
from agentls.workspace.files import Files
from agentls.workspace.process import Shell
from agentls.workspace.reads import Reads
from agentls.workspace.search import Search
from agentls.workspace.watchdog import Watchdog


async def no_answers(*_: object) -> Answers:
    return ()


@pytest.fixture
def registry(tmp_path: Path) -> Registry:
    files, reads, search = Files(lambda *_: None), Reads(), Search()
    buffers = Buffers()
    changes, shell = Changes(files, reads, buffers, lambda *_: None), Shell(Watchdog("ins_registry"))
    tools = [
        *(
            Read(files, reads, buffers),
            Write(changes),
            Edit(changes),
            Bash(shell, Outputs(tmp_path), tmp_path, buffers),
        ),
        *(Glob(search), Grep(search, buffers), List(search), TodoWrite(lambda *_: None), Question(no_answers)),
        Diagnostics(buffers),
    ]
    return Registry(tools, {"shell": "bash (Linux)"})


def members(schema: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """All members of objects, at any depth."""
    found = list(schema.get("properties", {}).items())
    inner = [schema["items"]] if "items" in schema else []
    return found + [one for part in [*schema.get("properties", {}).values(), *inner] for one in members(part)]


def test_the_tools_are_sorted_described_and_without_noise(registry: Registry) -> None:
    text = registry.offered()
    tools = json.loads(text)
    names = [tool["function"]["name"] for tool in tools]
    assert names == ["bash", "diagnostics", "edit", "glob", "grep", "list", "question", "read", "todowrite", "write"]
    for noise in (b'"title"', b"$ref", b"$defs", b"anyOf", b"null", b"## parameters", b"{shell}"):
        assert noise not in text
    for tool in tools:
        assert tool["type"] == "function"
        assert len(tool["function"]["description"]) > 100
        for name, member in members(tool["function"]["parameters"]):
            assert member.get("description"), (tool["function"]["name"], name)
            assert member.get("type"), (tool["function"]["name"], name)


def test_the_offer_is_the_same_bytes_each_time_and_follows_what_is_allowed(registry: Registry) -> None:
    assert registry.offered() == registry.offered()
    assert [one["function"]["name"] for one in json.loads(registry.offered(["write", "read", "none"]))] == [
        "read",
        "write",
    ]


def test_members_keep_their_names_of_the_wire(registry: Registry) -> None:
    parameters = registry.definition("edit").parameters
    assert list(parameters["properties"]) == ["filePath", "oldString", "newString", "replaceAll"]
    assert parameters["required"] == ["filePath", "oldString", "newString"]
    todo = registry.definition("todowrite").parameters["properties"]["todos"]["items"]
    assert todo["properties"]["status"]["enum"] == ["pending", "in_progress", "completed", "cancelled"]


@pytest.mark.parametrize(
    "arguments",
    [
        {"filePath": "a", "offset": 2},
        {"filePath": "a", "offset": "2"},
        {"filePath": "a", "offset": 2.0, "unknown": 1},
        {"file_path": "a", "offset": 2},
    ],
)
def test_near_misses_are_understood(registry: Registry, arguments: dict[str, Any]) -> None:
    tool, params = registry.parse("read", arguments)
    assert tool.name == "read"
    assert params.model_dump() == {"file_path": "a", "offset": 2, "limit": 2000, "column": None}


def test_lists_in_a_string_and_names_in_other_cases_are_understood(registry: Registry) -> None:
    tool, params = registry.parse(" TodoWrite", {"todos": '[{"content": "a"}]'})
    assert tool.name == "todowrite"
    assert params.model_dump()["todos"] == (Todo(content="a").model_dump(),)


@pytest.mark.parametrize("arguments", [None, {}, {"path": "a"}])
def test_missing_arguments_are_told_with_what_is_wanted(registry: Registry, arguments: dict[str, Any] | None) -> None:
    with pytest.raises(ToolError) as refused:
        registry.parse("read", arguments)
    assert "- filePath: Field required" in refused.value.message
    assert "filePath (string, required), offset (integer)" in refused.value.message


def test_the_arguments_themselves_are_not_repeated_in_errors(registry: Registry) -> None:
    with pytest.raises(ToolError) as refused:
        registry.parse("read", {"filePath": {"secret": "hunter2"}})
    assert "hunter2" not in refused.value.message


def test_two_todos_at_once_in_progress_are_refused(registry: Registry) -> None:
    todos = [{"content": "a", "status": "in_progress"}, {"content": "b", "status": "in_progress"}]
    with pytest.raises(ToolError, match="only one entry"):
        registry.parse("todowrite", {"todos": todos})


@pytest.mark.parametrize(("name", "allowed"), [("raed", None), ("write", ["read"]), ("invalid", None)])
async def test_unknown_and_forbidden_tools_land_in_invalid(
    registry: Registry, name: str, allowed: list[str] | None
) -> None:
    tool, params = registry.parse(name, {"x": 1}, allowed)
    assert isinstance(tool, Invalid)
    with pytest.raises(ToolError, match=r"There are: .*read"):
        await tool.run(params, None)
