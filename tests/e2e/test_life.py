"""How the real process begins and ends, whatever becomes of its editor."""

import asyncio
import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from e2e.client import framed
from e2e.model import Script, calls, says
from e2e.server import COMMAND, OPTIONS, Machine, running, unique
from e2e.talk import Talk


async def test_before_initialize_and_a_second_one(machine: Machine) -> None:
    folder = machine.project("life")
    async with machine.process(folder) as client:
        assert (await client.refused("session/list")).kind == "not_initialized"
        client.notify("textDocument/didOpen", {"nonsense": True})
        result = await client.initialize(OPTIONS)
        offer = result["capabilities"]["experimental"]["agentls"]
        assert offer["protocolVersion"] == 1
        assert "session/prompt" in offer["features"]
        assert offer["schemaDigest"]
        assert (await client.refused("initialize", {"processId": None, "rootUri": None, "capabilities": {}})).kind == (
            "invalid_request"
        )
        assert "sessions" in await client.request("session/list")


async def test_requests_after_shutdown_are_refused_and_exit_ends_with_zero(machine: Machine) -> None:
    folder = machine.project("life")
    async with machine.editor(folder) as client:
        sent = [client.send("shutdown"), *(client.send("session/list") for _ in range(3))]
        assert await client.answer(sent[0]) is None
        for request_id in sent[1:]:
            assert (await client.response(request_id))["error"]["data"]["kind"] == "shutting_down"
        client.notify("exit")
        assert await client.gone() == 0


async def test_l09_exit_without_shutdown_is_one_and_durable(machine: Machine, model: Script) -> None:
    folder = machine.project("life")
    model.plays(says("one two", 2, gate="never"))
    async with machine.editor(folder) as client:
        talk = await Talk.begin(client, folder)
        await talk.prompt("Speak.")
        await talk.first_text()
        client.notify("exit")
        assert await client.gone() == 1
    check_database(machine)
    async with machine.editor(folder) as client:
        [_, answer] = await talk.on(client).messages()
        assert answer["message"]["error"]["data"]["reason"] == "exit"


async def test_l07_l09_shutdown_exit_and_term_at_once(machine: Machine, model: Script) -> None:
    folder = machine.project("life")
    model.plays(says("one two", 2, gate="never"))
    async with machine.editor(folder) as client:
        talk = await Talk.begin(client, folder)
        await talk.prompt("Speak.")
        got = await talk.first_text()
        client.send("shutdown")
        client.notify("exit")
        await client.process.stdin.drain()
        client.process.terminate()
        await client.gone()
    check_database(machine)
    async with machine.editor(folder) as client:
        assert await talk.on(client).texts() == [got["delta"]]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
async def test_a_signal_is_a_shutdown(machine: Machine, model: Script, number: int) -> None:
    folder = machine.project("life")
    mark = unique()
    model.plays(calls(("bash", {"command": f"echo begun; sleep {mark}"})))
    async with machine.editor(folder) as client:
        talk = await Talk.begin(client, folder, mode="auto")
        await talk.prompt("Wait.")
        await talk.output("begun")
        client.process.send_signal(number)
        assert await client.gone(6) == 0
    assert running(mark) == []
    async with machine.editor(folder) as client:
        assert (await talk.on(client).ask("session/get"))["status"]["type"] == "idle"


def check_database(machine: Machine) -> None:
    [path] = machine.data.glob("*.db")
    with sqlite3.connect(path) as database:
        assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert database.execute("PRAGMA foreign_key_check").fetchall() == []
        assert database.execute("SELECT count(*) FROM owners").fetchone() == (0,)


async def test_l08_the_end_of_the_input_ends_the_server_and_its_children(machine: Machine, model: Script) -> None:
    folder = machine.project("life")
    mark = unique()
    model.plays(calls(("bash", {"command": f"echo begun; setsid sleep {mark} & sleep {mark}"})))
    async with machine.editor(folder) as client:
        talk = await Talk.begin(client, folder, mode="auto")
        await talk.prompt("Wait.")
        await talk.output("begun")
        assert client.process.stdin
        client.process.stdin.close()
        await client.gone(6)
    assert running(mark) == []
    check_database(machine)


PARENT = """
import json, subprocess, sys
server = subprocess.Popen(json.loads(sys.argv[1]), stdin=int(sys.argv[2]), stdout=int(sys.argv[3]),
                          stderr=subprocess.DEVNULL, pass_fds=[])
print(server.pid, flush=True)
server.wait()
"""


