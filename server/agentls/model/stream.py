"""Chunks of a chat completion in, model events out: pure, and tolerant of how servers differ.

Each tolerance is a case of its own in `tests/model/test_stream.py`.
"""

from collections.abc import Mapping
from typing import Any, cast

from agentls.model import failures
from agentls.model.client import ModelEvent, ReasoningDelta, StepEnd, TextDelta, ToolCall
from agentls.model.failures import Endpoint
from agentls.model.toolstream import Calls
from agentls.schema.message import Finish
from agentls.schema.model import CacheTokens, Tokens
from agentls.schema.text import clean

_FINISHES: Mapping[str, Finish] = {
    "stop": "stop",
    "end_turn": "stop",
    "eos": "stop",
    "eos_token": "stop",
    "stop_sequence": "stop",
    "length": "length",
    "max_tokens": "length",
    "max_output_tokens": "length",
    "model_length": "length",
    "tool_calls": "tool-calls",
    "tool_use": "tool-calls",
    "function_call": "tool-calls",
    "content_filter": "content-filter",
    "safety": "content-filter",
    "sensitive": "content-filter",
}
_BROKEN = {"error", "abort", "cancelled", "canceled", "timeout", "network_error", "insufficient_system_resource"}
_REASONING = ("reasoning_content", "reasoning", "reasoning_details")


