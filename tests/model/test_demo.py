"""The demo model plays its job: asked of a small folder, through the real client."""

import json
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from agentls.config.prompts import prompt
from agentls.model.client import ModelRequest, StepEnd, TextDelta, ToolCall
from agentls.model.demo import demo_client
from agentls.model.demo_job import NOTE, listed, next_move
from agentls.model.openai_chat import OpenAIChat
from agentls.model.providers import DEMO

NAMES = ("list", "read", "edit", "write", "bash")
TOOLS = [{"type": "function", "function": {"name": name, "parameters": {"type": "object"}}} for name in NAMES]
BUGGY = "def add(a, b):\n    return a - b\n\n\ndef sub(a, b):\n    return a - b\n"
TEST = "from calc import add\n\nassert add(2, 3) == 5\nprint('OK')\n"


class Talk:
    """A conversation with the demo, its calls run on a real folder by the simplest of tools."""

    def __init__(self, client: OpenAIChat, folder: Path) -> None:
        self.client = client
        self.folder = folder
        self.messages: list[dict[str, Any]] = [{"role": "system", "content": "s"}]
        self.calls: list[ToolCall] = []
        self.answer: Callable[[ToolCall], str | None] = lambda _: None

    async def prompt(self, text: str, *, tools: Any = None) -> str:
        self.messages.append({"role": "user", "content": text})
        said = ""
        for _ in range(10):
            words, calls = await self.step(TOOLS if tools is None else tools)
            said += words
            if not calls:
                return said
        raise AssertionError("the demo does not end")

    async def step(self, tools: Any) -> tuple[str, list[ToolCall]]:
        messages = [json.dumps(message).encode() for message in self.messages]
        request = ModelRequest(DEMO, messages, json.dumps(tools).encode() if tools else None)
        events = [event async for event in self.client.stream(request)]
        words = "".join(event.text for event in events if isinstance(event, TextDelta))
        calls = [event for event in events if isinstance(event, ToolCall)]
        assert isinstance(events[-1], StepEnd)
        assert events[-1].finish == ("tool-calls" if calls else "stop")
        self.calls += calls
        made = [{"id": c.call_id, "function": {"name": c.name, "arguments": c.raw}} for c in calls]
        self.messages.append({"role": "assistant", "content": words, **({"tool_calls": made} if made else {})})
        for call in calls:
            content = self.answer(call) or self.run(call)
            self.messages.append({"role": "tool", "tool_call_id": call.call_id, "content": content})
        return words, calls

    def run(self, call: ToolCall) -> str:
        arguments = call.arguments or {}
        path = self.folder / arguments.get("filePath", "")
        match call.name:
            case "list":
                names = sorted(p.name + ("/" if p.is_dir() else "") for p in self.folder.iterdir())
                return "\n".join([f"{self.folder}/", *(f"  {name}" for name in names)])
            case "read":
                return "\n".join(f"{n}: {line}" for n, line in enumerate(path.read_text().splitlines(), 1))
            case "edit":
                assert path.read_text().count(arguments["oldString"]) == 1
                path.write_text(path.read_text().replace(arguments["oldString"], arguments["newString"]))
                return f"Edited {path.name}."
            case "write":
                path.write_text(arguments["content"])
                return f"Created {path.name}."
            case _:
                done = subprocess.run(arguments["command"], shell=True, cwd=self.folder, capture_output=True, text=True)
                return f"{done.stdout}\nExit code: {done.returncode}"


@pytest.fixture
async def client() -> AsyncIterator[OpenAIChat]:
    made = demo_client(delay=0)
    yield made
    await made.aclose()


async def test_it_finds_and_mends_the_bug_and_runs_the_test(client: OpenAIChat, tmp_path: Path) -> None:
    (tmp_path / "calc.py").write_text(BUGGY)
    (tmp_path / "test_calc.py").write_text(TEST)
    talk = Talk(client, tmp_path)
    said = await talk.prompt("Please fix the failing test")
    assert [call.name for call in talk.calls] == ["list", "read", "edit", "bash"]
    assert (tmp_path / "calc.py").read_text() == BUGGY.replace("a - b", "a + b", 1)
    assert (talk.calls[3].arguments or {})["command"] == "python3 test_calc.py"
    assert said.startswith("I am the demo model")
    assert "`bash` python3 test_calc.py: OK" in said
    assert "OPENAI_API_KEY" in said


async def test_a_sum_that_is_right_is_left_alone(client: OpenAIChat, tmp_path: Path) -> None:
    (tmp_path / "calc.py").write_text(BUGGY.replace("a - b", "a + b", 1))
    talk = Talk(client, tmp_path)
    await talk.prompt("hi")
    assert [call.name for call in talk.calls] == ["list", "read", "write", "bash"]


