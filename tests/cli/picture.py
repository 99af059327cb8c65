"""Draws `agentls demo` at a terminal: `python tests/cli/picture.py editor-clients/media/demo.svg`."""

import io
import os
import re
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import MONOKAI
from rich.text import Text

sys.path.insert(0, str(Path(__file__).parents[1]))

from cli.terminal import Terminal

COLUMNS = 100
FONT_FACE = re.compile(r"@font-face \{.*?\}\n?", re.DOTALL)


def shown() -> str:
    """What a person sees who says yes, once for this time ."""
    with tempfile.TemporaryDirectory() as home:
        env = {"HOME": home, "PATH": os.environ["PATH"], "LANG": "C.UTF-8", "TMPDIR": "/tmp"}
        terminal = Terminal([sys.executable, "-m", "agentls", "demo"], Path(home), env)
        for answer in ("y\n", "y\n"):
            terminal.until("Allow it?")
            terminal.type(answer)
        terminal.end()
        terminal.close()
        return terminal.raw.replace("\r\n", "\n")


def drawn(text: str) -> str:
    """As SVG, with the reader's own monospaced font: nothing is loaded from elsewhere."""
    text = re.sub(r"agentls-demo-\w+", "agentls-demo", text)
    begin, _, rest = text.partition("That was the whole job")
    text = begin.rstrip() + "\n\n" + rest[rest.index("\n", rest.index("agentls.json")) :].lstrip()
    console = Console(record=True, width=COLUMNS, file=io.StringIO(), highlight=False, emoji=False)
    console.print(Text.from_ansi("$ agentls demo\n" + text))
    svg = console.export_svg(title="agentls demo", theme=MONOKAI, unique_id="demo")
    svg = FONT_FACE.sub("", svg).replace("Fira Code", "ui-monospace, Menlo, Consolas")
    return re.sub(r"<!-- .*? -->\n?", "", svg)


if __name__ == "__main__":
    target = Path(sys.argv[1])
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(drawn(shown()), encoding="utf-8")
