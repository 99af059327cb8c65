"""Names whose change is asked for in every mode, and names of files, variables and settings that hold secrets."""

import re
import unicodedata
from itertools import pairwise
from pathlib import PurePath

_FOLDERS = frozenset(
    {".vscode", ".idea", ".cursor", ".agentls", ".opencode", ".ssh", ".husky"}
    | {".cargo", ".bundle"}  # package managers' settings, which may name programs to run
)
_FILES = frozenset(
    {".gitmodules", ".gitattributes", ".gitconfig", ".envrc", ".mcp.json", ".netrc", ".ripgreprc"}
    | {".nvim.lua", ".exrc", ".dir-locals.el"}  # what editors run when they open a folder
    | {"agentls.json", "agentls.jsonc", "opencode.json", "opencode.jsonc"}
    | {".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases", ".profile", ".inputrc"}
    | {".zshrc", ".zshenv", ".zprofile", ".zlogin", ".zlogout", ".kshrc", ".cshrc", ".tcshrc", ".login", "config.fish"}
    | {".npmrc", ".yarnrc", ".yarnrc.yml", ".pnpmrc", ".pnpmfile.cjs", "bunfig.toml", "pip.conf", "pip.ini", ".pypirc"}
    | {".condarc", ".gemrc"}
)
_PAIRS = frozenset(
    {(".claude", "skills"), (".agents", "skills"), (".config", "agentls"), (".config", "fish"), (".config", "pip")}
)
_SECRET_WORDS = ("key", "token", "secret", "passw", "credential", "authorization")
_GIT_ENTRIES = frozenset({"hooks", "config", "config.worktree", "modules", "worktrees"})


def is_protected(path: PurePath) -> bool:
    """Whether a real path is settings, hooks or start-up code: whoever changes it runs programs later."""
    parts = [fold(part) for part in path.parts]
    if parts and parts[-1] in _FILES:
        return True
    if any(part in _FOLDERS for part in parts):
        return True
    return any(pair in _PAIRS or _is_git(pair) for pair in zip(parts, [*parts[1:], ""], strict=True))


def names_protected(word: str) -> bool:
    """Whether a word of a command holds such a path, or `.git` itself: a command says less of its deed than an edit."""
    if word.isascii() and "." not in word:
        return False
    pieces = [fold(piece) for piece in re.split(r"[/=:\s]", word) if piece]
    names = _FOLDERS | _FILES | {".git"}
    return any(piece in names for piece in pieces) or any(pair in _PAIRS for pair in pairwise(pieces))


def is_secret(path: PurePath) -> bool:
    """Whether the name says that secrets stand inside (`.env` and its kind, but not the example)."""
    name = fold(path.name)
    if name.endswith((".env.example", ".env.sample")):
        return False
    return name.endswith(".env") or ".env." in name


def names_secret(name: str) -> bool:
    """Whether a variable or a setting of this name holds a secret."""
    lowered = name.lower()
    return any(word in lowered for word in _SECRET_WORDS)


def fold(name: str) -> str:
    """One form for all spellings that some file system takes for the same name."""
    visible = "".join(c for c in unicodedata.normalize("NFKC", name) if unicodedata.category(c) != "Cf")
    return visible.casefold()


def _is_git(pair: tuple[str, str]) -> bool:
    return pair[0] == ".git" and (pair[1] == "" or pair[1] in _GIT_ENTRIES)
