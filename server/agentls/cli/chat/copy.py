"""What this client knows of one session, by the protocol's rules, and the telling of what is new in it."""

from collections.abc import Callable
from typing import Any, Protocol

from agentls.cli.chat.connection import Members
from agentls.schema.part import PART, Completed, Failed, Part, ReasoningPart, TextPart, ToolPart

_FIELDS = {"text": ("text",), "raw": ("state", "raw"), "output": ("state", "output")}


class Shows(Protocol):
    """Whoever tells the person."""

    def part(self, part: Part) -> None: ...

    def text(self, part_id: str, text: str) -> None: ...


class Copy:
    """`ended` is called with each turn that ended. `misfit` with a part whose delta did not fit: fetch it."""

    def __init__(
        self, session: Members, shows: Shows, ended: Callable[[Members], None], misfit: Callable[[str], None]
    ) -> None:
        self.session = session
        self.position: Members | None = None
        self.turn: Members | None = None
        self.status: Members = {"type": "idle"}
        self._shows = shows
        self._ended = ended
        self._misfit = misfit
        self._messages: dict[str, Members] = {}
        self._parts: dict[str, Members] = {}
        self._stale: set[str] = set()

    @property
    def id(self) -> str:
        return self.session["id"]

    @property
    def busy(self) -> bool:
        return self.turn is not None and self.turn["state"] != "ended"

    def running(self) -> ToolPart | None:
        """The call that runs now, of several the newest."""
        parts = (PART.validate_python(part) for part in reversed(self._parts.values()) if part["type"] == "tool")
        return next((part for part in parts if isinstance(part, ToolPart) and part.state.status == "running"), None)

    # -- what came

    def created(self, result: Members) -> None:
        self.position = result["position"]

    def attached(self, result: Members, *, quiet: bool) -> None:
        """`changes` or a `snapshot` (rule 2). `quiet`: the person is told of none of it."""
        shows, self._shows = self._shows, _Nobody() if quiet else self._shows
        try:
            snapshot = result.get("snapshot")
            if snapshot is not None:
                self._snapshot(snapshot, quiet=quiet)
            for change in result.get("changes", ()):
                self._change(change)
        finally:
            self._shows = shows
        self.status, self.position = result["status"], result["position"]
        self._stale.clear()

    def notified(self, method: str, params: Members) -> None:
        match method:
            case "session/updated" | "session/status":
                self.session, self.status = params.get("session", self.session), params.get("status", self.status)
            case "turn/started":
                self.turn = {"id": params["turnId"], "state": "running"}
            case "turn/ended":
                self._turn({"id": params["turnId"], "state": "ended", **params})
            case "message/updated":
                self._messages[params["message"]["id"]] = params["message"]
            case "message/removed":
                self._remove(params["messageId"])
            case "part/updated":
                self._put(params["part"])
            case "part/removed":
                self._parts.pop(params["partId"], None)
            case "part/delta":
                self._delta(params)
            case _:
                pass
        if self.position is not None:
            self.position["seq"] = max(self.position["seq"], params.get("seq", 0))

    def fetched(self, result: Members) -> None:
        """The answer of `part/get`."""
        self._put(result["part"])

    # -- rules

    def _snapshot(self, snapshot: Members, *, quiet: bool) -> None:
        self.session = snapshot["session"]
        for one in snapshot["messages"]:
            self._messages[one["message"]["id"]] = one["message"]
            for part in one["parts"]:
                self._put(part)
        turn = snapshot.get("turn")
        if quiet:
            self.turn = turn
        elif turn is not None:
            self._turn(turn)

    def _change(self, change: Members) -> None:
        kind, value, removed = change["kind"], change.get("value"), change.get("removed")
        match kind:
            case "session" if value is not None:
                self.session = value
            case "turn" if value is not None:
                self._turn(value)
            case "message" if value is not None:
                self._messages[value["id"]] = value
            case "message":
                self._remove(str(removed))
            case "part" if value is not None:
                self._put(value)
            case "part":
                self._parts.pop(str(removed), None)
            case _:
                pass

    def _turn(self, turn: Members) -> None:
        known, self.turn = self.turn, turn
        was_open = known is None or known["id"] != turn["id"] or known["state"] != "ended"
        if turn["state"] == "ended" and was_open:
            self._ended(turn)

    def _remove(self, message_id: str) -> None:
        self._messages.pop(message_id, None)
        self._parts = {name: part for name, part in self._parts.items() if part["messageId"] != message_id}

    def _put(self, members: Members) -> None:
        """Replaces, also by a lower `rev` (rule 3). What of a text was told already is not told again."""
        old = self._parts.get(members["id"])
        self._parts[members["id"]] = members
        self._stale.discard(members["id"])
        part = PART.validate_python(members)
        if self._messages.get(part.message_id, {}).get("role") == "user":
            return
        match part:
            case TextPart() | ReasoningPart():
                told = old["text"] if old is not None else ""
                self._shows.part(part)
                self._shows.text(part.id, part.text[len(told) :] if part.text.startswith(told) else f"\n{part.text}")
            case ToolPart(state=Completed() | Failed()):
                if old is None or old["state"]["status"] not in {"completed", "error"}:
                    self._shows.part(part)
            case _:
                pass

    def _delta(self, params: Members) -> None:
        part_id = params["partId"]
        part = self._parts.get(part_id)
        if part_id in self._stale or (part is not None and params["rev"] <= part["rev"]):
            return
        if part is None or params["base"] != part["rev"]:
            self._stale.add(part_id)
            self._misfit(part_id)
            return
        *way, last = _FIELDS[params["field"]]
        holder: dict[str, Any] = part
        for name in way:
            holder = holder[name]
        holder[last] = holder.get(last, "") + params["delta"]
        part["rev"] = params["rev"]
        if params["field"] == "text":
            self._shows.text(part_id, params["delta"])

    # -- looking back

    def last_exchange(self) -> tuple[str, list[Part]]:
        """What the person said last, and what came of it."""
        messages = sorted(self._messages.values(), key=lambda message: message["pos"])
        users = [number for number, message in enumerate(messages) if message["role"] == "user"]
        if not users:
            return "", []
        asked, *answers = (self._parts_of(message["id"]) for message in messages[users[-1] :])
        texts = [part.text for part in asked if isinstance(part, TextPart) and not part.synthetic]
        return "\n".join(texts), [part for parts in answers for part in parts]

    def _parts_of(self, message_id: str) -> list[Part]:
        mine = [part for part in self._parts.values() if part["messageId"] == message_id]
        return [PART.validate_python(part) for part in sorted(mine, key=lambda part: part["pos"])]


class _Nobody:
    def part(self, part: Part) -> None:
        pass

    def text(self, part_id: str, text: str) -> None:
        pass
