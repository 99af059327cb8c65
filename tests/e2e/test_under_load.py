"""What one session or one reader does to the others of the same process."""

import asyncio
import resource
import sys
import time
from pathlib import Path

import anyio
import pytest

from e2e.client import Client
from e2e.model import Answer, C, Script, calls, says
from e2e.server import OPTIONS, Machine, running, unique
from e2e.talk import Talk

TESTS = Path(__file__).resolve().parent.parent
LATE = 0.25
"""Seconds that the loop may be late on a busy machine. On a quiet one it is a fifth of that."""


FLOOD = "while :; do head -c 20K /dev/zero | tr '\\0' y; echo {n}; done"


async def test_b07_a_command_that_floods_delays_neither_its_time_limit_nor_others_text_nor_their_abort(
    talk: Talk, model: Script, shared: Client
) -> None:
    """As much as it can print in two seconds, with a limit of so many; beside it a session that streams and is
    stopped.
    """
    other, mark = await Talk.begin(shared, talk.folder), unique()
    model.plays(
        calls(("bash", {"command": FLOOD.replace("{n}", mark), "timeout": 2_000})), says("It ran out."), mark="FLOOD"
    )
    pieces = [C({"content": f"{number} words. "}) for number in range(200)]
    model.plays(Answer([*pieces, *says("never", before="never").events]), mark="OTHER")
    await talk.prompt("FLOOD")
    await talk.reply(await talk.asked())
    await talk.output("")
    await other.prompt("OTHER")
    await other.first_text()
    stopped = time.monotonic()
    assert (await other.abort())["aborted"] is True
    assert time.monotonic() - stopped < 1
    assert talk.seen("turn/ended") == []
    assert (await talk.ended(seconds=20))["stopReason"] == "done"
    [tool] = await talk.tools()
    spent = tool["state"]["time"]["end"] - tool["state"]["time"]["start"]
    assert 2_000 <= spent < 3_500
    assert running(mark) == []
    outputs = [p["delta"] for p in talk.seen("part/delta") if p["field"] == "output"]
    assert len(outputs) < 25 * 3
    assert sum(map(len, outputs)) < 4_000_000


async def test_l11_the_loop_is_never_late_while_a_client_does_not_read(machine: Machine, model: Script) -> None:
    """The real engine; its loop is watched from within the process. An abort is obeyed meanwhile."""
    folder = machine.project("slow")
    found = machine.home / "lag"
    command = [sys.executable, "-m", "bench.watched", str(found)]
    async with machine.process(folder, command, {"PYTHONPATH": str(TESTS)}) as client:
        await client.initialize(OPTIONS, rootUri=folder.as_uri())
        talk = await Talk.begin(client, folder)
        flood = [C({"content": f"{number:05d} " * 100}) for number in range(5_000)]
        model.plays(Answer([*flood, *says("never", before="never").events]))
        await talk.prompt("Flood.")
        await talk.first_text()
        client.pause()
        model.fake.client_closed = anyio.Event()
        await asyncio.sleep(1)
        request_id = client.send("session/abort", {"sessionId": talk.id})
        with anyio.fail_after(10):
            await model.fake.client_closed.wait()
        client.go_on()
        assert (await client.answer(request_id))["aborted"] is True
        await client.shut_down()
    assert float(found.read_text()) < LATE


@pytest.mark.parametrize("soft", [128, 256])
async def test_many_files_may_be_open_where_the_system_begins_with_few(machine: Machine, soft: int) -> None:
    folder = machine.project("few")
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    command = ["sh", "-c", f'ulimit -Sn {soft}; exec "$0" -m agentls --stdio', sys.executable]
    async with machine.process(folder, command) as client:
        await client.initialize(OPTIONS, rootUri=folder.as_uri())
        now, most = resource.prlimit(client.process.pid, resource.RLIMIT_NOFILE)
        assert (now, most) == (min(10_240, hard), hard)
        await client.shut_down()
