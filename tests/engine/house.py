"""A whole engine on real files and a real database, with a scripted model in place of a provider."""

import json
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio

from agentls.app.app import App, open_app
from agentls.config.paths import Paths
from agentls.engine.accepted import Accepted
from agentls.engine.history import History
from agentls.engine.prompt import PromptRequest
from agentls.model.client import ModelClient, ModelRequest
from agentls.model.scripted import ScriptedModel
from agentls.schema.event import Changed, Delta, Event, StatusChanged
from agentls.schema.input import TextInput

SETTINGS = {
    "model": "script/one",
    "provider": {
        "script": {
            "api": "chat",
            "options": {"baseURL": "http://127.0.0.1:9/v1", "apiKey": "x"},
            "models": {"one": {"limit": {"context": 100_000, "output": 4_000}}},
        }
    },
}


class Watched:
    """The scripted model, with a check at each request: what is sent is what a fresh conversion would give."""

    def __init__(self, model: ModelClient, app: Callable[[], App]) -> None:
        self._model = model
        self._app = app

    def stream(self, request: ModelRequest) -> Any:
        app = self._app()
        for active in app.runner.all():
            history = History(app.stores.messages, active.run.scope.session_id)
            history.refresh()
            if not history.entries or history.entries[-1].message.role != "assistant":
                continue
            history.entries.pop()  # the message of this very step
            traits = app.models.of(active.run.scope.directory).model(request.model).traits
            fresh = history.elements(request.model, traits)
            if list(request.messages[1 : len(fresh) + 1]) == fresh:
                return self._model.stream(request)
        raise AssertionError("no session's fresh history equals what is sent")

    async def aclose(self) -> None:
        await self._model.aclose()


@dataclass
class House:
    app: App
    model: ScriptedModel
    directory: Path
    events: list[Event] = field(default_factory=list)
    _news: anyio.Event = field(default_factory=anyio.Event)

    def hear(self, event: Event) -> None:
        self.events.append(event)
        self._news.set()
        self._news = anyio.Event()

    def session(self, **options: Any) -> str:
        return self.app.sessions.create(directory=self.directory, **options).id

    def prompt(self, session_id: str, text: str, **options: Any) -> Accepted:
        return self.app.turns.prompt(PromptRequest(session_id=session_id, parts=(TextInput(text=text),), **options))

    async def until(self, wanted: Callable[[Event], bool], *, since: int = 0) -> Event:
        """The first event from the number `since` on that fits; it fails after ten seconds."""
        with anyio.fail_after(10):
            at = since
            while True:
                while at < len(self.events):
                    if wanted(self.events[at]):
                        return self.events[at]
                    at += 1
                await self._news.wait()

    async def asked(self, *, since: int = 0, method: str = "permission/asked") -> dict[str, Any]:
        return params(await self.until(lambda event: is_method(event, method), since=since))

    def kinds(self) -> list[str]:
        """The events in short: methods of changes, with the type of a part; deltas of one part and field once."""
        found: list[str] = []
        for event in self.events:
            name = _kind(event)
            if not (name.startswith("delta") and found and found[-1] == name):
                found.append(name)
        return found

    def messages(self, session_id: str) -> list[dict[str, Any]]:
        return json.loads(self.app.sessions.messages(session_id).json)["messages"]

    def parts(self, session_id: str, kind: str) -> list[dict[str, Any]]:
        return [part for entry in self.messages(session_id) for part in entry["parts"] if part["type"] == kind]

    def status(self, session_id: str) -> str:
        return json.loads(self.app.sessions.get(session_id).json)["status"]["type"]


@asynccontextmanager
async def house(
    folder: Path, model: ScriptedModel | ModelClient, *, can_ask: bool = True, making: Callable[[], object] = bool
) -> AsyncGenerator[House]:
    """Opening it twice on the same folder is a restart. `making` runs in the thread that makes the model's client."""
    project = folder / "project"
    project.mkdir(exist_ok=True)
    env = {"HOME": str(folder / "home"), "PATH": "/usr/local/bin:/usr/bin:/bin"}
    paths = Paths.from_environment(env)
    paths.make()
    paths.config.mkdir(parents=True, exist_ok=True)
    (paths.config / "agentls.json").write_text(json.dumps(SETTINGS))
    holder: list[App] = []
    client = Watched(model, lambda: holder[0])

    def make(_: object) -> Watched:
        making()
        return client

    async with open_app(paths, env, make) as app:
        holder.append(app)
        app.connect(can_ask=can_ask, trusted=True, folders=(project,))
        it = House(app, model, project)
        app.bus.subscribe(it.hear)
        yield it


def is_method(event: Event, method: str) -> bool:
    return isinstance(event, Changed) and event.method == method


def params(event: Event) -> dict[str, Any]:
    assert isinstance(event, Changed)
    return json.loads(b"{" + event.params + b"}")


def _kind(event: Event) -> str:
    match event:
        case Changed(method="part/updated"):
            part = params(event)["part"]
            state = part.get("state", {}).get("status")
            return f"part/updated {part['type']}" + (f" {state}" if state else "")
        case Changed():
            return event.method
        case Delta():
            return f"delta {event.field}"
        case StatusChanged():
            return f"status {event.status.type}"
        case _:
            return type(event).__name__