class Decoder:
    """One attempt's stream. `feed` each chunk, then `finish`, which ends with `StepEnd`; both raise `ModelFailure`."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._calls = Calls()
        self._reason: str | None = None
        self._tokens: Tokens | None = None
        self._has_text = False
        self._has_reasoning = False
        self._half = ""

    def feed(self, chunk: object) -> list[ModelEvent]:
        if not isinstance(chunk, dict):
            return []
        members = cast("dict[str, Any]", chunk)
        self._refuse_error(members)
        self._note_usage(members)
        choices = members.get("choices")
        if not choices or not isinstance(choices, list):
            return []
        choice = cast("list[object]", choices)[0]
        if not isinstance(choice, dict):
            return []
        return self._choice(cast("dict[str, Any]", choice))

    def finish(self, *, done: bool = False) -> list[ModelEvent]:
        """The calls and the end. `done`: the server said that this is all, and did not just close the connection."""
        events: list[ModelEvent] = []
        if self._half:
            events.append(TextDelta("\ufffd"))
        if self._reason in _BROKEN:
            raise failures.broken(self._endpoint, f"the server ended it with {self._reason!r}")
        calls = self._whole_calls(done=done)
        finish = self._finish(has_calls=bool(calls), done=done)
        silent = not (self._has_text or self._has_reasoning or calls)
        if silent and finish not in {"length", "content-filter"}:
            raise failures.empty(self._endpoint)
        return [*events, *self._calls.closing_events(), *calls, StepEnd(finish, self._tokens)]

    def _refuse_error(self, members: dict[str, Any]) -> None:
        error = members.get("error")
        if error:
            inner = cast("object", error) if isinstance(error, dict) else members
            raise failures.from_error_object(self._endpoint, inner)
        if "choices" in members:
            return
        if members.get("object") == "error" or members.get("type") == "error" or members.get("detail"):
            raise failures.from_error_object(self._endpoint, members)

    def _note_usage(self, members: dict[str, Any]) -> None:
        usage = members.get("usage")
        if usage is None and isinstance(members.get("x_groq"), dict):
            usage = members["x_groq"].get("usage")
        if not isinstance(usage, dict):
            return
        tokens = _tokens(cast("dict[str, Any]", usage))
        if tokens.total or self._tokens is None:
            self._tokens = tokens

    def _choice(self, choice: dict[str, Any]) -> list[ModelEvent]:
        reason = choice.get("finish_reason")
        if isinstance(reason, str) and reason:
            self._reason = reason.lower()
        error = choice.get("error")
        if isinstance(error, dict) and error:
            raise failures.from_error_object(self._endpoint, cast("dict[str, Any]", error))
        # A server that does not stream answers with a whole `message`.
        delta = choice.get("delta") or choice.get("message")
        if not isinstance(delta, dict):
            return []
        return self._delta(cast("dict[str, Any]", delta))

    def _delta(self, delta: dict[str, Any]) -> list[ModelEvent]:
        content: object = delta.get("content")
        if isinstance(content, str) and len(delta) == 1:
            return self._spoken(content)
        events = self._thoughts(delta, content)
        events += self._spoken(_text(content) or _text(delta.get("refusal")))
        entries = _mappings(delta.get("tool_calls"))
        legacy = delta.get("function_call")
        if isinstance(legacy, dict):
            entries.append({"index": 0, "function": legacy})
        for entry in entries:
            events += self._calls.feed(entry)
        return events

    def _spoken(self, text: str) -> list[ModelEvent]:
        text = self._whole(text)
        if not text:
            return []
        self._has_text = True
        return [TextDelta(text)]

    def _thoughts(self, delta: dict[str, Any], content: object) -> list[ModelEvent]:
        events: list[ModelEvent] = []
        for name in _REASONING:
            text = _text(delta.get(name))
            if text:
                events.append(self._reasoning(text, name))
                break
        if isinstance(content, list):
            # Mistral sends its thinking as a part of the content; it has no member to send it back in.
            thought = "".join(_text(part.get("thinking")) for part in _mappings(cast("object", content)))
            if thought:
                events.append(self._reasoning(thought, ""))
        return events

    def _reasoning(self, text: str, field: str) -> ReasoningDelta:
        self._has_reasoning = True
        return ReasoningDelta(clean(text), field)

    def _whole(self, text: str) -> str:
        """Joins a character whose surrogates came in two chunks; what stays alone is replaced."""
        if text.isascii() and not self._half:
            return text
        text = self._half + text
        self._half = ""
        if "\ud800" <= text[-1:] <= "\udbff":
            text, self._half = text[:-1], text[-1]
        return clean(text)

    def _whole_calls(self, *, done: bool) -> list[ToolCall]:
        """Calls as they are to run. A stream that ended by itself inside one is broken: nothing of it may run (S12)."""
        sure = self._reason is not None
        limit = self._reason is not None and _FINISHES.get(self._reason) == "length"
        calls = self._calls.whole(cut_off=limit)
        if sure or not calls:
            return calls
        if any(call.arguments is None for call in calls) or (not done and not calls[-1].raw):
            raise failures.broken(self._endpoint, "it ended inside a tool call")
        return calls

    def _finish(self, *, has_calls: bool, done: bool) -> Finish:
        if self._reason is None:
            if has_calls:
                return "tool-calls"
            return "stop" if done or self._tokens is not None else "unknown"
        finish = _FINISHES.get(self._reason, "unknown")
        if has_calls and finish in {"stop", "unknown"}:
            return "tool-calls"
        if not has_calls and finish == "tool-calls":
            return "stop"
        return finish


def _mappings(value: object) -> list[dict[str, Any]]:
    items = cast("list[object]", value) if isinstance(value, list) else [value]
    return [cast("dict[str, Any]", item) for item in items if isinstance(item, dict)]


def _text(value: object) -> str:
    """Text that stands bare, or in parts of which some hold `text` or `summary`."""
    if isinstance(value, str):
        return value
    if not isinstance(value, list):
        return ""
    texts = [part.get("text") or part.get("summary") for part in _mappings(cast("object", value))]
    return "".join(text for text in texts if isinstance(text, str))


def _tokens(usage: dict[str, Any]) -> Tokens:
    """Counts as the catalog prices them: cached and reasoning tokens are taken out of input and output."""
    prompt, completion = _count(usage, "prompt_tokens"), _count(usage, "completion_tokens")
    read = _count(usage, "prompt_tokens_details", "cached_tokens") or _count(usage, "prompt_cache_hit_tokens")
    write = _count(usage, "prompt_tokens_details", "cache_write_tokens") or _count(usage, "cache_creation_input_tokens")
    reasoning = _count(usage, "completion_tokens_details", "reasoning_tokens") or _count(usage, "reasoning_tokens")
    # xAI counts reasoning beside the completion, the others inside it; its total tells.
    beside = reasoning > 0 and _count(usage, "total_tokens") == prompt + completion + reasoning
    return Tokens(
        input=max(prompt - read - write, 0),
        output=completion if beside else max(completion - reasoning, 0),
        reasoning=reasoning,
        cache=CacheTokens(read=read, write=write),
    )


def _count(usage: dict[str, Any], *path: str) -> int:
    value: Any = usage
    for name in path:
        value = cast("dict[str, Any]", value).get(name) if isinstance(value, dict) else None
    return int(value) if isinstance(value, int | float) and value > 0 else 0
