"""A client's copy of one session, by the protocol's rules and no others: what any editor has to implement."""

import copy
from collections.abc import Callable
from typing import Any

from e2e.client import Message

FIELDS = {"text": ("text",), "raw": ("state", "raw"), "output": ("state", "output")}


class Mirror:
    """`get_part` is what a client does about a delta that does not fit; here it is counted, as it must not be needed
    but after a loss.
    """

    def __init__(self, session_id: str) -> None:
        self.id = session_id
        self.epoch: str | None = None
        self.seq = 0
        self.session: Message | None = None
        self.turn: Message | None = None
        self.messages: dict[str, Message] = {}
        self.parts: dict[str, Message] = {}
        self.todos: list[Message] = []
        self.queue: dict[str, Message] = {}
        self.pending: dict[str, Message] = {}
        self.misfits: list[Message] = []
        self._stale: set[str] = set()

    # -- what came

    def notified(self, method: str, params: Message) -> None:
        if params.get("sessionId") != self.id:
            return
        handler = _NOTIFIED.get(method)
        if handler is not None:
            handler(self, params)
        self.seq = max(self.seq, params.get("seq", 0))

    def attached(self, result: Message) -> None:
        if result.get("snapshot") is not None:
            self._snapshot(result["snapshot"])
        for change in result.get("changes", ()):
            self._change(change)
        self.pending = {one["permissionId"]: one for one in result["pending"]["permissions"]}
        self.pending |= {one["questionId"]: one for one in result["pending"]["questions"]}
        self.epoch, self.seq = result["position"]["epoch"], result["position"]["seq"]
        self._stale.clear()

    def earlier(self, messages: list[Message]) -> None:
        """Those before the snapshot's: the pages of `session/messages`."""
        for one in messages:
            self.messages[one["message"]["id"]] = one["message"]
            self.parts |= {part["id"]: part for part in one["parts"]}

    def fetched(self, part: Message) -> None:
        """The answer of `part/get`."""
        self._put_part(part)

    # -- what it is

    def state(self) -> Message:
        """All that a client shows, in the order in which it shows it."""
        messages = sorted(self.messages.values(), key=lambda message: message["pos"])
        return copy.deepcopy(
            {
                "session": self.session,
                "turn": self.turn,
                "messages": [[message, self._parts_of(message["id"])] for message in messages],
                "todos": self.todos,
                "queue": list(self.queue.values()),
                "pending": sorted(self.pending),
            }
        )

    def _parts_of(self, message_id: str) -> list[Message]:
        mine = [part for part in self.parts.values() if part["messageId"] == message_id]
        return sorted(mine, key=lambda part: part["pos"])

    # -- rules

    def _snapshot(self, snapshot: Message) -> None:
        self.session = snapshot["session"]
        self.turn = _turn(snapshot["turn"]) if "turn" in snapshot else None
        self.messages = {one["message"]["id"]: one["message"] for one in snapshot["messages"]}
        self.parts = {part["id"]: part for one in snapshot["messages"] for part in one["parts"]}
        self.todos = snapshot["todos"]
        self.queue = {item["messageId"]: item for item in snapshot["queue"]}

    def _change(self, change: Message) -> None:
        kind, value, removed = change["kind"], change.get("value"), change.get("removed")
        match kind:
            case "session":
                self.session = value
            case "turn":
                self.turn = _turn(value) if value is not None else self.turn
            case "message" if removed is not None:
                self._remove_message(removed)
            case "message":
                self.messages[change["value"]["id"]] = change["value"]
            case "part" if removed is not None:
                self.parts.pop(removed, None)
            case "part":
                self._put_part(change["value"])
            case "todo":
                self.todos = value if isinstance(value, list) else []
            case "queue" if removed is not None:
                self.queue.pop(removed, None)
            case "queue":
                self.queue[change["value"]["messageId"]] = change["value"]
            case "permission" | "question":
                pass  # `pending` of the same answer says it
            case _:
                raise AssertionError(f"no such kind of change: {change}")

    def _put_part(self, part: Message) -> None:
        self.parts[part["id"]] = copy.deepcopy(part)
        self._stale.discard(part["id"])

    def _remove_message(self, message_id: str) -> None:
        self.messages.pop(message_id, None)
        self.parts = {name: part for name, part in self.parts.items() if part["messageId"] != message_id}

    def _delta(self, params: Message) -> None:
        part = self.parts.get(params["partId"])
        if params["partId"] in self._stale or (part is not None and params["rev"] <= part["rev"]):
            return
        if part is None or params["base"] != part["rev"]:
            self.misfits.append(params)
            self._stale.add(params["partId"])
            return
        *way, last = FIELDS[params["field"]]
        holder = part
        for name in way:
            holder = holder[name]
        holder[last] = holder.get(last, "") + params["delta"]
        part["rev"] = params["rev"]

    def _set_session(self, params: Message) -> None:
        self.session = params["session"]

    def _started(self, params: Message) -> None:
        self.turn = {"id": params["turnId"], "messageId": params["messageId"], "ended": False}

    def _ended(self, params: Message) -> None:
        message_id = self.turn["messageId"] if self.turn and self.turn["id"] == params["turnId"] else None
        self.turn = {
            "id": params["turnId"],
            "messageId": message_id,
            "ended": True,
            "stopReason": params["stopReason"],
            "error": params.get("error"),
            "usage": params["usage"],
        }

    def _set_message(self, params: Message) -> None:
        self.messages[params["message"]["id"]] = params["message"]

    def _set_todos(self, params: Message) -> None:
        self.todos = params["todos"]

    def _set_queue(self, params: Message) -> None:
        self.queue = {item["messageId"]: item for item in params["items"]}

    def _asked(self, params: Message) -> None:
        self.pending[params.get("permissionId") or params["questionId"]] = params

    def _resolved(self, params: Message) -> None:
        self.pending.pop(params.get("permissionId") or params["questionId"], None)


def _turn(row: Message) -> Message:
    """A turn's row, reduced to what the notifications tell of it."""
    if row["state"] != "ended":
        return {"id": row["id"], "messageId": row["messageId"], "ended": False}
    return {
        "id": row["id"],
        "messageId": row["messageId"],
        "ended": True,
        "stopReason": row["stopReason"],
        "error": row.get("error"),
        "usage": row["usage"],
    }


_NOTIFIED: dict[str, Callable[[Mirror, Message], Any]] = {
    "session/created": Mirror._set_session,
    "session/updated": Mirror._set_session,
    "turn/started": Mirror._started,
    "turn/ended": Mirror._ended,
    "message/updated": Mirror._set_message,
    "message/removed": lambda mirror, params: mirror._remove_message(params["messageId"]),
    "part/updated": lambda mirror, params: mirror._put_part(params["part"]),
    "part/removed": lambda mirror, params: mirror.parts.pop(params["partId"], None),
    "part/delta": Mirror._delta,
    "todo/updated": Mirror._set_todos,
    "queue/changed": Mirror._set_queue,
    "permission/asked": Mirror._asked,
    "permission/resolved": Mirror._resolved,
    "question/asked": Mirror._asked,
    "question/resolved": Mirror._resolved,
}
