"""Folds the events of one model stream into parts."""

from typing import assert_never

from agentls.engine.runaway import Runaway
from agentls.engine.transcript import Writer
from agentls.model.client import (
    ModelEvent,
    ReasoningDelta,
    StepEnd,
    TextDelta,
    ToolCall,
    ToolInputDelta,
    ToolInputStart,
)
from agentls.schema.base import now
from agentls.schema.message import AssistantMessage
from agentls.schema.part import Part, PartTime, Pending, ReasoningPart, TextPart, ToolPart


class Processor:
    """One attempt. Tool parts stay `pending`: they run only once the attempt has ended.

    `runaway` is set once its text goes in circles.
    """

    def __init__(self, writer: Writer, message: AssistantMessage) -> None:
        self._writer = writer
        self._message = message
        self._text: TextPart | ReasoningPart | None = None
        self._tools: dict[int, ToolPart] = {}
        self._made: list[Part] = []
        self.problems: dict[str, str] = {}
        self.end: StepEnd | None = None
        self.runaway = False
        self._guard = Runaway()

    @property
    def tools(self) -> list[ToolPart]:
        """The calls, in the order in which the model made them."""
        return [self._tools[key] for key in sorted(self._tools)]

    def writes(self, event: ModelEvent) -> bool:
        """Whether `feed` will store something: most events only let a part grow."""
        match event:
            case TextDelta(text):
                return bool(text) and not isinstance(self._text, TextPart)
            case ReasoningDelta(text):
                return bool(text) and not isinstance(self._text, ReasoningPart)
            case ToolInputDelta():
                return False
            case ToolInputStart() | ToolCall() | StepEnd():
                return True
            case _:
                assert_never(event)

    def feed(self, event: ModelEvent) -> None:
        match event:
            case TextDelta(text):
                self._append(text, None)
            case ReasoningDelta(text, field):
                self._append(text, field)
            case ToolInputStart(key, name):
                self.close_text()
                self._start_tool(key, name)
            case ToolInputDelta(key, text):
                self._writer.grow(self._tools[key].id, "raw", text)
            case ToolCall():
                self.close_text()
                self._complete_tool(event)
            case StepEnd():
                self.close_text()
                self.end = event
            case _:
                assert_never(event)

    def discard(self) -> None:
        """The attempt failed: its parts go, before the next one streams."""
        for part in reversed(self._made):
            self._writer.remove_part(part)
        self._made.clear()
        self._tools.clear()
        self._text = None

    def _append(self, text: str, field: str | None) -> None:
        if not text:
            return
        kind = TextPart if field is None else ReasoningPart
        if not isinstance(self._text, kind):
            self.close_text()
            self._text = self._start_text(field)
            self._guard = Runaway()
        self._writer.grow(self._text.id, "text", text)
        self.runaway = self._guard.feed(text)

    def _start_text(self, field: str | None) -> TextPart | ReasoningPart:
        with self._writer.together():
            names = self._writer.ids(self._message.id)
            time = PartTime(start=now())
            part = (
                TextPart(**names, text="", time=time)
                if field is None
                else ReasoningPart(**names, text="", field=field, time=time)
            )
            self._made.append(part)
            return self._writer.part(part)

    def close_text(self) -> None:
        if self._text is None:
            return
        part = self._writer.current(self._text.id)
        self._text = None
        if isinstance(part, TextPart | ReasoningPart):
            start = part.time.start if part.time else now()
            self._writer.part(part.but(time=PartTime(start=start, end=now())))

    def _start_tool(self, key: int, name: str) -> ToolPart:
        with self._writer.together():
            part = ToolPart(**self._writer.ids(self._message.id), tool=name, state=Pending())
            self._made.append(part)
            self._tools[key] = self._writer.part(part)
        return self._tools[key]

    def _complete_tool(self, call: ToolCall) -> None:
        part = self._tools.get(call.key) or self._start_tool(call.key, call.name)
        state = Pending(input=call.arguments or {}, raw=call.raw)
        self._tools[call.key] = self._writer.part(part.but(call_id=call.call_id, tool=call.name, state=state))
        if call.arguments is None:
            self.problems[part.id] = call.problem or "the arguments are not a JSON object"
