"""Shell commands on real processes."""

import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import AsyncGenerator, Callable
from pathlib import Path

import anyio
import psutil
import pytest

from agentls.errors import ToolError
from agentls.workspace.capture import Capture, Live
from agentls.workspace.environment import child_environment
from agentls.workspace.process import Finished, Shell
from agentls.workspace.tree import Mark, find
from agentls.workspace.watchdog import Watchdog

INSTANCE = "ins_test"


@pytest.fixture
async def shell() -> AsyncGenerator[Shell]:
    watchdog = Watchdog(INSTANCE)
    yield Shell(watchdog)
    await watchdog.aclose()


def left_over(instance: str = INSTANCE) -> list[psutil.Process]:
    return find(Mark("AGENTLS_INSTANCE", instance))


async def run(
    shell: Shell,
    command: str,
    timeout: float = 20,
    output: Callable[[str], None] = lambda _: None,
    arguments: tuple[str, ...] = (),
) -> Finished:
    with anyio.fail_after(30):
        return await shell.run(command, cwd=Path("/tmp"), timeout=timeout, output=output, arguments=arguments)


@pytest.mark.parametrize(
    "command",
    [
        "sleep 60 & echo done",
        "(setsid sleep 60 &); echo done",
        "env -i sleep 60 & echo done",
        f"{sys.executable} -m http.server 0 >/dev/null 2>&1 & echo done",
        "bash -lic 'sleep 60 &' 2>/dev/null; echo done",  # B03
    ],
)
async def test_b01_b03_a_background_child_neither_delays_the_result_nor_outlives_it(shell: Shell, command: str) -> None:
    start = time.monotonic()
    finished = await run(shell, command)
    assert time.monotonic() - start < 1.5
    assert (finished.exit_code, finished.output) == (0, "done\n")
    assert finished.ended
    assert left_over() == []


@pytest.mark.parametrize("command", ["read x; echo got:$x", "cat; echo got:", "ssh-keygen -l 2>/dev/null; echo got:"])
async def test_b04_nobody_waits_for_input(shell: Shell, command: str) -> None:
    assert (await run(shell, command)).output.endswith("got:\n")


async def test_b04_there_is_no_terminal(shell: Shell) -> None:
    finished = await run(
        shell,
        "(: < /dev/tty) 2>/dev/null && echo tty; test -t 0 || test -t 1 || echo none; echo $GIT_TERMINAL_PROMPT$CI",
    )
    assert finished.output == "none\n01\n"


async def test_b06_a_flood_is_stopped_in_bounded_memory(shell: Shell) -> None:
    before = psutil.Process().memory_info().rss
    finished = await run(shell, "echo first; head -c 3G /dev/zero | tr '\\0' 'x'; echo last")
    assert finished.flooded
    assert finished.output.startswith("first\nxxx")
    assert "bytes in the middle were not kept" in finished.output
    assert len(finished.output) < 2_000_000
    assert psutil.Process().memory_info().rss - before < 100_000_000
    assert left_over() == []


async def test_b06_what_is_large_but_no_flood_runs_to_its_end(shell: Shell) -> None:
    finished = await run(shell, "head -c 50000000 /dev/zero | tr '\\0' 'x'; echo last")
    assert (finished.exit_code, finished.flooded, finished.total) == (0, False, 50_000_005)
    assert finished.output.endswith("xlast\n")


async def test_b07_a_flood_neither_stops_the_clock_nor_the_others(shell: Shell) -> None:
    pieces: list[str] = []
    worst = 0.0

    async def another() -> None:
        nonlocal worst
        while True:
            start = time.monotonic()
            await anyio.sleep(0.01)
            worst = max(worst, time.monotonic() - start)

    async with anyio.create_task_group() as group:
        group.start_soon(another)
        start = time.monotonic()
        finished = await run(shell, "while :; do head -c 100K /dev/zero | tr '\\0' y; echo; done", 1, pieces.append)
        took = time.monotonic() - start
        group.cancel_scope.cancel()
    assert finished.timed_out
    assert took < 2
    assert worst < 0.5
    assert 1 < len(pieces) <= 25 * took
    assert sum(map(len, pieces)) < 400_000


@pytest.mark.parametrize(
    ("command", "output"),
    [
        (r"printf 'a\r\nb\r\n'", "a\nb\n"),
        (r"printf '10%%\r50%%\r100%%\n'", "100%\n"),
        (r"printf '\033[?25l\033[32mok\033[0m\033]0;t\007\n'", "ok\n"),
        (r"printf 'loading...\r\033[Kdone\n'", "done\n"),
        (r"printf 'abc\rX\n'", "Xbc\n"),
        (r"printf '\033Pdevice\033\\x\033]8;;http://h\033\\link\033]8;;\033\\\n'", "xlink\n"),
        (r"printf '\xff\xfe'", "\ufffd\ufffd"),
        (r"printf 'a\bb\033[1'", "b"),
    ],
)
async def test_b08_terminal_output_becomes_plain_text(shell: Shell, command: str, output: str) -> None:
    assert (await run(shell, command)).output == output


def test_b08_a_character_split_across_reads_stays_whole() -> None:
    data = "x🙂y\n".encode()
    for cut in range(len(data)):
        capture, pieces = Capture(), list[str]()
        live = Live(pieces.append)
        for chunk in (data[:cut], data[cut:]):
            capture.feed(chunk)
            live.feed(chunk) if chunk else None
            live.flush()
        live.flush(final=True)
        assert capture.text() == "x🙂y\n"
        assert "".join(pieces) == "x🙂y\n"


