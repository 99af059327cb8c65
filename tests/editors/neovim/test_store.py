"""The rules of the client's copy, in Lua, without a server."""

import subprocess
from pathlib import Path

from nvim import PLUGIN

from conftest import neovim


def test_the_copy_follows_the_protocols_rules() -> None:
    spec = Path(__file__).parent / "store_spec.lua"
    command = [neovim(), "--clean", "--headless", "-l", str(spec), str(PLUGIN)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 failed" in done.stdout
