"""What is typed before a question is forgotten, but for a Ctrl-C."""

import os
import pty
import select
import subprocess
import sys
import termios
from collections.abc import Iterator

import pytest

from cli.terminal import TAKE_TERMINAL

ROUNDS = 200
FORGETFUL = """
import os, signal, sys
from agentls.cli.terminal import _forget_typed
seen = 0
def stop(*_):
    global seen
    seen += 1
signal.signal(signal.SIGINT, stop)
os.write(1, b"r")
for round in range(ROUNDS):
    while seen <= round:
        _forget_typed(0)
    os.write(1, b".")
_forget_typed(0)
os.write(1, b"?")
os.write(1, b"<" + os.read(0, 100).strip() + b">")
"""


@pytest.fixture
def child() -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    master, slave = pty.openpty()
    attributes = termios.tcgetattr(slave)
    attributes[3] &= ~termios.ECHO
    termios.tcsetattr(slave, termios.TCSANOW, attributes)
    process = subprocess.Popen(
        [sys.executable, "-c", TAKE_TERMINAL, sys.executable, "-c", FORGETFUL.replace("ROUNDS", str(ROUNDS))],
        stdin=slave,
        stdout=slave,
        start_new_session=True,
    )
    os.close(slave)
    yield process, master
    process.kill()
    process.wait()
    os.close(master)


def test_no_ctrl_c_is_lost_and_half_a_line_is_no_answer(child: tuple[subprocess.Popen[bytes], int]) -> None:
    _, master = child

    def shown(wanted: bytes) -> None:
        ready, _, _ = select.select([master], [], [], 20)
        assert ready, "the Ctrl-C before was lost"
        assert os.read(master, 1) == wanted

    shown(b"r")
    for _ in range(ROUNDS):
        os.write(master, b"ye\x03")
        shown(b".")
    shown(b"?")
    os.write(master, b"no\n")
    for letter in b"<no>":
        shown(bytes([letter]))
