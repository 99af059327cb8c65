"""What all tests share."""

import pytest
from hypothesis import settings

settings.register_profile("agentls", deadline=None)  # machines have other work at times
settings.load_profile("agentls")


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"