async def test_live_output_comes_while_the_command_runs(shell: Shell, tmp_path: Path) -> None:
    seen = anyio.Event()
    pieces: list[str] = []

    def output(text: str) -> None:
        pieces.append(text)
        (tmp_path / "go").touch()
        seen.set()

    finished = await run(
        shell, f"printf start; while [ ! -e {tmp_path}/go ]; do sleep 0.01; done; echo ' end'", output=output
    )
    assert finished.exit_code == 0
    assert "".join(pieces) == finished.output == "start end\n"
    assert len(pieces) == 2


async def test_b09_a_process_that_ignores_term_is_killed(shell: Shell) -> None:
    command = """bash -c 'trap "" INT TERM; echo on; while :; do sleep 1; done'"""
    started = anyio.Event()
    async with anyio.create_task_group() as group:
        group.start_soon(lambda: shell.run(command, cwd=Path("/tmp"), output=lambda _: started.set()))
        await started.wait()
        start = time.monotonic()
        group.cancel_scope.cancel()
    assert time.monotonic() - start < 3
    assert left_over() == []


@pytest.mark.parametrize(
    "command",
    [
        "bash -c 'bash -c \"sleep 300\" & echo on; wait'",
        "echo on; timeout 60 sh -c 'sleep 300'",
        "echo on; setsid sleep 300",
        f"echo on; {sys.executable} -c 'import os,time; os.setsid() if os.fork()==0 else 0; time.sleep(300)'",
    ],
)
async def test_b10_b12_cancelling_leaves_no_descendant_and_no_zombie(shell: Shell, command: str) -> None:
    started = anyio.Event()
    async with anyio.create_task_group() as group:
        group.start_soon(lambda: shell.run(command, cwd=Path("/tmp"), output=lambda _: started.set()))
        await started.wait()
        start = time.monotonic()
        group.cancel_scope.cancel()
    assert time.monotonic() - start < 2
    assert left_over() == []
    assert [child for child in psutil.Process().children() if child.status() == psutil.STATUS_ZOMBIE] == []


async def test_b12_no_descriptor_is_left_after_many_calls_and_cancellations(shell: Shell) -> None:
    await run(shell, ":")
    before = len(os.listdir("/proc/self/fd")) if Path("/proc/self/fd").is_dir() else 0
    for i in range(8):
        with anyio.move_on_after(0.01 * i):
            await shell.run("sleep 5", cwd=Path("/tmp"))
        await run(shell, "true")
    after = len(os.listdir("/proc/self/fd")) if Path("/proc/self/fd").is_dir() else 0
    assert after == before


async def test_b14_the_exit_code_comes_with_no_output(shell: Shell) -> None:
    finished = await run(shell, "exit 3")
    assert (finished.exit_code, finished.output, finished.ended) == (3, "", ())


async def test_a_timeout_keeps_what_was_printed(shell: Shell) -> None:
    finished = await run(shell, "echo before; sleep 60", 0.3)
    assert (finished.timed_out, finished.output) == (True, "before\n")


@pytest.mark.parametrize("command", ["-x", "--version"])
async def test_a_command_is_never_taken_for_an_option(shell: Shell, command: str) -> None:
    assert (await run(shell, command)).exit_code == 127


@pytest.mark.parametrize("command", ["a\0b", "\ud800", "x" * 3_000_000])
async def test_what_cannot_be_started_is_an_error_for_the_model(shell: Shell, command: str) -> None:
    with pytest.raises(ToolError, match="not started"):
        await run(shell, command)


async def test_arguments_are_parameters_of_the_shell(shell: Shell) -> None:
    assert (await run(shell, 'echo "$0|$1"', arguments=("agentls", "a; echo b"))).output == "agentls|a; echo b\n"


def test_secrets_stay_out_of_the_environment() -> None:
    own = {
        "PATH": "/bin",
        "OPENAI_API_KEY": "k",
        "my_token": "t",
        "DB_PASSWORD": "p",
        "GH_TOKEN": "g",
        "BASH_ENV": "/x",
    }
    passed = child_environment(own, instance="i", call="c", keep=["GH_TOKEN"])
    assert {"PATH", "GH_TOKEN"} <= set(passed)
    assert not {"OPENAI_API_KEY", "my_token", "DB_PASSWORD", "BASH_ENV"} & set(passed)


SERVER = textwrap.dedent("""
    import sys, anyio
    from pathlib import Path
    from agentls.workspace.process import Shell
    from agentls.workspace.watchdog import Watchdog

    async def main():
        shell = Shell(Watchdog(sys.argv[1]))
        command = "sleep 300 & setsid sleep 300 & (trap '' TERM; sleep 300) & echo up; wait"
        await shell.run(command, cwd=Path("/tmp"), output=lambda text: print(text, flush=True))

    anyio.run(main)
""")


def test_b15_nothing_outlives_a_killed_server() -> None:
    instance = f"ins_killed_{os.getpid()}"
    server = subprocess.Popen([sys.executable, "-c", SERVER, instance], stdout=subprocess.PIPE)
    assert server.stdout is not None
    assert server.stdout.readline() == b"up\n"
    assert len(left_over(instance)) >= 4
    server.send_signal(signal.SIGKILL)
    server.wait()
    deadline = time.monotonic() + 10
    while left_over(instance) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert left_over(instance) == []
    server.stdout.close()


async def test_the_watcher_goes_when_it_is_closed(shell: Shell) -> None:
    watchdog = Watchdog("ins_closed")
    await Shell(watchdog).run("true", cwd=Path("/tmp"))
    children = psutil.Process().children()
    await watchdog.aclose()
    assert len(psutil.Process().children()) == len(children) - 1
