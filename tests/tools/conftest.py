"""Fixtures of the tools' tests."""

from pathlib import Path

import pytest

from tools.support import Desk


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    root = tmp_path / "project"
    root.mkdir()
    return Desk(root)
