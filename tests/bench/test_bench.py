"""The benchmarks run: what they print is looked at by people."""

import subprocess
import sys
from pathlib import Path


def test_the_benchmark_of_the_start_prints_its_figures() -> None:
    command = [sys.executable, "-m", "bench", "start", "--runs", "1"]
    done = subprocess.run(command, cwd=Path(__file__).parents[1], capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr
    assert [line.split("  ")[1] for line in done.stdout.splitlines()[1:]] == [
        "start to session",
        "start to first text",
        "memory, session open",
    ]
