"""A real Neovim: its API over pynvim, its screen as a second, raw UI client sees it."""

import contextlib
import shutil
import socket
import subprocess
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import msgpack
import pynvim
from PIL import Image, ImageDraw, ImageFont

PLUGIN = Path(__file__).parents[3] / "editor-clients" / "neovim"
FONTS = Path("/usr/share/fonts/truetype/dejavu")


class Screen(threading.Thread):
    """Keeps the grid as text and highlight ids."""

    def __init__(self, path: str, width: int, height: int) -> None:
        super().__init__(daemon=True)
        self.width, self.height = width, height
        self.news = threading.Condition()
        self.grid = [[(" ", 0)] * width for _ in range(height)]
        self.groups: dict[int, dict[str, Any]] = {}
        self.default = (0xE0E2EA, 0x14161B)
        self.cursor = (0, 0)
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(path)
        attach = [0, 1, "nvim_ui_attach", [width, height, {"ext_linegrid": True, "rgb": True}]]
        self.socket.sendall(msgpack.packb(attach))
        self.start()

    def run(self) -> None:
        unpacker = msgpack.Unpacker(
            raw=False, unicode_errors="replace", strict_map_key=False, ext_hook=lambda code, data: (code, data)
        )
        while data := self._receive():
            unpacker.feed(data)
            for message in unpacker:
                if message[0] == 2 and message[1] == "redraw":
                    with self.news:
                        for event in message[2]:
                            for args in event[1:]:
                                self._event(event[0], args)
                        self.news.notify_all()

    def _receive(self) -> bytes:
        try:
            return self.socket.recv(65536)
        except OSError:
            return b""

    def _event(self, name: str, args: list[Any]) -> None:
        match name:
            case "grid_resize":
                _, self.width, self.height = args
                self.grid = [[(" ", 0)] * self.width for _ in range(self.height)]
            case "grid_clear":
                self.grid = [[(" ", 0)] * self.width for _ in range(self.height)]
            case "default_colors_set":
                self.default = tuple(
                    given if given >= 0 else was for given, was in zip(args, self.default, strict=False)
                )
            case "hl_attr_define":
                self.groups[args[0]] = args[1]
            case "grid_cursor_goto":
                self.cursor = (args[1], args[2])
            case "grid_line":
                self._line(args)
            case "grid_scroll":
                self._scroll(args)
            case _:
                pass

    def _line(self, args: list[Any]) -> None:
        _, row, column, cells = args[:4]
        group = 0
        for cell in cells:
            group = cell[1] if len(cell) > 1 else group
            for _ in range(cell[2] if len(cell) > 2 else 1):
                if column < self.width:
                    self.grid[row][column] = (cell[0], group)
                column += 1

    def _scroll(self, args: list[Any]) -> None:
        _, top, bottom, left, right, rows, _ = args
        span = range(top, bottom - rows) if rows > 0 else range(bottom - 1, top - rows - 1, -1)
        for row in span:
            self.grid[row][left:right] = self.grid[row + rows][left:right]

    def text(self) -> str:
        return "\n".join("".join(cell for cell, _ in row).rstrip() for row in self.grid)

    def wait_for(self, needle: str, seconds: float = 15) -> str:
        return self._wait(lambda text: needle in text, f"{needle!r} is not on the screen", seconds)

    def wait_times(self, needle: str, times: int, seconds: float = 15) -> str:
        return self._wait(lambda text: text.count(needle) == times, f"{needle!r} is not there {times} times", seconds)

    def wait_gone(self, needle: str, seconds: float = 15) -> str:
        return self._wait(lambda text: needle not in text, f"{needle!r} is still on the screen", seconds)

    def _wait(self, wanted: Any, problem: str, seconds: float) -> str:
        end = time.monotonic() + seconds
        with self.news:
            while not wanted(text := self.text()):
                left = end - time.monotonic()
                if left <= 0:
                    raise AssertionError(f"{problem}:\n{text}")
                self.news.wait(left)
        return text

    def png(self, path: Path, size: int = 16) -> None:
        """The screen as a picture."""
        plain, bold = (ImageFont.truetype(str(FONTS / f"DejaVuSansMono{kind}.ttf"), size) for kind in ("", "-Bold"))
        wide, high = round(plain.getlength("M")), size + 5

        def rgb(value: int) -> tuple[int, int, int]:
            return (value >> 16) & 255, (value >> 8) & 255, value & 255

        with self.news:
            image = Image.new("RGB", (wide * self.width, high * self.height), rgb(self.default[1]))
            draw = ImageDraw.Draw(image)
            for y, row in enumerate(self.grid):
                for x, (cell, group) in enumerate(row):
                    look = self.groups.get(group, {})
                    front, back = look.get("foreground", self.default[0]), look.get("background", self.default[1])
                    if look.get("reverse"):
                        front, back = back, front
                    if (y, x) == tuple(self.cursor):
                        front, back = back, front
                    if back != self.default[1]:
                        draw.rectangle([x * wide, y * high, (x + 1) * wide - 1, (y + 1) * high - 1], fill=rgb(back))
                    if cell.strip():
                        draw.text(
                            (x * wide, y * high + 1), cell, font=bold if look.get("bold") else plain, fill=rgb(front)
                        )
        image.save(path)


class Nvim:
    def __init__(
        self, binary: str, folder: Path, env: dict[str, str], width: int = 120, height: int = 36, *, plain: bool = False
    ) -> None:
        """`plain`: with the user's own configuration from `env`, and without the plugin put in by hand."""
        self.folder = Path(tempfile.mkdtemp(prefix="nv"))
        path = str(self.folder / "s")
        clean = {name: value for name, value in env.items() if name not in ("NVIM", "VIM", "VIMRUNTIME")}
        clean.setdefault("XDG_CACHE_HOME", str(self.folder / "cache"))
        given = [] if plain else ["--clean", "--cmd", f"set rtp^={PLUGIN}"]
        self.process = subprocess.Popen(
            [binary, "--headless", *given, "--listen", path, "-n"],
            env=clean,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        self._wait_for(path)
        self.api = pynvim.attach("socket", path=path)
        self.screen = Screen(path, width, height)
        self.wait_lua(f"vim.o.columns == {width}")

    def _wait_for(self, path: str) -> None:
        end = time.monotonic() + 15
        while True:
            try:
                with socket.socket(socket.AF_UNIX) as probe:
                    return probe.connect(path)
            except OSError as error:  # not there yet, or there and not yet listened to
                if self.process.poll() is not None or time.monotonic() > end:
                    raise RuntimeError(self.process.stderr.read().decode() if self.process.stderr else "") from error
                time.sleep(0.005)

    def keys(self, keys: str) -> None:
        self.api.input(keys)

    def lua(self, code: str, *args: Any) -> Any:
        return self.api.exec_lua(code, *args)

    def wait_lua(self, expression: str, seconds: float = 15) -> Any:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if value := self.lua(f"return {expression}"):
                return value
            time.sleep(0.02)
        raise AssertionError(f"never true: {expression}\n{self.messages()}\n{self.screen.text()}")

    def messages(self) -> str:
        return self.lua("return vim.api.nvim_exec2('messages', {output = true}).output")

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self.api.command("qa!", async_=True)
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)
