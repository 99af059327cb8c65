"""`agentls models`: what can be chosen here, and what answers if nobody chooses."""

import os
import sys
from collections.abc import Iterable
from pathlib import Path

from pydantic_core import to_json

from agentls.app.catalog import Choices
from agentls.app.configuration import Configuration
from agentls.app.models import Models, make_sdk_client
from agentls.cli.ending import Exit, complain
from agentls.cli.screen import Screen
from agentls.cli.table import rows
from agentls.config.paths import Paths
from agentls.protocol.catalog import ModelEntry, ModelsResult
from agentls.tools.registry import Registry


async def models(directory: Path, *, as_json: bool) -> int:
    """Returns the exit code. No provider is asked, but servers on this machine are looked for."""
    configuration = Configuration(Paths.from_environment(os.environ), os.environ)
    configuration.connect(settings=None, trusted=None, folders=(directory,))
    choices = Choices(configuration, Models(configuration, os.environ, make_sdk_client), Registry(()))
    found = ModelsResult.model_validate_json((await choices.models(directory)).json).models
    for problem in configuration.loaded(str(directory)).problems:
        if problem.severity == "error":
            complain(str(problem))
    if as_json:
        sys.stdout.buffer.write(to_json([entry.members() for entry in found], indent=2) + b"\n")
        return Exit.DONE
    screen = Screen(sys.stdout)
    for entry, row in zip(found, rows(_cells(entry) for entry in found), strict=True):
        screen.line(row, "bold" if entry.default else "")
    _say_default(found, configuration.loaded(str(directory)).settings.model)
    return Exit.DONE


def _cells(entry: ModelEntry) -> tuple[str, ...]:
    limit = entry.limit.context if entry.limit else None
    cost = entry.cost or {}
    price = f"${cost.get('input', 0):g} in, ${cost.get('output', 0):g} out" if cost else ""
    sign = "*" if entry.default else " "
    ref = f"{entry.provider_id}/{entry.model_id}"
    return f"{sign} {ref}", entry.name, f"{limit:,} tokens" if limit else "", price


def _say_default(found: Iterable[ModelEntry], chosen: str | None) -> None:
    if any(entry.default and entry.provider_id != "demo" for entry in found):
        complain("* answers if nobody chooses; prices are for a million tokens")
    elif chosen is not None and not any(entry.default for entry in found):
        complain(f"the settings choose {chosen}, which is none of these: see agentls doctor")
    else:
        complain("no model is set up, so the built-in demo model answers: see agentls doctor")
