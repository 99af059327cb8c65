"""Tool calls that want something, as the tests of the broker make them."""

from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Any

from pydantic_core import from_json

from agentls.errors import ToolError
from agentls.permission.broker import RejectedError
from agentls.permission.ledger import Asker
from agentls.schema.event import Scope
from agentls.schema.permission import Ask
from engine.builders import World, at_work

HASHES: dict[str, str | None] = {"/project/a": "hash"}


def ask(pattern: str = "git push", always: tuple[str, ...] = ("git push *",), **more: Any) -> Ask:
    return Ask(**{"permission": "mcp_git", "patterns": (pattern,), "always": always, "title": pattern, **more})


@dataclass
class Call:
    """A tool call that wants something, and how it ended."""

    world: World
    asker: Asker
    ask: Ask
    waits: list[bool] = field(default_factory=list)
    result: Any = None
    error: Exception | None = None
    done: bool = False

    async def run(self) -> None:
        try:
            self.result = await self.world.broker.authorize(self.asker, self.ask, dict(HASHES), self.waits.append)
        except (ToolError, RejectedError) as error:
            self.error = error
        self.done = True

    @property
    def id(self) -> str:
        return self.world.stores.questions.of_part(self.asker.part_id)[-1].id

    @property
    def row(self) -> Any:
        return self.world.stores.questions.get(self.id)

    @property
    def resolution(self) -> Any:
        return from_json(self.row.resolution) if self.row.resolution else None


def waiting(*ones: Call) -> AbstractAsyncContextManager[None]:
    return at_work(*(one.run for one in ones))


def call(world: World, scope: Scope, deed: Ask | None = None, part_id: str = "") -> Call:
    return Call(world, world.asker(scope, part_id), deed or ask())
