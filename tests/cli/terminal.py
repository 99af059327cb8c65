"""A person at a terminal: the program on a pseudo-terminal, what it shows, and what is typed."""

import fcntl
import os
import pty
import re
import select
import subprocess
import sys
import termios
import time
from pathlib import Path
from typing import Any

SECONDS = 60
TAKE_TERMINAL = (
    "import fcntl, os, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); os.execv(sys.argv[1], sys.argv[1:])"
)
_STYLE = re.compile(r"\x1b(?:\[[0-9;?]*[A-Za-z]|[78D])")  # colours, and the moves of the cursor
# Input that was drawn below the output, and cleared again.
_BELOW = re.compile(r"\x1b7[^\x1b]*(?:\x1b(?!8\x1b\[J)[^\x1b]*)*\x1b8\x1b\[J")


def _plain(raw: str) -> str:
    return _STYLE.sub("", raw).replace("\r\n", "\n")
