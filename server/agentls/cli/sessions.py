"""`agentls sessions`: what was talked about, in this folder or in all."""

import os
import sys
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from pydantic_core import from_json, to_json

from agentls.app.app import App, open_app
from agentls.cli.ending import Exit, complain
from agentls.cli.logs import start_log
from agentls.cli.progress import working
from agentls.cli.screen import Screen
from agentls.cli.table import rows
from agentls.cli.terminal import Terminal, is_there
from agentls.config.paths import Paths
from agentls.engine.export import Exports, Format, clock, conversation, said
from agentls.schema.session import Session
from agentls.schema.text import one_line

SHOWN_MESSAGES = 20
_TITLE = 60


@asynccontextmanager
async def _opened() -> AsyncGenerator[App]:
    paths = Paths.from_environment(os.environ)
    paths.make()
    async with open_app(paths, os.environ) as app:
        start_log(paths.log, app.secrets)
        yield app


async def list_sessions(directory: Path | None, query: str | None, limit: int, *, archived: bool, as_json: bool) -> int:
    """Those of a folder's project, or all; the newest first. Returns the exit code."""
    async with _opened() as app:
        found, more = _listed(app, directory, query, limit, archived=archived)
        if as_json:
            _print_json([session.members() | _work(app, session.id) for session in found])
            return Exit.DONE
        screen = Screen(sys.stdout)
        for row in rows(_cells(app, session, named=directory is None) for session in found):
            screen.line(row)
        if not found:
            where = (
                "" if directory is None else f" in {directory}; agentls sessions list --all shows those of all folders"
            )
            complain(f"there are no{' archived' if archived else ''} sessions{where}")
        elif more:
            complain(f"these are the newest {limit}; --limit shows more")
    return Exit.DONE


def _listed(
    app: App, directory: Path | None, query: str | None, limit: int, *, archived: bool
) -> tuple[list[Session], bool]:
    found: list[Session] = []
    cursor: str | None = None
    while True:
        page: dict[str, Any] = from_json(
            app.sessions.list_page(
                directory=directory, query=query, archived=archived, cursor=cursor, limit=limit - len(found)
            ).json
        )
        found += [Session.model_validate(one) for one in page["sessions"]]
        cursor = page.get("nextCursor")
        if cursor is None or len(found) >= limit:
            return found, cursor is not None


def _cells(app: App, session: Session, *, named: bool) -> tuple[str, ...]:
    title = one_line(session.title)
    title = title if len(title) <= _TITLE else f"{title[: _TITLE - 1]}…"
    folder = (session.directory,) if named else ()
    return (session.id, clock(session.time.updated), title, *folder, _state(app, session.id))


def _state(app: App, session_id: str) -> str:
    owner = app.stores.owners.foreign(session_id)
    if owner is not None:
        return f"process {owner.pid} works on it"
    status = app.sessions.get(session_id).json
    return "waits for your answer" if from_json(status)["status"]["type"] == "waiting" else ""


def _work(app: App, session_id: str) -> dict[str, Any]:
    owner = app.stores.owners.foreign(session_id)
    return {} if owner is None else {"owner": {"pid": owner.pid}}


async def show(session_id: str, last: int) -> int:
    """What it is, and the end of what was said."""
    async with _opened() as app:
        session = _session(app, session_id)
        page = from_json(app.sessions.messages(session_id, limit=last).json)
        screen = Screen(sys.stdout)
        screen.write(f"{one_line(session.title)}\n", "bold")
        for name, value in _facts(app, session):
            screen.write(f"{name:<9}", "dim")
            screen.write(f"{value}\n")
        screen.gap()
        if "nextCursor" in page:
            screen.line(f"… earlier messages: agentls sessions export {session_id}", "dim")
            screen.gap()
        screen.write(conversation(said(page["messages"])))
    return Exit.DONE


def _facts(app: App, session: Session) -> list[tuple[str, str]]:
    usage = session.usage
    used = f"{usage.tokens.total:,} tokens" + (f", ${usage.cost:.4f}" if usage.cost else "")
    facts = [
        ("id", session.id),
        ("folder", session.directory),
        ("agent", f"{session.agent}, mode {session.mode}"),
        ("model", str(session.model) if session.model else "the default"),
        ("times", f"{clock(session.time.created)}, used last {clock(session.time.updated)}"),
        ("used", used),
    ]
    state = _state(app, session.id)
    return [*facts, ("state", state)] if state else facts


def _session(app: App, session_id: str) -> Session:
    """Raises `AgentError` `session_not_found`."""
    return Session.model_validate(from_json(app.sessions.get(session_id).json)["session"])


async def export(session_id: str, form: Format, output: Path | None) -> int:
    """To stdout, or to a file, which is then whole or not there."""
    async with _opened() as app:
        with working("Reading the session"):
            text = await Exports(app.sessions).text(session_id, form)
        if output is None:
            Screen(sys.stdout).write(text)
            return Exit.DONE
        part = output.with_name(f".{output.name}.{os.getpid()}")
        try:
            part.write_text(text, encoding="utf-8")
            part.replace(output)
        finally:
            part.unlink(missing_ok=True)
        complain(f"written to {output}")
    return Exit.DONE


async def delete(session_ids: Sequence[str], *, sure: bool) -> int:
    """Nothing is deleted unless all are there and nobody works on any."""
    async with _opened() as app:
        sessions = [_session(app, session_id) for session_id in dict.fromkeys(session_ids)]
        for session in sessions:
            app.stores.owners.require_free(session.id)
        if not sure and not await _agreed(sessions):
            complain("nothing was deleted")
            return Exit.REJECTED
        with working("Deleting") as step:
            for number, session in enumerate(sessions, 1):
                step(f"Deleting {number} of {len(sessions)}: {one_line(session.title)}")
                await app.sessions.delete(session.id)
        complain(
            f"deleted {len(sessions)} session{'s' if len(sessions) != 1 else ''}; the project's files are as they were"
        )
    return Exit.DONE


async def _agreed(sessions: Sequence[Session]) -> bool:
    if not is_there():
        complain("nobody can be asked here, so say --yes to delete")
        return False
    terminal = Terminal(Screen(sys.stderr))
    for session in sessions:
        terminal.screen.line(f"  {session.id}  {clock(session.time.updated)}  {one_line(session.title)}")
    what = "this session" if len(sessions) == 1 else f"these {len(sessions)} sessions"
    return await terminal.yes(f"Delete {what} for good?")


def _print_json(value: object) -> None:
    sys.stdout.buffer.write(to_json(value, indent=2) + b"\n")
