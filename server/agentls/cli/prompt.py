"""`agentls prompt`: one turn in the terminal."""

import os
import sys
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic_core import from_json

from agentls.app.app import App, open_app
from agentls.cli import jsonlines
from agentls.cli.asking import ask_for_trust
from agentls.cli.ending import Exit, complain
from agentls.cli.inprocess import InProcess
from agentls.cli.logs import start_log
from agentls.cli.screen import Screen
from agentls.cli.terminal import Terminal, is_there
from agentls.cli.turn import Feed, Stop, run_turn, stopping_on_signals
from agentls.cli.view import STOPPED, View, left_undone
from agentls.config.paths import Paths
from agentls.config.settings import model_ref
from agentls.engine.prompt import PromptRequest
from agentls.engine.runner import Outcome
from agentls.model.providers import DEMO
from agentls.schema.event import Event
from agentls.schema.input import TextInput
from agentls.schema.model import ModelRef
from agentls.schema.session import Mode, StopReason

_EXITS: dict[StopReason, Exit] = {
    "done": Exit.DONE,
    "error": Exit.ERROR,
    "rejected": Exit.REJECTED,
    "length": Exit.CUT,
    "max_steps": Exit.CUT,
    "content_filter": Exit.FILTERED,
    "cancelled": Exit.ABORTED,
}
WITHHELD = "does not hold until the folder is trusted"


@dataclass(frozen=True, slots=True)
class PromptOptions:
    text: str
    directory: Path | None = None
    agent: str | None = None
    model: ModelRef | None = None
    mode: Mode | None = None
    session: str | None = None
    json: bool = False
    trust: bool = False


def options(text: str, given: Mapping[str, Any]) -> PromptOptions:
    """As the command line gives them."""
    return PromptOptions(
        text=text,
        directory=given["directory"],
        agent=given["agent"],
        model=model_ref(given["model"]),
        mode=given["mode"],
        session=given["session"],
        json=given["as_json"],
        trust=given["trust"],
    )


async def prompt(options: PromptOptions) -> int:
    """Returns the exit code."""
    paths = Paths.from_environment(os.environ)
    paths.make()
    async with stopping_on_signals() as stop, open_app(paths, os.environ) as app:
        start_log(paths.log, app.secrets)
        return await _Prompting(app, stop, options).run()
    complain("aborted")
    return stop.code


class _Prompting:
    def __init__(self, app: App, stop: Stop, options: PromptOptions) -> None:
        self._app = app
        self._stop = stop
        self._options = options
        self._screen = Screen(sys.stdout)
        talks = self._screen if self._screen.styled and not options.json else Screen(sys.stderr)
        self._terminal = Terminal(talks) if is_there() else None
        self._unanswered = 0

    async def run(self) -> int:
        feed = Feed(self._app.bus)
        options = self._options
        directory = self._directory()
        await self._trust(directory)
        session_id = self._session(directory)
        request = PromptRequest(
            session_id=session_id, parts=(TextInput(text=options.text),), agent=options.agent, model=options.model
        )
        await self._app.ready_for(session_id)
        self._say_if_demo(directory)
        show, ask = self._shower(directory), self._asker(directory)
        outcome = await run_turn(self._app, feed, self._stop, request, show, ask)
        return self._ended(session_id, outcome)

    def _directory(self) -> str:
        if self._options.session is None:
            return str((self._options.directory or Path.cwd()).resolve())
        found: dict[str, Any] = from_json(self._app.sessions.get(self._options.session).json)
        return str(found["session"]["directory"])

    async def _trust(self, directory: str) -> None:
        """What the folder's own settings may do is for the person to say."""
        app, folder = self._app, Path(directory)
        app.connect(
            can_ask=self._terminal is not None, trusted=True if self._options.trust else None, folders=(folder,)
        )
        loaded = app.configuration.loaded(directory)
        if loaded.withheld and self._terminal is not None:
            changed = loaded.trust == "changed"
            if await ask_for_trust(loaded.withheld, self._terminal, changed=changed):
                await app.trust(folder, trusted=True)
                loaded = app.configuration.loaded(directory)
        if loaded.withheld:
            held = ", ".join(loaded.withheld)
            complain(f"the folder is not trusted, so these of its settings do not hold: {held} (--trust lets them)")
        for problem in app.status.problems():
            if problem.severity != "info" and not (loaded.withheld and problem.message.startswith(WITHHELD)):
                complain(str(problem))

    def _session(self, directory: str) -> str:
        options = self._options
        if options.session is not None:
            if options.mode is not None:
                self._app.sessions.update(options.session, mode=options.mode)
            return options.session
        return self._app.sessions.create(directory=Path(directory), agent=options.agent, mode=options.mode).id

    def _say_if_demo(self, directory: str) -> None:
        if self._options.model is None and self._app.models.default_now(directory) == DEMO:
            complain(
                "no model is set up, so the built-in demo model answers. Set a key such as OPENAI_API_KEY, start a "
                "local server such as Ollama, or name a provider in ~/.config/agentls/agentls.json."
            )

    def _shower(self, directory: str) -> Callable[[Event], None]:
        show = jsonlines.show if self._options.json else View(self._screen, directory).show

        def shower(event: Event) -> None:
            show(event)
            undone = left_undone(event, directory)
            if undone is not None:
                self._unanswered += 1
                complain(f"nobody could answer, so this was not done: {undone}")

        return shower

    def _asker(self, directory: str) -> Callable[[Event], Awaitable[None]]:
        return _nobody if self._terminal is None else InProcess(self._app, self._terminal, directory).ask

    def _ended(self, session_id: str, outcome: Outcome) -> int:
        if not self._options.json:
            self._screen.end_line()
        error = outcome.error
        if outcome.stop_reason == "error":
            complain(str(error.data.get("message") or error.name) if error else "the turn failed")
        elif outcome.stop_reason in STOPPED:
            complain(STOPPED[outcome.stop_reason])
        if self._screen.styled and not self._options.json:
            self._screen.line(_footer(session_id, outcome), "dim")
        if self._stop.number is not None and outcome.stop_reason == "cancelled":
            return self._stop.code
        if outcome.stop_reason == "done" and self._unanswered:
            return Exit.REJECTED
        return _EXITS[outcome.stop_reason]


async def _nobody(_: Event) -> None:
    """The engine rejects by itself where nobody can be asked."""


def _footer(session_id: str, outcome: Outcome) -> str:
    usage = outcome.usage
    cost = f" · ${usage.cost:.4f}" if usage.cost else ""
    return f"{usage.tokens.total:,} tokens{cost} · go on with: agentls prompt --session {session_id} “…”"
