"""Tool calls as they stream in: which delta belongs to which call, and what its arguments are in the end."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, cast

from agentls.model.client import ModelEvent, ToolCall, ToolInputDelta, ToolInputStart
from agentls.schema import ids
from agentls.schema.text import clean

_DEEPEST = 100


@dataclass(slots=True)
class _Call:
    key: int
    index: int | None
    id: str = ""
    name: str = ""
    announced: bool = False
    told: bool = False
    pieces: list[str] = field(default_factory=list[str])

    @property
    def raw(self) -> str:
        if len(self.pieces) > 1:
            self.pieces = ["".join(self.pieces)]
        return self.pieces[0] if self.pieces else ""

    @property
    def complete(self) -> bool:
        # Pieces are parsed only where the last one can close an object: this is asked once a delta that names a call.
        raw = self.raw.strip()
        return raw.endswith("}") and isinstance(_json(raw), dict)


class Calls:
    """The index correlates; an id is a label. Empty and null members count as absent (S01 to S08)."""

    def __init__(self) -> None:
        self._calls: list[_Call] = []

    def feed(self, entry: dict[str, Any]) -> Iterator[ModelEvent]:
        function = entry.get("function")
        members = cast("dict[str, Any]", function) if isinstance(function, dict) else entry
        name = _label(members.get("name"))
        piece = _piece(members.get("arguments"))
        index = entry.get("index")
        call_id = _label(entry.get("id"))
        call = self._locate(index if isinstance(index, int) else None, call_id, name, piece)
        call.id = call.id or call_id
        _take_name(call, name)
        if piece:
            call.pieces.append(piece)
        return _events(call, piece)

    def closing_events(self) -> Iterator[ModelEvent]:
        """Starts of calls that never got an argument."""
        for call in self._calls:
            if not call.announced:
                call.announced = True
                yield ToolInputStart(call.key, call.name)

    def whole(self, *, cut_off: bool) -> list[ToolCall]:
        """`cut_off`: the output limit ended the stream, so the last call may be a torso."""
        seen: set[str] = set()
        calls: list[ToolCall] = []
        for call in self._calls:
            call_id = call.id if call.id and call.id not in seen else ids.new(ids.Prefix.CALL)
            seen.add(call_id)
            torso = cut_off and call is self._calls[-1]
            raw = clean(call.raw)
            arguments, problem = parse_arguments(raw, cut_off=torso)
            if not call.name:
                arguments, problem = None, "The call names no tool."
            calls.append(ToolCall(call.key, call_id, call.name, raw, arguments, problem))
        return calls

    def _locate(self, index: int | None, call_id: str, name: str, piece: str) -> _Call:
        if index is not None:
            known = [call for call in self._calls if call.index == index]
            found = _at_index(known, call_id, name, piece)
        elif call_id:
            found = next((call for call in self._calls if call.id == call_id), None) or self._nameless(name)
        else:
            found = self._last(name, piece)
        return found or self._open(index)

    def _nameless(self, name: str) -> _Call | None:
        """The call that waits for its id, where this delta brings the id alone."""
        last = self._calls[-1] if self._calls else None
        return last if last is not None and not last.id and not name else None

    def _last(self, name: str, piece: str) -> _Call | None:
        last = self._calls[-1] if self._calls else None
        if last is None or not name or not last.name:
            return last
        return last if last.name == name and not last.complete and not _is_object(piece) else None

    def _open(self, index: int | None) -> _Call:
        call = _Call(key=len(self._calls), index=index)
        self._calls.append(call)
        return call


def _at_index(known: list[_Call], call_id: str, name: str, piece: str) -> _Call | None:
    if not known:
        return None
    last = known[-1]
    if call_id and last.id and call_id != last.id:
        return next((call for call in known if call.id == call_id), None)
    another = bool(name) and last.complete and (name != last.name or bool(piece.strip()))
    if another and not (call_id and call_id == last.id):
        return None
    return last


def _take_name(call: _Call, name: str) -> None:
    """Assigned once; a name in pieces grows until the first argument."""
    if not name or name == call.name or call.pieces:
        call.name = call.name or name
        return
    call.name = name if name.startswith(call.name) else call.name + name


def _events(call: _Call, piece: str) -> Iterator[ModelEvent]:
    if not call.name or not call.pieces:
        return
    if not call.announced:
        call.announced = True
        yield ToolInputStart(call.key, call.name)
    text = piece if call.told else call.raw
    call.told = True
    if text:
        yield ToolInputDelta(call.key, clean(text))


def parse_arguments(raw: str, *, cut_off: bool = False) -> tuple[dict[str, Any] | None, str | None]:
    """The arguments, or None and why. Text that does not parse is never replaced by `{}` (S06, S12, S14)."""
    text = raw.strip()
    if cut_off and not text:
        return None, "The output limit was reached before the arguments of this call."
    value: object = text
    for _ in range(3):
        if not isinstance(value, str):
            break
        inner = value.strip()
        if inner in {"", "null"}:
            return {}, None
        value = _json(inner)
    if isinstance(value, dict):
        arguments = cast("dict[str, Any]", value)
        return (None, "The arguments are nested too deeply.") if _is_deep(arguments) else (arguments, None)
    if cut_off:
        return None, "The output limit was reached inside the arguments of this call."
    if value is _UNPARSABLE:
        return None, "The arguments are not valid JSON: they are cut off or malformed."
    return None, "The arguments must be one JSON object."


class _Unparsable:
    pass


_UNPARSABLE = _Unparsable()


def _json(text: str) -> object:
    """Bare line breaks inside strings, as small models write them, pass."""
    try:
        value: object = json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return _UNPARSABLE
    if "\\ud" in text or "\\uD" in text:
        return _cleaned(value)
    return value


def _cleaned(value: object) -> object:
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, list):
        return [_cleaned(item) for item in cast("list[object]", value)]
    if isinstance(value, dict):
        return {clean(name): _cleaned(item) for name, item in cast("dict[str, object]", value).items()}
    return value


def _is_deep(value: object) -> bool:
    """Deeper than what can be stored: pydantic reads 200 levels of JSON, those of the part around it with them."""
    level: list[object] = [value]
    for _ in range(_DEEPEST):
        level = [inner for item in level for inner in _inner(item)]
        if not level:
            return False
    return True


def _inner(value: object) -> Iterable[object]:
    match value:
        case dict():
            return cast("dict[str, object]", value).values()
        case list():
            return cast("list[object]", value)
        case _:
            return ()


def _is_object(text: str) -> bool:
    return text.strip().startswith("{") and isinstance(_json(text), dict)


def _label(value: object) -> str:
    return value.strip() if isinstance(value, str) else str(value) if isinstance(value, int) else ""


def _piece(value: object) -> str:
    """A piece of the argument text; some servers send the object itself."""
    if isinstance(value, str):
        return value
    return "" if value is None else json.dumps(value, ensure_ascii=False)
