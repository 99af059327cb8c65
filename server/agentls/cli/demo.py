"""`agentls demo`: the main job on a sample project, with the built-in model, in folders that are thrown away."""

import os
import sys
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path

from anyio import to_thread

from agentls.app.app import App, open_app
from agentls.cli.asking import show_deed
from agentls.cli.ending import Exit, complain
from agentls.cli.inprocess import InProcess, asked_of, is_open
from agentls.cli.sample import Sample
from agentls.cli.screen import Screen
from agentls.cli.terminal import Terminal, is_there
from agentls.cli.turn import Feed, Stop, run_turn, stopping_on_signals
from agentls.cli.view import View
from agentls.config.paths import Paths
from agentls.engine.prompt import PromptRequest
from agentls.model.providers import DEMO
from agentls.schema.event import Changed, Event
from agentls.schema.input import TextInput
from agentls.schema.permission import Permission

JOB = "The test of this project fails. Find out why, repair it, and run the test."


async def demo(folder: Path | None) -> int:
    """Returns the exit code: 0 if the job was done."""
    async with stopping_on_signals() as stop:
        with tempfile.TemporaryDirectory(prefix="agentls-demo-") as work:
            where = Path(work).resolve() / "sample" if folder is None else folder.resolve()
            sample = await to_thread.run_sync(Sample.made_in, where)
            async with open_app(_paths(Path(work)), _environment()) as app:
                return await _Demo(app, stop, sample, kept=folder is not None).run()
    complain("aborted")
    return stop.code


class _Demo:
    def __init__(self, app: App, stop: Stop, sample: Sample, *, kept: bool) -> None:
        self._app = app
        self._stop = stop
        self._sample = sample
        self._kept = kept
        self._screen = Screen(sys.stdout)
        self._terminal = Terminal(self._screen) if is_there() and self._screen.styled else None

    async def run(self) -> int:
        await self._introduce()
        directory = str(self._sample.folder)
        self._app.connect(can_ask=True, trusted=False, folders=(self._sample.folder,))
        feed = Feed(self._app.bus)
        session = self._app.sessions.create(directory=self._sample.folder, title="Demo", model=DEMO)
        request = PromptRequest(session_id=session.id, parts=(TextInput(text=JOB),), model=DEMO)
        view = View(self._screen, directory)
        await run_turn(self._app, feed, self._stop, request, view.show, self._asker(directory))
        if self._stop.number is not None:
            complain("aborted")
            return self._stop.code
        return await self._conclude()

    async def _introduce(self) -> None:
        screen = self._screen
        screen.title("agentls demo")
        life = "It stays there." if self._kept else "It is removed at the end."
        screen.line(f"A sample project is in {self._sample.folder}. {life}")
        screen.line("The model is a built-in stand-in: no key, no network. All else is the real thing.")
        if self._terminal is None:
            screen.line("There is no terminal to ask you at, so the demo says yes to its own questions.")
        screen.gap()
        screen.write("    calc.py       ", "dim")
        screen.write("def add(a, b): return a - b\n")
        screen.write("    test_calc.py  ", "dim")
        screen.write(f"{await to_thread.run_sync(self._sample.test)}\n", "red")
        screen.title("You prompt")
        screen.line(JOB)
        screen.title("The agent works")

    def _asker(self, directory: str) -> Callable[[Event], Awaitable[None]]:
        if self._terminal is not None:
            return InProcess(self._app, self._terminal, directory).ask

        async def agree(event: Event) -> None:
            if not (isinstance(event, Changed) and event.method == "permission/asked" and is_open(self._app, event)):
                return
            asked = Permission.model_validate_json(asked_of(event))
            show_deed(self._screen, asked, directory)
            self._screen.line("  Allow it? yes (answered by the demo itself)")
            self._app.permissions.reply(asked.permission_id, "once")

        return agree

    async def _conclude(self) -> int:
        screen, sample = self._screen, self._sample
        said, diff = await to_thread.run_sync(sample.test), sample.diff()
        passes = said.endswith("passed")
        screen.title("What became of it")
        if diff:
            screen.patch(diff)
        else:
            screen.line("    calc.py is as it was: you did not allow the change.")
        screen.gap()
        screen.write("    test_calc.py  ", "dim")
        screen.write(f"{said}\n", "green" if passes else "red")
        screen.title("What to try next")
        if self._kept:
            screen.line(f"    cd {sample.folder} && git diff", "cyan")
        else:
            screen.line("    agentls demo my-sample     keeps the sample, in my-sample", "cyan")
        screen.line("    agentls prompt “…”         the same on a folder of yours", "cyan")
        screen.line("    agentls --help             all commands; your editor starts plain `agentls`", "cyan")
        return Exit.DONE if passes else Exit.REJECTED


def _paths(work: Path) -> Paths:
    """All that would be stored is, but here."""
    return Paths(
        home=Path.home(),
        config_home=work / "config",
        config=work / "config" / "agentls",
        data=work / "data",
        cache=work / "cache",
        state=work / "state",
    )


def _environment() -> dict[str, str]:
    """Without what could bring settings or keys of the user's into it."""
    return {name: os.environ[name] for name in ("HOME", "PATH", "LANG", "TMPDIR") if name in os.environ}
