"""Fixtures of the transport's tests."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from lsp.wire import RawClient


@pytest.fixture
def fresh(tmp_path: Path) -> Iterator[RawClient]:
    """A client of a process that heard nothing yet."""
    client = RawClient(tmp_path)
    yield client
    client.kill()


@pytest.fixture
def client(fresh: RawClient) -> RawClient:
    fresh.initialize()
    return fresh
