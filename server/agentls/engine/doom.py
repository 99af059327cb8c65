"""Recognises a model that goes in circles: the same calls with the same results."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from agentls.engine.history import Entry
from agentls.schema.part import Completed, Failed, ToolPart

ROUNDS = 3
LONGEST_CYCLE = 4


@dataclass(frozen=True, slots=True)
class Deed:
    """A call and what came of it. `input` is JSON with sorted keys: their order makes no other call."""

    tool: str
    input: str
    result: str | None

    def same_call(self, other: "Deed") -> bool:
        return self.tool == other.tool and self.input == other.input


def deeds(history: Sequence[Entry], limit: int = ROUNDS * LONGEST_CYCLE) -> list[Deed]:
    """The newest finished calls, the oldest first, across steps. Looks at the newest messages only."""
    found: list[Deed] = []
    for entry in reversed(history[-2 * limit :]):
        found += [
            deed(part)
            for part in reversed(entry.parts)
            if isinstance(part, ToolPart) and isinstance(part.state, Completed | Failed)
        ]
        if len(found) >= limit:
            break
    return found[:limit][::-1]


def deed(part: ToolPart) -> Deed:
    match part.state:
        case Completed() as state:
            result = state.output
        case Failed() as state:
            result = state.error
        case _:
            result = None
    return Deed(part.tool, json.dumps(part.state.input, sort_keys=True), result)


def in_circles(before: Sequence[Deed], call: Deed) -> bool:
    """Whether `call` begins what was done twice before with equal results, alone or as a cycle of two to four.

    A single call counts at its third time, a cycle when its third round begins to close.
    """
    return any(_repeats(before, call, length) for length in range(1, LONGEST_CYCLE + 1))


def _repeats(before: Sequence[Deed], call: Deed, length: int) -> bool:
    # A cycle of one asks before its third call; a longer one when two whole rounds are done and the third begins.
    window = before[-2 * length :]
    if len(window) < 2 * length:
        return False
    first, second = window[:length], window[length:]
    return list(first) == list(second) and call.same_call(first[0])
