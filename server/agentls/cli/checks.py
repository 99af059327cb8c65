"""What `agentls doctor` looks at on this machine."""

import os
import platform
import shutil
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from agentls import __version__
from agentls.app.configuration import Configuration
from agentls.config.files import Problem
from agentls.config.paths import Paths
from agentls.config.sources import project_sources, user_sources
from agentls.schema.text import one_line
from agentls.storage.database import VERSION
from agentls.workspace.search import find_ripgrep

_LEAST_FREE = 200 * 1024 * 1024
_SECONDS = 10
_SEVERITIES: dict[str, Literal["warning", "failed"]] = {"error": "failed"}


@dataclass(frozen=True, slots=True)
class Check:
    """`warning`: all works, but perhaps not as expected."""

    what: str
    state: Literal["ok", "warning", "failed"]
    says: str
    advice: str | None = None

    def members(self) -> dict[str, str]:
        members = {"name": self.what, "state": self.state, "message": self.says}
        return members | ({"advice": self.advice} if self.advice else {})


def installation() -> Iterator[Check]:
    python = f"Python {platform.python_version()}, {platform.system()} {platform.machine()}"
    yield Check("agentls", "ok", f"{__version__}, {python}")
    program = shutil.which("agentls")
    if program is None:
        advice = "Editors look for `agentls` there: run `uv tool update-shell`, or give them its whole path."
        yield Check("on the path", "warning", "no agentls", advice)
    else:
        yield Check("on the path", "ok", program)


def settings(paths: Paths, configuration: Configuration, directory: Path) -> Iterator[Check]:
    """The files, what is wrong in them, and what of them does not hold."""
    project = configuration.project(str(directory))
    loaded = configuration.loaded(str(directory))
    sources = [*user_sources(paths, os.environ), *project_sources(project.root, directory)]
    problems = list(loaded.problems)
    agents = configuration.agents(str(directory)).problem
    if agents is not None:
        problems.append(Problem("settings", 0, 0, agents))
    for source in sources:
        path = str(source.path)
        mine = [problem for problem in problems if problem.path == path]
        problems = [problem for problem in problems if problem.path != path]
        if not mine:
            yield Check("settings", "ok", path)
        yield from (_problem(problem) for problem in mine)
    yield from (_problem(problem) for problem in problems)
    if not sources:
        yield Check("settings", "ok", f"no file, and none is needed; {paths.config / 'agentls.json'} would be yours")
    if loaded.withheld:
        advice = "Look through them; `agentls chat` here asks whether you trust the folder, as your editor does."
        yield Check(
            "trust", "warning", f"of this folder's settings these do not hold: {', '.join(loaded.withheld)}", advice
        )


def _problem(problem: Problem) -> Check:
    state = _SEVERITIES.get(problem.severity, "warning")
    return Check(
        "settings", state, str(problem), "Mend that place; the rest of the file holds." if state == "failed" else None
    )


def storage(paths: Paths) -> list[Check]:
    """Blocks, for as long as it takes to read the whole database."""
    return [*_folders(paths), *_database(paths.data / "agentls.db")]


def _folders(paths: Paths) -> Iterator[Check]:
    for what, folder in (("data", paths.data), ("log", paths.log)):
        there = folder
        while not there.exists():
            there = there.parent
        if not (there.is_dir() and os.access(there, os.W_OK | os.X_OK)):
            yield Check(what, "failed", f"{folder} cannot be written", f"Give yourself the rights to {there}.")
            continue
        free = shutil.disk_usage(there).free
        if free < _LEAST_FREE:
            says = f"{folder} has {free >> 20} MB left"
            yield Check(what, "failed", says, "Free some space: sessions are stored there as they grow.")
        else:
            yield Check(what, "ok", f"{folder}, {free >> 30} GB free")


def _database(path: Path) -> Iterator[Check]:
    if not path.is_file():
        yield Check("database", "ok", "none yet; the first prompt makes it")
        return
    advice = f"Move {path} away, with the files beside it of the same name; agentls begins a new one."
    try:
        with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True, timeout=_SECONDS)) as database:
            version = int(database.execute("PRAGMA user_version").fetchone()[0])
            if version > VERSION:
                yield Check("database", "failed", f"{path} was written by a newer agentls", "Update agentls.")
                return
            faults = [one_line(str(row[0])) for row in database.execute("PRAGMA quick_check(3)")]
            count = int(database.execute("SELECT count(*) FROM sessions").fetchone()[0]) if version else 0
    except sqlite3.Error as error:
        yield Check("database", "failed", f"{path} cannot be read: {error}", advice)
        return
    if faults != ["ok"]:
        yield Check("database", "failed", f"{path} is damaged: {'; '.join(faults)}", advice)
        return
    size = sum(file.stat().st_size for file in path.parent.glob(f"{path.name}*") if file.is_file())
    yield Check("database", "ok", f"whole, {count:,} sessions, {size / (1 << 20):.1f} MB")


def tools() -> list[Check]:
    """Starts each one for its version."""
    return [
        _tool("ripgrep", find_ripgrep(), "failed", "Files cannot be searched without it: install ripgrep."),
        _tool("bash", shutil.which("bash"), "warning", "Commands run in /bin/sh instead; models write for bash."),
        _tool("git", shutil.which("git"), "warning", "Models often use it: install git."),
    ]


def _tool(what: str, program: str | None, missing: Literal["warning", "failed"], advice: str) -> Check:
    if program is None:
        return Check(what, missing, "not found", advice)
    try:
        ran = subprocess.run([program, "--version"], capture_output=True, timeout=_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return Check(what, missing, f"{program} does not start: {error}", advice)
    if ran.returncode:
        return Check(what, missing, f"{program} does not work: it ends with {ran.returncode}", advice)
    version = ran.stdout.decode(errors="replace").partition("\n")[0]
    return Check(what, "ok", f"{version} ({program})")
