"""What is typed after a slash."""

from collections.abc import Awaitable, Callable

from agentls.cli.chat.connection import Members
from agentls.cli.chat.room import Room
from agentls.cli.screen import Screen
from agentls.cli.table import rows

HELP = (
    ("/new", "begin a new session with the next prompt"),
    ("/sessions [NUMBER]", "list the sessions of this folder, or go on with one"),
    ("/model [NAME]", "list the models, or choose one"),
    ("/mode [MODE]", "ask, acceptEdits (edits are not asked for) or auto (only what is outside is)"),
    ("/abort", "stop the turn, as Ctrl-C does"),
    ("/continue", "go on where the last turn stopped"),
    ("/quit", "leave, as Ctrl-D does; the session stays"),
)
KEYS = (
    "Enter sends; while a turn runs that steers it. Alt-Enter, Ctrl-J or a backslash before Enter begin another line.",
    "Ctrl-C stops the turn, twice it leaves. ↑ brings back what was sent. A space before a slash sends it as it is.",
)
_MODES = ("ask", "acceptEdits", "auto")
_LISTED = 20


class Slash:
    def __init__(self, room: Room, screen: Screen) -> None:
        self._room = room
        self._screen = screen
        self._listed: list[str] = []
        self._commands: dict[str, Callable[[str], Awaitable[None]]] = {
            "/new": self._new,
            "/sessions": self._sessions,
            "/model": self._model,
            "/mode": self._mode,
            "/abort": self._abort,
            "/continue": self._continue,
            "/help": self._help,
        }

    async def run(self, typed: str) -> bool:
        """Whether there is such a command. Raises `RefusedError`."""
        name, _, rest = typed.partition(" ")
        command = self._commands.get(name)
        if command is not None:
            await command(rest.strip())
        return command is not None

    async def _help(self, _: str) -> None:
        for row in rows(HELP):
            self._screen.line(f"  {row}")
        for row in KEYS:
            self._screen.line(f"  {row}", "dim")

    async def _new(self, _: str) -> None:
        if not self._held():
            self._room.leave()
            self._screen.line("The next prompt begins a new session.", "dim")

    async def _sessions(self, which: str) -> None:
        if not which:
            await self._list_sessions()
            return
        if self._held():
            return
        number = int(which) if which.isdecimal() else 0
        session_id = self._listed[number - 1] if 0 < number <= len(self._listed) else which
        owner = await self._room.enter(session_id)
        if owner is not None:
            self._screen.line(f"✗ Process {owner} works on that session: end it there first.", "red")

    async def _list_sessions(self) -> None:
        params: Members = {"directory": self._room.directory, "limit": _LISTED}
        sessions = (await self._room.server.request("session/list", params))["sessions"]
        self._listed = [session["id"] for session in sessions]
        here = self._room.copy.id if self._room.copy is not None else ""
        table = [
            (f"{'*' if session['id'] == here else ' '} {number}", session["title"], session["id"])
            for number, session in enumerate(sessions, 1)
        ]
        for row in rows(table):
            self._screen.line(row)
        self._screen.line("/sessions NUMBER goes on with one." if sessions else "There are none yet.", "dim")

    async def _model(self, which: str) -> None:
        if which:
            provider, _, model = which.partition("/")
            if not model:
                self._screen.line("✗ A model is named PROVIDER/MODEL; /model lists them.", "red")
                return
            await self._room.change(model={"providerId": provider, "modelId": model})
            self._screen.line(f"From the next prompt on, {which} answers.", "dim")
            return
        params: Members = {"directory": self._room.directory}
        models = (await self._room.server.request("model/list", params))["models"]
        for row in rows(
            ("*" if one.get("default") else " ", f"{one['providerId']}/{one['modelId']}", one["name"]) for one in models
        ):
            self._screen.line(row)
        self._screen.line("* is the default; /model PROVIDER/MODEL chooses.", "dim")

    async def _mode(self, which: str) -> None:
        if which not in _MODES:
            said = (
                self._room.copy.session["mode"] if self._room.copy is not None else self._room.wishes.get("mode", "ask")
            )
            self._screen.line(f"The mode is {said}; there are {', '.join(_MODES)}.", "red" if which else "dim")
            return
        await self._room.change(mode=which)
        self._screen.line(f"The mode is {which}.", "dim")

    async def _abort(self, _: str) -> None:
        self._room.abort()

    async def _continue(self, _: str) -> None:
        await self._room.resume()

    def _held(self) -> bool:
        if self._room.busy:
            self._screen.line("✗ A turn runs here: /abort it first, or wait for its end.", "red")
        return self._room.busy
