"""What the loop does next: a pure function of the stored history."""

from collections.abc import Sequence
from dataclasses import dataclass

from agentls.engine.history import Entry
from agentls.schema.message import AssistantMessage, MessageError, UserMessage
from agentls.schema.part import CompactionPart, Failed, Part, Pending, SubtaskPart, TextPart, ToolPart
from agentls.schema.session import StopReason

_STOPS: dict[str, StopReason] = {"MessageAbortedError": "cancelled", "ContentFilterError": "content_filter"}
_FINISHES: dict[str, StopReason] = {
    "stop": "done",
    "length": "length",
    "content-filter": "content_filter",
    "error": "error",
}
UNKNOWN_TRIES = 3
EMPTY_TRIES = 2
SUMMARY_TRIES = 2


@dataclass(frozen=True, slots=True)
class Finish:
    """The turn is over. `error` is what no message holds yet."""

    stop: StopReason
    error: MessageError | None = None


@dataclass(frozen=True, slots=True)
class Subtask:
    """A task of a user message that no tool part names yet."""

    part: SubtaskPart
    user: UserMessage


@dataclass(frozen=True, slots=True)
class Compact:
    part: CompactionPart
    user: UserMessage


@dataclass(frozen=True, slots=True)
class Step:
    """Ask the model, in answer to `user`."""

    user: UserMessage


Action = Finish | Subtask | Compact | Step


def next_action(history: Sequence[Entry]) -> Action:
    """What the loop does next, from the stored history alone."""
    user = _last_user(history)
    if user is None:
        return Finish("error", MessageError(name="UnknownError", data={"message": "The session has no prompt yet."}))
    answers = _answers(history, user)
    if answers:
        finish = _finished(answers)
        if finish is not None:
            return finish
    task = _pending_task(history)
    return task if task is not None else Step(user)


def results_due(parts: Sequence[Part]) -> bool:
    """Whether a local tool part has, or will have, a result that goes back; those that an interrupt cut off do not."""
    return any(isinstance(part, ToolPart) and not _cut_off(part) for part in parts)


def _last_user(history: Sequence[Entry]) -> UserMessage | None:
    for entry in reversed(history):
        if isinstance(entry.message, UserMessage):
            return entry.message
    return None


def _answers(history: Sequence[Entry], user: UserMessage) -> list[Entry]:
    """The assistant messages that answer `user`, oldest first. Who answers whom is `parentId`, never an order."""
    found: list[Entry] = []
    for entry in reversed(history):
        message = entry.message
        if isinstance(message, AssistantMessage) and message.parent_id == user.id:
            found.append(entry)
        elif message.pos < user.pos:
            break
    return found[::-1]


def _finished(answers: Sequence[Entry]) -> Finish | None:
    last = answers[-1]
    message = last.message
    if not isinstance(message, AssistantMessage):
        return None
    if _failed_summary(last) and sum(map(_failed_summary, answers)) < SUMMARY_TRIES:
        return None
    if message.error is not None:
        return Finish(_STOPS.get(message.error.name, "error"), message.error)
    if message.structured is not None:
        return Finish("done")
    if message.finish == "content-filter":
        return Finish("content_filter")
    if message.finish is None or results_due(last.parts):
        return None
    if message.finish in ("unknown", "tool-calls"):
        return _stuck(answers, UNKNOWN_TRIES, "The model ended its answer without saying how, three times.")
    if message.finish == "stop" and not _said_something(last):
        return _stuck(answers, EMPTY_TRIES, "The model gave an empty answer, twice.")
    return Finish(_FINISHES[message.finish])


def _stuck(answers: Sequence[Entry], tries: int, message: str) -> Finish | None:
    """None, which asks the model once more, until the same has happened `tries` times in a row."""
    same = 0
    for entry in reversed(answers):
        if results_due(entry.parts) or (tries == EMPTY_TRIES and _said_something(entry)):
            break
        same += 1
    if same < tries:
        return None
    return Finish(
        "error", MessageError(name="UnknownError", data={"message": f"{message} Try again, or another model."})
    )


def _said_something(entry: Entry) -> bool:
    return any(isinstance(part, TextPart) and part.text.strip() for part in entry.parts)


def _failed_summary(entry: Entry) -> bool:
    """Of a compaction, and to be tried again: it failed or says nothing. One that the user stopped is over."""
    message = entry.message
    if not isinstance(message, AssistantMessage) or not message.summary or _aborted(message):
        return False
    return message.error is not None or (message.finish is not None and not _said_something(entry))


def _aborted(message: AssistantMessage) -> bool:
    return message.error is not None and message.error.name == "MessageAbortedError"


def _ended_turn(entry: Entry, message: AssistantMessage) -> bool:
    """Whether what was asked before this answer is over."""
    if message.error is not None:
        return not _failed_summary(entry)
    return message.finish not in (None, "tool-calls", "unknown") and not results_due(entry.parts)


def _cut_off(part: ToolPart) -> bool:
    state = part.state
    return isinstance(state, Failed) and bool((state.metadata or {}).get("interrupted"))


def _pending_task(history: Sequence[Entry]) -> Subtask | Compact | None:
    """The oldest task that is newer than the last finished answer and not done."""
    done: set[str] = set()
    failures: list[str] = []
    found: Subtask | Compact | None = None
    for entry in reversed(history):
        message = entry.message
        if isinstance(message, AssistantMessage):
            done |= _named_tasks(entry.parts)
            if _failed_summary(entry):
                failures.append(message.parent_id)
            elif message.summary and message.finish:
                done.add(message.parent_id)
            if _ended_turn(entry, message):
                break
            continue
        for part in reversed(entry.parts):
            if isinstance(part, SubtaskPart) and part.id not in done:
                found = Subtask(part, message)
            elif isinstance(part, CompactionPart) and _is_due(message, done, failures):
                found = Compact(part, message)
    return found


def _is_due(message: UserMessage, done: set[str], failures: list[str]) -> bool:
    return message.id not in done and failures.count(message.id) < SUMMARY_TRIES


def _named_tasks(parts: Sequence[Part]) -> set[str]:
    names: set[str] = set()
    for part in parts:
        if not isinstance(part, ToolPart) or isinstance(part.state, Pending):
            continue
        named = (part.state.metadata or {}).get("partId")
        if named is not None:
            names.add(str(named))
    return names
