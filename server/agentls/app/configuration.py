"""What the settings say in each folder, loaded anew at most twice a second: a change holds at the next prompt."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from anyio import to_thread

from agentls.config.agents import Agents
from agentls.config.instructions import instructions
from agentls.config.load import Loaded, SettingsLoader
from agentls.config.paths import Paths
from agentls.config.trust import Trust, TrustStore
from agentls.engine.frame import Place
from agentls.errors import AgentError, ErrorKind
from agentls.permission.policy import Configured
from agentls.workspace.project import Project, project_of

FRESH_SECONDS = 0.5


@dataclass(frozen=True, slots=True)
class _Folder:
    project: Project
    loaded: Loaded
    configured: Configured
    at: float


class Configuration:
    """`connect` takes what the editor says: its settings, and whether it trusts its folders."""

    def __init__(self, paths: Paths, env: Mapping[str, str]) -> None:
        self._paths = paths
        self._trust = Trust(TrustStore(paths.trust))
        self._loader = SettingsLoader(paths, env, self._trust)
        self._known: dict[str, _Folder] = {}
        self._editor: dict[str, Any] = {}
        self._word: bool | None = None
        self._told: bool | None = None
        self._folders: tuple[Path, ...] = ()

    def connect(self, *, settings: dict[str, Any] | None, trusted: bool | None, folders: tuple[Path, ...]) -> None:
        self._editor = settings or {}
        if trusted is not self._told:  # a word that is told again undoes nothing that the user said since
            self._told = self._word = trusted
        self._folders = tuple(project_of(folder).root for folder in folders)
        self._known.clear()

    @property
    def folders(self) -> tuple[Path, ...]:
        """The roots of the editor's folders, the first one first."""
        return self._folders

    def project(self, directory: str) -> Project:
        return self._folder(directory).project

    def loaded(self, directory: str) -> Loaded:
        return self._folder(directory).loaded

    def configured(self, directory: str) -> Configured:
        return self._folder(directory).configured

    def agents(self, directory: str) -> Agents:
        return self._folder(directory).configured.agents

    async def trust(self, directory: str, *, trusted: bool) -> Loaded:
        """Stores the user's word about a folder as it is now; in a thread, for another process may be at it."""
        folder = self._folder(directory)
        root = folder.project.root
        store = partial(self._trust.grant, root, folder.loaded.digest) if trusted else partial(self._trust.revoke, root)
        if not trusted or self._word is False:
            self._word = None  # what the user says now counts more than what the editor said at the start
        try:
            await to_thread.run_sync(store)
        except OSError as error:
            path, reason = self._paths.trust, error.strerror or "unknown error"
            message = f"The word about {root} could not be stored: {path} cannot be written: {reason}. Mend that file."
            raise AgentError(ErrorKind.PATH_DENIED, message, {"path": str(path)}) from error
        finally:
            self._known.clear()
        return self.loaded(directory)

    async def place(self, directory: Path) -> Place:
        """Instruction files are read in a thread: a pattern of the settings may walk many folders."""
        folder = self._folder(str(directory))
        read = partial(
            instructions,
            directory,
            folder.project.root,
            self._paths,
            folder.loaded.settings.instructions,
            trusted=folder.loaded.trust == "trusted",
        )
        found = await to_thread.run_sync(read)
        return Place(directory, folder.project.root, folder.project.is_git, found.files)

    def _folder(self, directory: str) -> _Folder:
        known = self._known.get(directory)
        if known is not None and time.monotonic() - known.at < FRESH_SECONDS:
            return known
        project = project_of(Path(directory)) if known is None else known.project
        word = self._word if project.root in self._folders else None
        loaded = self._loader.load(Path(directory), project.root, self._editor, trusted=word)
        if known is not None and loaded == known.loaded:
            folder = replace(known, at=time.monotonic())  # what was derived from it is kept as well
        else:
            configured = Configured(Agents.of(loaded.settings, loaded.layers), loaded.layers)
            folder = _Folder(project, loaded, configured, time.monotonic())
        self._known[directory] = folder
        return folder
