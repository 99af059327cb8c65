"""The page for the author of another client: its code runs, its transcript is what is sent."""

from collections.abc import AsyncIterator

import pytest

from e2e.model import Script, scripted
from e2e.server import Machine
from protocol.transcript import record


@pytest.fixture
async def script() -> AsyncIterator[Script]:
    async with scripted() as script:
        yield script


async def test_the_transcript_is_that_of_a_real_run(tmp_path_factory, script: Script) -> None:
    text = await record(Machine(tmp_path_factory.mktemp("machine"), script.url), script)
    print(text)
    assert 0
