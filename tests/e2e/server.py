"""Starts the real program: a machine of its own (home, settings, data), projects, and processes on them."""

import asyncio
import json
import os
import random
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import psutil

from e2e.client import Client, Message

COMMAND = [sys.executable, "-m", "agentls", "--stdio"]
OPTIONS: Message = {
    "protocolVersion": 1,
    "clientId": "tests",
    "ui": {"permission": True, "question": True},
    "trusted": True,
}


def provider(base_url: str, **options: Any) -> Message:
    models = {"test-model": {"limit": {"context": 200_000, "output": 32_000}, "cost": {"input": 1.0, "output": 2.0}}}
    options = {"baseURL": base_url, "apiKey": "a-key-of-the-tests", **options}
    return {"name": "Fake", "api": "chat", "options": options, "models": models}


class Machine:
    """One user's home. Every process that is started here works on the same data."""

    def __init__(self, folder: Path, base_url: str) -> None:
        self.home = folder / "home"
        self.config = self.home / ".config" / "agentls" / "agentls.json"
        self.data = self.home / ".local" / "share" / "agentls"
        self.projects = folder / "projects"
        self.config.parent.mkdir(parents=True)
        self.projects.mkdir()
        self.settings(base_url)

    def settings(self, base_url: str, **more: Any) -> None:
        fake = {"model": "fake/test-model", "provider": {"fake": provider(base_url)}}
        self.config.write_text(json.dumps(fake | more), encoding="utf-8")

    def environment(self, **more: str) -> dict[str, str]:
        """Nothing of the environment of whoever runs the tests but where programs are."""
        return {
            "HOME": str(self.home),
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "LANG": "C.UTF-8",
            "XDG_CONFIG_HOME": str(self.home / ".config"),
            "XDG_DATA_HOME": str(self.home / ".local" / "share"),
            "XDG_CACHE_HOME": str(self.home / ".cache"),
            "XDG_STATE_HOME": str(self.home / ".local" / "state"),
            **more,
        }

    def project(self, name: str, files: dict[str, str] | None = None) -> Path:
        folder = self.projects / name
        folder.mkdir()
        for path, content in (files or {}).items():
            file = folder / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(content, encoding="utf-8")
        return folder

    def log(self) -> str:
        """What the servers of this machine wrote to their logs."""
        files = sorted((self.home / ".local" / "state").rglob("*.log*"))
        return "\n".join(file.read_text(errors="replace") for file in files if file.is_file())

    @asynccontextmanager
    async def process(
        self, folder: Path, command: list[str] | None = None, env: dict[str, str] | None = None
    ) -> AsyncIterator[Client]:
        """A server that heard nothing yet; killed at the end, if it still runs."""
        process = await asyncio.create_subprocess_exec(
            *(command or COMMAND),
            cwd=folder,
            env=self.environment(**(env or {})),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            limit=1 << 27,
        )
        client = Client(process)
        try:
            yield client
        finally:
            await client.close()

    @asynccontextmanager
    async def editor(
        self, folder: Path, options: Message | None = OPTIONS, env: dict[str, str] | None = None, **params: Any
    ) -> AsyncIterator[Client]:
        """An editor that has the folder open, connected to a server of its own."""
        folders = [{"uri": folder.as_uri(), "name": folder.name}]
        async with self.process(folder, env=env) as client:
            await client.initialize(options, rootUri=folder.as_uri(), workspaceFolders=folders, **params)
            yield client


def unique() -> str:
    """A number that no other process has in its command line; as seconds to sleep it is long enough."""
    return str(random.randrange(10_000_000, 100_000_000))


def running(mark: str) -> list[psutil.Process]:
    """Processes, not zombies, with `mark` in their command line."""
    found: list[psutil.Process] = []
    for process in psutil.process_iter():
        try:
            words = process.cmdline()
            if any(mark in word for word in words) and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
        except psutil.Error:
            continue
    return found
