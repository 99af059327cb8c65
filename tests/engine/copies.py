"""A copy of the parts, as a client keeps it."""

import json
from typing import Any

from agentls.schema.event import Changed, Delta, Event, Scope
from engine.builders import World


class Client:
    """A copy of the parts by the rules of the wire: a delta whose `base` is mine is appended, one not newer is dropped;
    whole parts replace.
    """

    def __init__(self) -> None:
        self.parts: dict[str, dict[str, Any]] = {}
        self.gaps = 0

    def take(self, event: Event) -> None:
        match event:
            case Changed(kind="part", method="part/updated"):
                part = json.loads(b"{" + event.params + b"}")["part"]
                self.parts[part["id"]] = part
            case Changed(kind="part", method="part/removed"):
                del self.parts[event.id]
            case Delta():
                self.delta(event)
            case _:
                pass

    def delta(self, event: Delta) -> None:
        part = self.parts[event.part_id]
        if event.rev <= part["rev"]:
            return
        if event.base != part["rev"]:
            self.gaps += 1
            return
        holder = part if event.field == "text" else part["state"]
        holder[event.field] = holder.get(event.field, "") + event.text
        part["rev"] = event.rev


def replayed(events: list[Event]) -> Client:
    client = Client()
    for event in events:
        client.take(event)
    return client


def answer(world: World, scope: Scope) -> Any:
    return world.assistant(scope, world.user(scope))


def row_of(world: World, part_id: str) -> tuple[dict[str, Any], int]:
    wire, seq = world.database.all("SELECT wire, seq FROM parts WHERE id = ?", (part_id,))[0]
    return json.loads(str(wire)), int(seq or 0)