async def test_l08_the_death_of_the_editor_is_noticed_though_its_pipes_stay_open(machine: Machine) -> None:
    folder = machine.project("life")
    in_read, in_write = os.pipe()
    out_read, out_write = os.pipe()
    editor = subprocess.Popen(
        [sys.executable, "-c", PARENT, json.dumps(COMMAND), str(in_read), str(out_write)],
        stdout=subprocess.PIPE,
        pass_fds=[in_read, out_write],
        env=machine.environment(),
        cwd=folder,
    )
    try:
        assert editor.stdout
        server = psutil.Process(int(await asyncio.to_thread(editor.stdout.readline)))
        params = {"processId": editor.pid, "rootUri": None, "capabilities": {}}
        os.write(in_write, framed({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}))
        assert b"result" in await asyncio.to_thread(os.read, out_read, 1 << 16)
        editor.kill()
        editor.wait()
        await asyncio.to_thread(server.wait, 6)
    finally:
        for descriptor in (in_read, in_write, out_read, out_write):
            os.close(descriptor)


async def test_l08_a_foreign_process_id_does_not_end_the_server(machine: Machine) -> None:
    """In a container the editor's number is somebody else's, or nobody's."""
    folder = machine.project("life")
    dead = subprocess.Popen(["true"])
    dead.wait()
    async with machine.editor(folder, processId=dead.pid) as client:
        assert "sessions" in await client.request("session/list")
        with pytest.raises(TimeoutError):
            await client.gone(2.5)
        assert "sessions" in await client.request("session/list")


LOGGED = 4 << 16  # four times what a pipe holds


async def test_l04_nobody_reads_the_errors(machine: Machine, model: Script) -> None:
    """A client that never reads stderr: far more is logged than a pipe holds, and nothing stops."""
    folder = machine.project("life")
    async with machine.process(folder, env={"AGENTLS_LOG": "debug"}) as client:
        transport = client.process._transport.get_pipe_transport(2)
        transport.pause_reading()
        await client.initialize(OPTIONS, rootUri=folder.as_uri())
        talk = await Talk.begin(client, folder)
        for _ in range(300):
            client.raw(framed(b"{" + b"x" * 2000))
        for number in range(40):
            made = [calls(("list", {"path": f"none{number}{step}"}), ids=f"{step}") for step in range(5)]
            model.plays(*made, says("Still here."))
            assert (await talk.prompt("Speak.", wait="idle"))["stopReason"] == "done"
            if len(machine.log()) > LOGGED:
                break
        assert len(machine.log()) > LOGGED
        transport.resume_reading()
        assert await client.shut_down() == 0
        assert client.errors == b""


async def test_l17_initialize_is_fast_and_needs_no_network(machine: Machine) -> None:
    folder = machine.project("life")
    black_hole = "http://192.0.2.1:9"
    env = {"HTTP_PROXY": black_hole, "HTTPS_PROXY": black_hole, "ALL_PROXY": black_hole}
    machine.settings("http://192.0.2.1:9/v1")
    async with machine.process(folder, env=env) as client:
        await client.initialize(OPTIONS)
        began = time.monotonic()
        talk = await Talk.begin(client, folder)
        assert (await talk.ask("session/get"))["session"]["id"] == talk.id
        assert time.monotonic() - began < 2


async def test_files_and_folders_are_for_their_owner_alone(shared_machine: Machine, talk: Talk, model: Script) -> None:
    model.plays(says("Hello."))
    await talk.prompt("Hi.", wait="idle")
    ours = [shared_machine.data, shared_machine.home / ".local" / "state" / "agentls"]
    for path in (path for top in ours for path in (top, *Path(top).rglob("*"))):
        assert path.stat().st_mode & 0o077 == 0, path


async def test_the_key_is_nowhere(shared_machine: Machine, talk: Talk, model: Script) -> None:
    model.plays(calls(("list", {})), says("Hello."))
    await talk.prompt("Hi.", wait="idle")
    config = await talk.client.request("config/get", {"directory": str(talk.folder)})
    await talk.client.request("server/status")
    assert "a-key-of-the-tests" not in json.dumps(config)
    assert "a-key-of-the-tests" not in json.dumps(talk.client.log)
    for top in (shared_machine.home / ".local", shared_machine.home / ".cache"):
        for path in top.rglob("*"):
            if path.is_file():
                assert b"a-key-of-the-tests" not in path.read_bytes(), path
