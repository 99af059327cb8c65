"""Fixtures of the tests on the real process. A machine and its server are shared by a module, a session by none."""

import itertools
from collections.abc import AsyncIterator

import pytest

from e2e.buffers import ABLE, Desk, options
from e2e.client import Client
from e2e.model import Script, scripted
from e2e.plain import CAPABILITIES, OURS, Plain
from e2e.server import Machine
from e2e.talk import Talk
from protocol.truth import hold_to_the_table

NUMBERS = itertools.count(1)


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="session")
async def script() -> AsyncIterator[Script]:
    async with scripted() as script:
        yield script


@pytest.fixture
def model(script: Script) -> Script:
    script.plays()
    return script


@pytest.fixture(scope="module")
def shared_machine(tmp_path_factory: pytest.TempPathFactory, script: Script) -> Machine:
    return Machine(tmp_path_factory.mktemp("machine"), script.url)


@pytest.fixture(scope="module")
async def shared(shared_machine: Machine) -> AsyncIterator[Client]:
    """An editor for all tests of a module. At the end all that it was sent is held against the protocol's table."""
    async with shared_machine.editor(shared_machine.project("first")) as client:
        yield client
        assert hold_to_the_table(client)


@pytest.fixture
async def talk(shared: Client, shared_machine: Machine, model: Script) -> AsyncIterator[Talk]:
    """A session of the test's own, in a folder of its own, on the module's server."""
    folder = shared_machine.project(f"project-{next(NUMBERS)}")
    talk = await Talk.begin(shared, folder)
    yield talk
    await shared.request("session/abort", {"sessionId": talk.id, "queue": "clear"})


@pytest.fixture(scope="module")
async def able(shared_machine: Machine) -> AsyncIterator[Client]:
    """As `shared`, an editor that lets its documents be changed and saved."""
    async with shared_machine.editor(shared_machine.project("able"), options(), capabilities=ABLE) as client:
        yield client
        assert hold_to_the_table(client)


@pytest.fixture
async def desk(able: Client, shared_machine: Machine, model: Script) -> AsyncIterator[Desk]:
    """A user at that editor, in a folder of the test's own."""
    desk = await Desk.begin(able, shared_machine.project(f"desk-{next(NUMBERS)}"), model)
    yield desk
    await able.request("session/abort", {"sessionId": desk.talk.id, "queue": "clear"})
    for buffer in list(desk.editor.buffers.values()):
        desk.editor.close(buffer)


@pytest.fixture
def machine(tmp_path_factory: pytest.TempPathFactory, model: Script) -> Machine:
    """A machine for one test alone."""
    return Machine(tmp_path_factory.mktemp("machine"), model.url)


@pytest.fixture(scope="module")
async def window(shared_machine: Machine) -> AsyncIterator[Client]:
    folder = shared_machine.project("plain")
    async with shared_machine.editor(folder, None, capabilities=CAPABILITIES) as client:
        yield client
        assert [m["method"] for m in client.log if str(m.get("method", "")).startswith(OURS)] == []


@pytest.fixture
async def plain(window: Client, shared_machine: Machine, model: Script) -> AsyncIterator[Plain]:
    """A user in a session of the test's own; the window is the module's."""
    plain = Plain(window, shared_machine.projects / "plain")
    await plain.run("agentls.newSession")
    yield plain
    await plain.run("agentls.abort")


@pytest.fixture
async def fresh(machine: Machine) -> AsyncIterator[Plain]:
    """A user whose editor was opened just now."""
    folder = machine.project("fresh")
    async with machine.editor(folder, None, capabilities=CAPABILITIES) as client:
        yield Plain(client, folder)
