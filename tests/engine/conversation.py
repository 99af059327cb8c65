"""A conversation built by hand, for the rules of what comes next."""

from typing import Any

from agentls.engine.action import next_action
from agentls.engine.history import Entry
from agentls.schema.message import AssistantMessage, MessageError, UserMessage
from agentls.schema.part import Failed, PartTime
from engine.builders import assistant_message, text_part, tool_part, user_message

S = "ses_1"


class Talk:
    """A history, written down in order."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self.pos = 0

    def place(self) -> int:
        self.pos += 1
        return self.pos

    def user(self, name: str = "u1", *parts: Any) -> UserMessage:
        message = user_message(S, self.place(), id=name)
        self.entries.append(Entry(message, [make(message, self.place()) for make in parts or (text("hi"),)]))
        return message

    def answer(self, parent: str = "u1", *parts: Any, **more: Any) -> AssistantMessage:
        message = assistant_message(S, self.place(), parent, **more)
        self.entries.append(Entry(message, [make(message, self.place()) for make in parts]))
        return message

    def next(self) -> Any:
        return next_action(self.entries)


def text(content: str) -> Any:
    return lambda message, pos: text_part(message, pos, content)


def tool(state: Any) -> Any:
    return lambda message, pos: tool_part(message, pos, state)


def failed(**metadata: Any) -> Failed:
    return Failed(input={}, error="no", metadata=metadata or None, time=PartTime(start=1, end=2))


CUT_OFF = failed(interrupted=True)


def error(name: Any) -> MessageError:
    return MessageError(name=name, data={"message": "x"})
