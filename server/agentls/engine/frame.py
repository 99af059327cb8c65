"""The fixed head of every request of a session: system text and tool list.

Both stay as they are from step to step, so that a provider's prefix cache holds. They are built anew only after a
switch of agent or model, or when a turn starts with another set of tools.
"""

import platform
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from pydantic_core import from_json, to_json

from agentls.config.agents import Agent
from agentls.config.prompts import prompt
from agentls.schema.model import ModelRef
from agentls.storage.sessions import SessionStore


@dataclass(frozen=True, slots=True)
class Frame:
    """`tools` is the JSON of the whole array, empty where none is offered; `date` the day told last."""

    system: str
    tools: str
    agent: str
    model: str
    date: str


@dataclass(frozen=True, slots=True)
class Place:
    """Where a session works. `instructions` are texts of instruction files, each with its path."""

    directory: Path
    root: Path
    is_git: bool
    instructions: Sequence[tuple[str, str]]


class Frames:
    def __init__(self, sessions: SessionStore, place: Callable[[Path], Awaitable[Place]]) -> None:
        self._sessions = sessions
        self._place = place

    def stored(self, session_id: str) -> Frame | None:
        text = self._sessions.frame(session_id)
        return Frame(**from_json(text)) if text is not None else None

    async def current(
        self, session_id: str, directory: Path, agent: Agent, model: ModelRef, tools: str | None
    ) -> Frame:
        """The session's frame for this step. `tools`: the list as it would be built now, at the start of a turn."""
        stored = self.stored(session_id)
        same = stored is not None and (stored.agent, stored.model) == (agent.name, str(model))
        if stored is not None and same and tools in (None, stored.tools):
            return stored
        frame = Frame(await self._system(directory, agent, model), tools or "", agent.name, str(model), today())
        self._sessions.save_frame(session_id, to_json(frame).decode())
        return frame

    def notes(self, session_id: str) -> list[str]:
        """What the next message tells, once: the day, as the system text keeps the one on which it was written."""
        stored, date = self.stored(session_id), today()
        if stored is None or stored.date == date:
            return []
        self._sessions.save_frame(session_id, to_json(replace(stored, date=date)).decode())
        return [prompt("input/new-date", date=date)]

    async def _system(self, directory: Path, agent: Agent, model: ModelRef) -> str:
        place = await self._place(directory)
        environment = prompt(
            "system",
            model=model,
            cwd=place.directory,
            root=place.root,
            git="yes" if place.is_git else "no",
            platform=f"{platform.system()} {platform.machine()}",
            date=today(),
        )
        texts = [agent.prompt or prompt("agents/build"), environment]
        texts += [prompt("instructions", path=path, text=text) for path, text in place.instructions]
        return "\n\n".join(texts)


def today() -> str:
    return datetime.now().astimezone().date().isoformat()
