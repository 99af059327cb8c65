"""Where things live: the same folders on Linux and macOS, each for its owner alone."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Self


@dataclass(frozen=True, slots=True)
class Paths:
    """`config_home` is the parent of all programs' settings, `config` our own folder there."""

    home: Path
    config_home: Path
    config: Path
    data: Path
    cache: Path
    state: Path

    @classmethod
    def from_environment(cls, env: Mapping[str, str]) -> Self:
        """By the XDG variables and `AGENTLS_DATA_DIR`; relative ones do not count, as the XDG rules say."""
        home = _absolute(env.get("HOME")) or Path.home()
        config_home = _absolute(env.get("XDG_CONFIG_HOME")) or home / ".config"
        data_home = _absolute(env.get("XDG_DATA_HOME")) or home / ".local" / "share"
        cache_home = _absolute(env.get("XDG_CACHE_HOME")) or home / ".cache"
        state_home = _absolute(env.get("XDG_STATE_HOME")) or home / ".local" / "state"
        return cls(
            home=home,
            config_home=config_home,
            config=config_home / "agentls",
            data=_absolute(env.get("AGENTLS_DATA_DIR")) or data_home / "agentls",
            cache=cache_home / "agentls",
            state=state_home / "agentls",
        )

    @property
    def log(self) -> Path:
        return self.state / "log"

    @property
    def trust(self) -> Path:
        return self.data / "trust.json"

    def make(self) -> None:
        """Makes the folders that we write to. Raises `OSError` where that is not possible."""
        for folder in (self.data, self.cache, self.state, self.log):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)


def expand_home(text: str, home: Path) -> str:
    """`~` and `$HOME` at the start of a path or pattern stand for the home folder."""
    for sign in ("~", "$HOME"):
        if text == sign or text.startswith(f"{sign}/"):
            return f"{home}{text[len(sign) :]}"
    return text


def _absolute(text: str | None) -> Path | None:
    return Path(text) if text and Path(text).is_absolute() else None
