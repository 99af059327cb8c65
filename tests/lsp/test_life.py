"""How the process ends, whoever leaves first."""

import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from lsp.wire import SERVED, RawClient, framed


def test_exit_after_shutdown_is_a_success(client: RawClient) -> None:
    client.result("shutdown")
    client.notify("exit")
    assert client.ended() == 0
    assert client.marks().count("closed") == 1


def test_l09_exit_without_shutdown_is_a_failure_but_all_is_saved(client: RawClient) -> None:
    client.notify("exit")
    assert client.ended() == 1
    assert "closed" in client.marks()


def test_l09_exit_before_initialize_ends_the_process(fresh: RawClient) -> None:
    fresh.notify("exit")
    assert fresh.ended(30) == 1  # the start counts too


def test_l07_exit_waits_for_a_slow_shutdown(client: RawClient) -> None:
    client.result("test/configure", {"seconds": 1})
    began = time.monotonic()
    shutdown = client.request("shutdown")
    client.notify("exit")
    assert client.answer(shutdown)["result"] is None
    assert time.monotonic() - began >= 1
    assert client.ended() == 0
    assert client.marks().count("closed") == 1


def test_l09_sigterm_right_after_shutdown_loses_nothing(client: RawClient) -> None:
    client.result("test/configure", {"seconds": 0.5})
    client.request("shutdown")
    client.process.send_signal(signal.SIGTERM)
    assert client.ended() == 0
    assert client.marks().count("closed") == 1


def test_sigterm_is_a_shutdown(client: RawClient) -> None:
    client.process.send_signal(signal.SIGTERM)
    assert client.ended() == 0
    assert "closed" in client.marks()


def test_l08_the_end_of_the_input_ends_the_process(client: RawClient) -> None:
    client.request("test/block")
    client.wait_mark("block ")
    client.close_input()
    assert client.ended() == 0
    assert "closed" in client.marks()


def test_l08_nobody_reading_ends_the_process(client: RawClient) -> None:
    client.pause()
    client.request("test/echo")
    client.close_output()
    assert client.ended() == 0
    assert "closed" in client.marks()


@pytest.mark.parametrize("direct", [True, False])
def test_l08_the_editors_death_is_noticed_though_the_pipe_stays_open(tmp_path: Path, direct: bool) -> None:
    """An editor that is killed, while another process still holds the write end of our input."""
    out, into = os.pipe()
    replies, answer = os.pipe()
    server = [sys.executable, str(SERVED), str(tmp_path / "marks"), str(tmp_path / "log")]
    command = server if direct else ["sh", "-c", 'true; "$@"; true', "wrapper", *server]
    script = "import subprocess, sys; subprocess.Popen(sys.argv[1:]).wait()"
    editor = subprocess.Popen([sys.executable, "-c", script, *command], stdin=out, stdout=answer)
    os.close(out)
    os.close(answer)
    try:
        params = {"processId": editor.pid, "rootUri": None, "capabilities": {}}
        os.write(into, framed({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}))
        assert os.read(replies, 100).startswith(b"Content-Length")
        editor.kill()
        editor.wait()
        deadline = time.monotonic() + 4.5
        while select.select([replies], [], [], deadline - time.monotonic())[0] and os.read(replies, 65536):
            pass
        assert time.monotonic() < deadline
        assert "closed" in (tmp_path / "marks").read_text()
    finally:
        os.close(into)
        os.close(replies)


def test_a_foreign_process_id_is_not_watched(fresh: RawClient) -> None:
    gone = subprocess.Popen(["true"])
    gone.wait()
    fresh.initialize(processId=gone.pid)
    with pytest.raises(subprocess.TimeoutExpired):
        fresh.ended(2.5)
    assert fresh.result("test/echo") == {"got": {}}
    assert fresh.process.poll() is None


def test_l04_a_client_that_never_reads_stderr_blocks_nothing(client: RawClient) -> None:
    for _ in range(300):
        client.call("test/raise")
    assert client.result("test/echo") == {"got": {}}
    assert client.log_file.stat().st_size > 100_000
