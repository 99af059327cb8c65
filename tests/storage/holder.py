"""Another process that holds the database: it has begun to write, and does not end."""

import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

_HOLD = """
import sqlite3, sys, time
connection = sqlite3.connect(sys.argv[1], isolation_level=None, timeout=30)
connection.execute("BEGIN IMMEDIATE")
print("held", flush=True)
if sys.argv[2] == "until told":
    sys.stdin.readline()
else:
    time.sleep(float(sys.argv[2]))
connection.execute("COMMIT")
"""


@contextmanager
def held(path: Path, seconds: float | None = None) -> Generator[None]:
    """Without `seconds` for as long as the block lasts."""
    how = "until told" if seconds is None else str(seconds)
    command = [sys.executable, "-c", _HOLD, str(path), how]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        assert process.stdout.readline() == "held\n"
        try:
            yield
        finally:
            process.communicate("\n", timeout=60)
