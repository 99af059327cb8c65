"""The program as a person starts it, on a machine of its own, with a scripted model behind it."""

import json
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import Any

from cli.terminal import SECONDS, Terminal
from e2e.server import Machine

AGENTLS = [sys.executable, "-m", "agentls"]
TESTS = Path(__file__).parents[1]


def says(text: str, *calls: tuple[str, dict[str, Any]]) -> dict[str, Any]:
    return {"text": text, "deltas": 3, "calls": [{"name": name, "arguments": arguments} for name, arguments in calls]}


def runs(command: str) -> dict[str, Any]:
    return says("I run it. ", ("bash", {"command": command, "description": "A try"}))


class Program:
    def __init__(self, folder: Path) -> None:
        self.machine = Machine(folder, "http://127.0.0.1:9/v1")
        self.project = self.machine.project("project", {"a.txt": "one\ntwo\n"})
        self._files = folder
        self.url = ""
        self._started: list[Any] = []

    def model(self, *script: dict[str, Any], **settings: Any) -> None:
        """From here on the model answers so, request by request."""
        file = self._files / "script.json"
        file.write_text(json.dumps(script), encoding="utf-8")
        server = subprocess.Popen(
            [sys.executable, "-m", "fakes.openai_server", "--script", str(file), "--log", str(self._log), "--strict"],
            cwd=TESTS,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._started.append(server)
        assert server.stdout
        self.url = server.stdout.readline().strip()
        self.machine.settings(self.url, **settings)

    def open(self, gate: str) -> None:
        """The model goes on from a gate of its script."""
        url = self.url.removesuffix("/v1")
        urllib.request.urlopen(urllib.request.Request(f"{url}/gate/{gate}", method="POST"), timeout=SECONDS).close()

    def requests(self) -> list[dict[str, Any]]:
        """What the model was asked."""
        lines = self._log.read_text(encoding="utf-8").splitlines() if self._log.exists() else []
        return [json.loads(json.loads(line)["body"]) for line in lines]

    def run(self, *words: str, stdin: str = "", folder: Path | None = None, **env: str) -> subprocess.CompletedProcess:
        """Without a terminal."""
        ran = subprocess.run(
            [*AGENTLS, *words],
            cwd=folder or self.project,
            env=self.machine.environment(**env),
            input=stdin,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=SECONDS,
        )
        assert "Traceback" not in ran.stdout + ran.stderr
        return ran

    def start(self, *words: str) -> subprocess.Popen:
        process = subprocess.Popen(
            [*AGENTLS, *words],
            cwd=self.project,
            env=self.machine.environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self._started.append(process)
        return process

    def terminal(self, *words: str, folder: Path | None = None, stdout: Path | None = None) -> Terminal:
        terminal = Terminal([*AGENTLS, *words], folder or self.project, self.machine.environment(), stdout)
        self._started.append(terminal)
        return terminal

    def close(self) -> None:
        for started in self._started:
            if isinstance(started, Terminal):
                started.close()
                continue
            if started.poll() is None:
                started.kill()
            started.communicate()

    @property
    def _log(self) -> Path:
        return self._files / "requests.jsonl"
