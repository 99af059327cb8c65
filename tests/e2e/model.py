"""The scripted model of a test: one server over real HTTP, a script at a time, or one for each conversation."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from fakes.openai_server import OpenAIServer, serve
from fakes.replies import Answer, C, Event, Gate, Reply, Request, Status, answer, call, data, text

__all__ = ["Answer", "C", "Gate", "Script", "Status", "calls", "data", "says", "scripted"]

ENDED = Status(400, {"error": {"message": "the script of the test has ended"}})


def says(words: str, deltas: int = 1, *, gate: str | None = None, before: str | None = None) -> Answer:
    """A text; `before` is a gate in front of its first piece, `gate` one behind it."""
    first, *rest = text(words, deltas)
    events: list[Event] = [*([Gate(before)] if before else []), first, *([Gate(gate)] if gate else []), *rest]
    return answer(events)


def calls(*made: tuple[str, dict[str, Any]], words: str = "", gate: str | None = None, ids: str = "call") -> Answer:
    """Tool calls in one answer, with words before them."""
    events: list[Event] = [*text(words, 2)] if words else []
    for index, (name, arguments) in enumerate(made):
        events += call(name, arguments, call_id=f"{ids}_{index}", index=index)
    return answer(events, [Gate(gate)] if gate else [], finish="tool_calls")


class Script:
    """What the model says next. `of` holds scripts for conversations, by a mark in the user's words."""

    def __init__(self) -> None:
        self._rest: list[Reply] = []
        self._of: dict[str, list[Reply]] = {}
        self.server: OpenAIServer | None = None
        self.on_request: Callable[[Request], None] | None = None

    def __call__(self, request: Request) -> Reply:
        asked = "".join(str(message["content"]) for message in request.json["messages"] if message["role"] == "user")
        marks = [mark for mark in self._of if mark in asked]
        rest = self._of[max(marks, key=asked.rfind)] if marks else self._rest
        return rest.pop(0) if rest else ENDED

    def plays(self, *replies: Reply, mark: str | None = None) -> None:
        """From here on: these; what was left of an earlier script goes. With `mark`, beside the others."""
        if mark is not None:
            self._of[mark] = list(replies)
            return
        self._rest = list(replies)
        self._of.clear()
        self.fake.requests.clear()
        self.fake._gates.clear()

    def also(self, *replies: Reply) -> None:
        """After what is left of the script."""
        self._rest.extend(replies)

    def open(self, gate: str) -> None:
        self.fake.open(gate)

    @property
    def fake(self) -> OpenAIServer:
        assert self.server
        return self.server

    @property
    def url(self) -> str:
        return self.fake.url

    @property
    def requests(self) -> list[dict[str, Any]]:
        return [request.json for request in self.fake.requests]

    @property
    def left(self) -> int:
        return len(self._rest)


@asynccontextmanager
async def scripted() -> AsyncIterator[Script]:
    """Strict: a request is refused unless every call has its result."""
    script = Script()
    async with serve(script, strict=True) as server:
        script.server = server
        yield script
