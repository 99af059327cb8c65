"""Which settings files there may be, from the one that counts least to the one that counts most."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from agentls.config.paths import Paths

Origin = Literal["user", "project"]


@dataclass(frozen=True, slots=True)
class Source:
    """A file of settings. Relative paths in it start at `base`; a `foreign` one is OpenCode's."""

    path: Path
    origin: Origin
    base: Path
    foreign: bool = False


def user_sources(paths: Paths, env: Mapping[str, str]) -> list[Source]:
    """The user's own files, then the one that `AGENTLS_CONFIG` names, there or not."""
    found = _in_folders((paths.config,), "agentls", "user", paths.config)
    if not found:
        folder = paths.config_home / "opencode"
        found = _in_folders((folder,), "opencode", "user", folder, foreign=True)
    named = env.get("AGENTLS_CONFIG")
    if named:
        path = Path(named).expanduser()
        found.append(Source(path, "user", path.parent))
    return found


def project_sources(root: Path, directory: Path) -> list[Source]:
    """The project's files from its root down to the folder."""
    found: list[Source] = []
    for folder in folders(root, directory):
        own = _in_folders((folder, folder / ".agentls"), "agentls", "project", folder)
        places = (folder, folder / ".opencode")
        found += own or _in_folders(places, "opencode", "project", folder, foreign=True)
    return found


def folders(root: Path, directory: Path) -> list[Path]:
    """From the root down to the folder, both included; the folder alone where it is not below the root."""
    if not directory.is_relative_to(root):
        return [directory]
    chain = [directory, *directory.parents]
    return chain[: chain.index(root) + 1][::-1]


def _in_folders(
    places: tuple[Path, ...], stem: str, origin: Origin, base: Path, *, foreign: bool = False
) -> list[Source]:
    return [Source(path, origin, base, foreign) for place in places for path in _files(place, stem)]


def _files(folder: Path, stem: str) -> Iterator[Path]:
    for ending in (".json", ".jsonc"):
        path = folder / f"{stem}{ending}"
        if path.exists():  # what is no file there is reported when it is read
            yield path
