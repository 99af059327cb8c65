"""The page for the author of another client: its code runs, its transcript is what is sent."""

import re
import sys
from asyncio import create_subprocess_exec, subprocess, timeout
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from e2e.model import Script, calls, says, scripted
from e2e.server import Machine
from protocol.transcript import record

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "editor-clients" / "PROTOCOL.md").read_text(encoding="utf-8")
TRANSCRIPT = ROOT / "server" / "agentls" / "protocol" / "transcript.txt"


@pytest.fixture
async def script() -> AsyncIterator[Script]:
    async with scripted() as script:
        yield script


@pytest.fixture
def machine(tmp_path_factory: pytest.TempPathFactory, script: Script) -> Machine:
    return Machine(tmp_path_factory.mktemp("machine"), script.url)


async def test_the_transcript_is_that_of_a_real_run(machine: Machine, script: Script) -> None:
    """If the wire changed on purpose, take over what this shows as the new text of the file, and `poe generate`."""
    assert await record(machine, script) == TRANSCRIPT.read_text(encoding="utf-8")
    assert TRANSCRIPT.read_text(encoding="utf-8") in PAGE


@pytest.mark.parametrize(("typed", "there"), [("y", True), ("n", False)])
async def test_the_code_on_the_page_is_a_client(machine: Machine, script: Script, *, typed: str, there: bool) -> None:
    folder = machine.project("mine")
    script.plays(calls(("bash", {"command": "touch made"}), words="I make it. "), says("That was it.", 3))
    code = re.search(r"```python\n(.*?)```", PAGE, re.DOTALL)
    assert code
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    client = await create_subprocess_exec(
        sys.executable, "-c", code[1], "Make it", cwd=folder, env=machine.environment(), **pipes
    )
    async with timeout(30):
        out, errors = await client.communicate(f"{typed}\n".encode())
    assert (client.returncode, errors) == ((0, b"") if there else (1, b"rejected\n"))
    assert out.decode().startswith("I make it. \ntouch made? [y/n] ")
    assert out.decode().endswith("That was it.") is there
    assert (folder / "made").exists() is there
