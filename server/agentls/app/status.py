"""How the server is: its version, and what is wrong with the settings and the store."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic_core import to_json

from agentls import __version__
from agentls.app.configuration import Configuration
from agentls.config.files import Problem
from agentls.schema.base import Raw


class Status:
    def __init__(self, configuration: Configuration) -> None:
        self._configuration = configuration
        self._stored: list[Problem] = []

    def stored(self, problems: Sequence[Problem]) -> None:
        """What was found when the sessions' database was opened."""
        self._stored += problems

    def problems(self) -> list[Problem]:
        """Of the sessions' database, and of the settings of each of the editor's folders, each once."""
        found = {
            str(problem): problem
            for folder in self._configuration.folders
            for problem in (
                *self._configuration.loaded(str(folder)).problems,
                *_of_agents(self._configuration.agents(str(folder)).problem),
            )
        }
        return [*self._stored, *found.values()]

    def view(self) -> Raw:
        problems = [
            {"severity": problem.severity, "message": str(problem), **_place(problem)} for problem in self.problems()
        ]
        return Raw(to_json({"version": __version__, "pid": os.getpid(), "problems": problems}))


def _of_agents(message: str | None) -> list[Problem]:
    return [] if message is None else [Problem("settings", 0, 0, message)]


def _place(problem: Problem) -> dict[str, Any]:
    """Some are of no file, such as the editor's own settings."""
    path = {"path": problem.path} if Path(problem.path).is_absolute() else {}
    return path | ({"line": problem.line, "column": problem.column} if problem.line else {})
