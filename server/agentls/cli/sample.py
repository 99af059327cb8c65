"""The sample project of the demo: a calculator that subtracts where it should add, and the test that says so."""

import difflib
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

WRONG = '''"""A very small calculator."""


def add(a, b):
    return a - b


def double(number):
    return add(number, number)
'''
TEST = """from calc import add, double


def test_add():
    assert add(2, 3) == 5, f"add(2, 3) is {add(2, 3)}, not 5"


def test_double():
    assert double(4) == 8, f"double(4) is {double(4)}, not 8"


if __name__ == "__main__":
    test_add()
    test_double()
    print("2 tests passed")
"""


@dataclass(frozen=True, slots=True)
class Sample:
    folder: Path

    @classmethod
    def made_in(cls, folder: Path) -> "Sample":
        """Where there is git, the sample is a repository with one commit."""
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "calc.py").write_text(WRONG, encoding="utf-8")
        (folder / "test_calc.py").write_text(TEST, encoding="utf-8")
        git = shutil.which("git")
        if git is not None:
            who = ("-c", "user.name=agentls demo", "-c", "user.email=demo@localhost", "-c", "commit.gpgsign=false")
            for words in (("init", "-q"), ("add", "."), (*who, "commit", "-q", "--no-verify", "-m", "A sample")):
                subprocess.run((git, *words), cwd=folder, capture_output=True, check=False)
        return cls(folder)

    def test(self) -> str:
        """The last line of what the test says."""
        command = (sys.executable, "-B", "test_calc.py")
        ran = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, check=False, timeout=60)
        said = (ran.stdout + ran.stderr).strip().splitlines()
        return said[-1] if said else f"exit code {ran.returncode}"

    def diff(self) -> str:
        """What became of the calculator."""
        now = (self.folder / "calc.py").read_text(encoding="utf-8")
        rows = difflib.unified_diff(WRONG.splitlines(), now.splitlines(), "before", "after", lineterm="", n=1)
        return "\n".join(rows)
