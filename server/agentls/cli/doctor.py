"""`agentls doctor`: what is there, what is missing, and what to do about it."""

import os
import sys
from collections.abc import Iterable
from pathlib import Path

from anyio import to_thread
from pydantic_core import to_json

from agentls.app.configuration import Configuration
from agentls.cli.checks import Check, installation, settings, storage, tools
from agentls.cli.ending import Exit
from agentls.cli.progress import working
from agentls.cli.screen import Screen
from agentls.config.paths import Paths
from agentls.schema.text import one_line

_SIGNS = {"ok": ("✓", "bold green"), "warning": ("!", "bold yellow"), "failed": ("✗", "bold red")}


async def doctor(directory: Path, *, as_json: bool) -> int:
    """Returns the exit code: 1 if something failed."""
    paths = Paths.from_environment(os.environ)
    configuration = Configuration(paths, os.environ)
    configuration.connect(settings=None, trusted=None, folders=(directory,))
    screen = Screen(sys.stdout)
    done: list[Check] = []

    def tell(checks: Iterable[Check]) -> None:
        for check in checks:
            done.append(check)
            if not as_json:
                _show(screen, check)

    tell(installation())
    tell(settings(paths, configuration, directory))
    with working("Looking at the database") as step:
        found = await to_thread.run_sync(storage, paths)
        step("Looking for tools")
        found += await to_thread.run_sync(tools)
    tell(found)
    with working("Asking the providers"):
        from agentls.cli.providers import providers

        found = await providers(configuration, directory)
    tell(found)
    failed = any(check.state == "failed" for check in done)
    if as_json:
        members = {"ok": not failed, "checks": [check.members() for check in done]}
        sys.stdout.buffer.write(to_json(members, indent=2) + b"\n")
    return Exit.ERROR if failed else Exit.DONE


def _show(screen: Screen, check: Check) -> None:
    sign, style = _SIGNS[check.state]
    screen.write(f"{sign} ", style)
    screen.write(f"{check.what}: {one_line(check.says)}\n")
    if check.advice:
        screen.line(f"  → {check.advice}", "" if check.state == "failed" else "dim")
