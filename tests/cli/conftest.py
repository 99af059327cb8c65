"""Real processes, with and without a terminal."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from cli.program import Program


@pytest.fixture
def program(tmp_path: Path) -> Iterator[Program]:
    program = Program(tmp_path)
    yield program
    program.close()
