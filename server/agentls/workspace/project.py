"""The project that a directory belongs to."""

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Project:
    """`root` is real and absolute: the git worktree's root, or the directory itself."""

    id: str
    root: Path
    is_git: bool


def project_of(directory: Path) -> Project:
    """The project of a directory, found without running git."""
    real = Path(os.path.realpath(directory))
    for folder in (real, *real.parents):
        if _is_git_entry(folder / ".git"):
            return Project(_project_id(folder), folder, is_git=True)
    return Project(_project_id(real), real, is_git=False)


def _is_git_entry(path: Path) -> bool:
    """A repository's folder, or the file by which a worktree or submodule points to one."""
    try:
        return (path / "HEAD").is_file() or path.is_file()
    except OSError:
        return False


def _project_id(root: Path) -> str:
    return "prj_" + hashlib.sha256(os.fsencode(root)).hexdigest()[:24]