async def test_elsewhere_it_leaves_a_note(client: OpenAIChat, tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("# Hello\n")
    (tmp_path / "src").mkdir()
    talk = Talk(client, tmp_path)
    await talk.prompt("hi")
    assert [call.name for call in talk.calls] == ["list", "read", "write", "bash"]
    assert (talk.calls[1].arguments or {})["filePath"] == "README.md"
    assert (tmp_path / NOTE).read_text().startswith("# A note from the demo")


async def test_in_an_empty_folder_there_is_nothing_to_read(client: OpenAIChat, tmp_path: Path) -> None:
    talk = Talk(client, tmp_path)
    await talk.prompt("hi")
    assert [call.name for call in talk.calls] == ["list", "write", "bash"]


async def test_it_is_told_no_and_leaves_that_out(client: OpenAIChat, tmp_path: Path) -> None:
    (tmp_path / "calc.py").write_text(BUGGY)
    talk = Talk(client, tmp_path)
    no = prompt("results/rejected").replace("{words}", "leave my file alone")
    talk.answer = lambda call: no if call.name == "edit" else None
    said = await talk.prompt("hi")
    assert (tmp_path / "calc.py").read_text() == BUGGY
    assert [call.name for call in talk.calls] == ["list", "read", "edit", "bash"]
    assert "You said no" in said
    assert "leave my file alone" in said
    assert "`edit` calc.py: not done" in said


async def test_a_failed_call_is_told_and_the_job_goes_on(client: OpenAIChat, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = 1\n")
    talk = Talk(client, tmp_path)
    talk.answer = lambda call: "Cannot read a.py: permission denied" if call.name == "read" else None
    said = await talk.prompt("hi")
    assert "That did not work: Cannot read a.py" in said
    assert [call.name for call in talk.calls] == ["list", "read", "write", "bash"]


async def test_after_the_job_it_says_that_it_can_do_no_more(client: OpenAIChat, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = 1\n")
    talk = Talk(client, tmp_path)
    await talk.prompt("hi")
    calls = len(talk.calls)
    assert "write me a poem" in await talk.prompt("Now  write me\na poem".replace("\n", " ").replace("  ", " "))
    assert len(talk.calls) == calls


async def test_a_job_that_was_stopped_is_taken_up_again(client: OpenAIChat, tmp_path: Path) -> None:
    (tmp_path / "calc.py").write_text(BUGGY)
    talk = Talk(client, tmp_path)
    talk.messages.append({"role": "user", "content": "hi"})
    talk.answer = lambda call: prompt("results/rejected-plain") if call.name == "edit" else None
    for _ in range(3):
        await talk.step(TOOLS)
    talk.answer = lambda _: None
    said = await talk.prompt("yes, do it")
    assert [call.name for call in talk.calls] == ["list", "read", "edit", "edit", "bash"]
    assert said.startswith(prompt("demo/again"))
    assert "return a + b" in (tmp_path / "calc.py").read_text()


async def test_without_tools_it_gives_a_title(client: OpenAIChat, tmp_path: Path) -> None:
    said = await Talk(client, tmp_path).prompt("Make a title", tools=[])
    assert said
    assert "\n" not in said
    assert len(said) < 60


async def test_reading_alone_is_all_where_nothing_else_is_offered(client: OpenAIChat, tmp_path: Path) -> None:
    (tmp_path / "calc.py").write_text(BUGGY)
    talk = Talk(client, tmp_path)
    await talk.prompt("plan", tools=TOOLS[:2])
    assert [call.name for call in talk.calls] == ["list", "read"]


def test_the_same_request_gets_the_same_answer() -> None:
    body = json.dumps({"messages": [{"role": "user", "content": "hi"}], "tools": TOOLS}).encode()
    assert next_move(body) == next_move(body)


def test_required_parameters_of_list_are_given() -> None:
    tool = {"function": {"name": "list", "parameters": {"required": ["path"]}}}
    body = json.dumps({"messages": [{"role": "user", "content": "hi"}], "tools": [tool]}).encode()
    assert next_move(body).arguments == {"path": "."}


@pytest.mark.parametrize(
    ("listing", "files"),
    [
        ("/p/\n  a.py\n  src/\n    b.py\n  c.md", ["a.py", "src/b.py", "c.md"]),
        ("./\n├── a.py\n└── src/\n    └── b.py", ["a.py", "src/b.py"]),
        ("a.py\nsrc/b.py\n(2 files)", ["a.py", "src/b.py"]),
        ("src/\n  deep/\n    x.py\ny.py\n\n[cut]", ["src/deep/x.py", "y.py"]),
        ("", []),
    ],
)
def test_listings_of_several_shapes(listing: str, files: list[str]) -> None:
    assert [name.removeprefix("./") for name in listed(listing)] == files


def test_the_decisions_need_no_sdk() -> None:
    code = "import sys, agentls.model.demo_job; print('openai' in sys.modules or 'httpx2' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "False"
