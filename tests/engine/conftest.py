"""What the engine's tests share."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from agentls.schema.event import Scope
from engine.builders import World


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    world = World(tmp_path)
    yield world
    world.close()


@pytest.fixture
def scope(world: World) -> Scope:
    return world.session()
