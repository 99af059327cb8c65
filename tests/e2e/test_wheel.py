"""From a wheel, in an environment of its own and an empty folder: prompts and everything else are found."""

import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

from e2e.model import Script, says
from e2e.server import OPTIONS, Machine
from e2e.talk import Talk

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("dist")
    done = subprocess.run(
        [sys.executable, "-m", "pip", "wheel", "--no-deps", "--quiet", "--wheel-dir", str(out), str(ROOT)],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    [wheel] = out.glob("agentls-*.whl")
    return wheel


@pytest.fixture(scope="module")
def program(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`agentls` of the wheel; its dependencies are those of the tests' own environment."""
    folder = tmp_path_factory.mktemp("env")
    venv.create(folder, symlinks=True, with_pip=False)
    install = [sys.executable, "-m", "pip", f"--python={folder / 'bin' / 'python'}", "install", "--no-deps", "--quiet"]
    done = subprocess.run([*install, str(wheel)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    [packages] = folder.glob("lib/python*/site-packages")
    own = Path(sysconfig.get_path("purelib"))
    editable = {path.stem for path in own.glob("*agentls*.pth")}
    assert "agentls" not in editable
    (packages / "dependencies.pth").write_text(f"{own}\n")
    return folder / "bin" / "agentls"


def test_the_wheel_holds_the_prompts_and_no_tests(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert any(name.startswith("agentls/prompts/") and name.endswith("system.md") for name in names)
    assert "agentls/py.typed" in names
    assert not [name for name in names if "tests/" in name]


async def test_the_program_of_the_wheel_serves(program: Path, machine: Machine, model: Script) -> None:
    folder = machine.project("empty")
    where = subprocess.run(
        [program.with_name("python"), "-c", "import agentls; print(agentls.__file__)"],
        cwd=folder,
        env=machine.environment(),
        capture_output=True,
        text=True,
    )
    assert str(program.parent.parent) in where.stdout
    async with machine.process(folder, [str(program), "--stdio"]) as client:
        await client.initialize(OPTIONS, rootUri=folder.as_uri())
        talk = await Talk.begin(client, folder)
        model.plays(says("From the wheel."))
        assert (await talk.prompt("Hi.", wait="idle"))["stopReason"] == "done"
        assert model.requests[0]["messages"][0]["role"] == "system"
        assert await client.shut_down() == 0


def test_the_schema_comes_from_the_wheel(program: Path, machine: Machine) -> None:
    done = subprocess.run(
        [program, "schema"], cwd=machine.project("empty"), env=machine.environment(), capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert "session/prompt" in done.stdout
