"""A turn as a person reads it: the text as it streams, a line for each tool call."""

import os

from pydantic_core import from_json

from agentls.cli.ending import complain
from agentls.cli.screen import Screen
from agentls.schema.base import now
from agentls.schema.event import Changed, Delta, Event, Noticed, StatusChanged
from agentls.schema.part import PART, Completed, Failed, Part, ReasoningPart, TextPart, ToolPart
from agentls.schema.session import RetryStatus, StopReason

NOBODY = "nobody could answer the question"
STOPPED: dict[StopReason, str] = {
    "rejected": "stopped, as you said no",
    "length": "stopped: the answer reached the model's limit of length",
    "max_steps": "stopped: the turn reached the agent's limit of steps",
    "content_filter": "stopped: the provider's content filter held the answer back",
    "cancelled": "aborted",
}
_MOST_OUTPUT_LINES = 8
_SAYS_NOTHING = frozenset({"Exit code: 0", "(no output)"})


class View:
    def __init__(self, screen: Screen, directory: str) -> None:
        self._screen = screen
        self._directory = directory
        self._kinds: dict[str, str] = {}
        self._shown = ""

    def show(self, event: Event) -> None:
        match event:
            case Delta(field="text"):
                self.text(event.part_id, event.text)
            case Changed(method="part/updated"):
                self.part(PART.validate_python(from_json(b"{%b}" % event.params)["part"]))
            case StatusChanged(status=RetryStatus() as status):
                complain(waits(status))
            case Noticed():
                complain(" ".join(filter(None, (event.title, event.description))))
            case _:
                pass

    def text(self, part_id: str, text: str) -> None:
        """What was appended to a part that `part` was told of."""
        kind = self._kinds.get(part_id)
        if kind is None or (kind == "reasoning" and not self._screen.styled):
            return
        if self._shown != part_id:
            text = text.lstrip("\n")
            if not text:
                return
            self._screen.gap()
            self._shown = part_id
        self._screen.flow(text, "dim italic" if kind == "reasoning" else "")

    def part(self, part: Part) -> None:
        """It is new, or changed: the text of one comes by `text`, a tool's call is shown once it has ended."""
        match part:
            case TextPart() | ReasoningPart():
                self._kinds[part.id] = part.type
            case ToolPart(state=Completed() | Failed() as state):
                self._tool(part, state)
            case _:
                pass

    def _tool(self, part: ToolPart, state: Completed | Failed) -> None:
        match state:
            case Completed():
                code = state.metadata.get("exitCode")
                ok = code in (None, 0)
                self._state("✓" if ok else "✗", about(part, self._directory), "" if ok else f"exit code {code}")
                if part.tool == "bash":
                    self._output(state.output)
            case Failed():
                metadata = state.metadata or {}
                reason = metadata.get("brief") or ("rejected" if metadata.get("rejected") else "not run")
                self._state("✗", about(part, self._directory), str(reason))

    def _state(self, sign: str, what: str, reason: str) -> None:
        self._screen.end_line() if self._shown == "tool" else self._screen.gap()
        self._shown = "tool"
        self._screen.write(f"{sign} ", "bold green" if sign == "✓" else "bold red")
        self._screen.write(f"{what}: {reason}\n" if reason else f"{what}\n")

    def _output(self, output: str) -> None:
        rows = [row for row in output.rstrip().splitlines() if row.strip() and row not in _SAYS_NOTHING]
        if len(rows) > _MOST_OUTPUT_LINES:
            self._screen.line(f"    … {len(rows) - _MOST_OUTPUT_LINES} lines before", "dim")
        for row in rows[-_MOST_OUTPUT_LINES:]:
            self._screen.line(f"    {row}", "dim")


def waits(status: RetryStatus) -> str:
    wait = max(1, round((status.next_at - now()) / 1000))
    return f"{status.message} Attempt {status.attempt} in {wait} s."


def about(part: ToolPart, directory: str) -> str:
    """A call in a few words: the tool, and what it is used on."""
    given = part.state.input
    for key in ("command", "filePath", "pattern", "path"):
        if isinstance(given.get(key), str):
            return f"{part.tool} {_short(given[key], directory)}"
    title = part.state.title if isinstance(part.state, Completed) else ""
    return f"{part.tool} {_short(title, directory)}".rstrip()


def left_undone(event: Event, directory: str) -> str | None:
    """The call that was not made because nobody could be asked."""
    if not (isinstance(event, Changed) and event.method == "part/updated" and NOBODY.encode() in event.params):
        return None
    match PART.validate_python(from_json(b"{%b}" % event.params)["part"]):
        case ToolPart(state=Failed(metadata={"brief": brief})) as part if brief == NOBODY:
            return about(part, directory)
        case _:
            return None


def _short(text: str, directory: str) -> str:
    first, _, more = text.strip().partition("\n")
    if first.startswith(directory + os.sep):
        first = first[len(directory) + 1 :]
    return first[:120] + ("…" if more or len(first) > 120 else "")
