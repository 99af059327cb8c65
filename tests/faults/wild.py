"""What the attacks share: the random model's process, a machine that uses it, and what must hold of any session."""

import asyncio
import json
import os
import random
import sys
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from e2e.client import Message, RpcError
from e2e.server import Machine
from e2e.talk import Talk

TESTS = Path(__file__).resolve().parent.parent
OF_PARTS = ("message/updated", "message/removed", "part/updated", "part/delta", "part/removed")
PYTHON = {name: os.environ[name] for name in ("PYTHONPATH",) if name in os.environ}


@asynccontextmanager
async def wild_model(seed: int, log: Path) -> AsyncIterator[str]:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-m", "faults.model", "--seed", str(seed), "--log", str(log)),
        cwd=TESTS,
        stdout=asyncio.subprocess.PIPE,
    )
    try:
        assert process.stdout
        yield (await process.stdout.readline()).decode().strip()
    finally:
        process.kill()
        await process.wait()


def problems_of(log: Path) -> list[Message]:
    return [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []


def logged(machine: Machine) -> list[str]:
    """What the servers' logs call an error, with what follows it."""
    lines = machine.log().splitlines()
    places = [place for place, line in enumerate(lines) if " ERROR " in line]
    return ["log: " + "\n".join(lines[place : place + 40]) for place in places[:5]]


class Noise:
    """A user who does all sorts of things to a session, at random moments."""

    def __init__(self, talk: Talk, draw: random.Random, mark: str) -> None:
        self._talk = talk
        self._draw = draw
        self._mark = mark
        self._answered: set[str] = set()
        self.sent: list[int] = []

    async def go_on(self) -> None:
        while True:
            await asyncio.sleep(self._draw.expovariate(25))
            self._act()

    def _act(self) -> None:
        talk, draw = self._talk, self._draw
        match draw.randrange(10):
            case 0:
                self.prompt(delivery="steer")
            case 1:
                self.prompt(delivery="queue")
            case 2:
                self.prompt(delivery=draw.choice(("steer", "queue", "reject")), wait="idle")
            case 3:
                self._send("session/update", mode=draw.choice(("ask", "acceptEdits", "auto")))
            case 4:
                self._send(draw.choice(("session/get", "session/attach", "session/messages", "queue/list")))
            case 5:
                self._send("session/continue")
            case _:
                self._reply(talk.client.log)

    def prompt(self, **params: Any) -> None:
        parts = [{"type": "text", "text": f"More. MARK={self._mark}"}]
        self._send("session/prompt", parts=parts, **params)

    def _send(self, method: str, **params: Any) -> None:
        self.sent.append(self._talk.client.send(method, {"sessionId": self._talk.id, **params}))

    def _reply(self, log: list[Message]) -> None:
        for message in reversed(log[-400:]):
            params = message.get("params", {})
            if params.get("sessionId") != self._talk.id:
                continue
            name = {"permission/asked": "permissionId", "question/asked": "questionId"}.get(message.get("method", ""))
            if name is None or params[name] in self._answered:
                continue
            self._answered.add(params[name])
            if name == "questionId":
                self._talk.client.send("question/reply", {"questionId": params[name], "answers": [["A"]]})
            else:
                reply = self._draw.choice(("once", "once", "always", "reject"))
                self._talk.client.send("permission/reply", {"permissionId": params[name], "reply": reply})
            return


class Account:
    """What the notifications of one session say about its turns."""

    def __init__(self, log: list[Message], session_id: str) -> None:
        self.started: Counter[str] = Counter()
        self.ended: Counter[str] = Counter()
        self.stops: dict[str, str] = {}
        self.faults: list[str] = []
        self._of: dict[str, str | None] = {}
        self._turn: str | None = None
        self._status = "idle"
        self._revs: dict[str, int] = {}
        self._seq = 0
        for message in log:
            if message.get("params", {}).get("sessionId") == session_id and "method" in message:
                self._take(message["method"], message["params"])

    def _take(self, method: str, params: Message) -> None:
        self._numbers(method, params)
        if method == "turn/started":
            if self._turn is not None:
                self.faults.append(f"{params['turnId']} started within {self._turn}")
            self._turn = params["turnId"]
            self.started[self._turn] += 1
        elif method == "turn/ended":
            self.ended[params["turnId"]] += 1
            self.stops[params["turnId"]] = params["stopReason"]
            if self._turn == params["turnId"]:
                self._turn = None
        elif method == "session/status":
            self._status = params["status"]["type"]
            if (self._status == "idle") != (self._turn is None):
                self.faults.append(f"status {self._status} while the turn is {self._turn}")
        elif method in OF_PARTS:
            self._part(method, params)

    def _numbers(self, method: str, params: Message) -> None:
        if "seq" in params:
            if params["seq"] <= self._seq:
                self.faults.append(f"seq {params['seq']} of {method} after {self._seq}")
            self._seq = params["seq"]
        if method == "part/updated":
            self._revs[params["part"]["id"]] = params["part"]["rev"]
        elif method == "part/delta":
            if params["base"] != self._revs.get(params["partId"]):
                self.faults.append(f"a delta on {params['base']}, the part is at {self._revs.get(params['partId'])}")
            self._revs[params["partId"]] = params["rev"]

    def _part(self, method: str, params: Message) -> None:
        message = params.get("message")
        if message is not None:
            if message["role"] == "assistant":
                self._of.setdefault(message["id"], self._turn)
            message_id = message["id"]
        else:
            message_id = params["part"]["messageId"] if "part" in params else params["messageId"]
        owner = self._of.get(message_id)
        if owner is not None and owner != self._turn:
            self.faults.append(f"{method} of {owner} after its end: {json.dumps(params)[:300]}")


async def stop_all(talk: Talk) -> list[Message]:
    """Aborts until nothing is left to abort; the answers."""
    done: list[Message] = []
    for _ in range(8):
        done.append(await talk.abort(queue="clear"))
        if not done[-1]["aborted"]:
            return done
    raise AssertionError(f"it never stops: {done}")


async def at_rest(talk: Talk) -> list[str]:
    """What is wrong with a session that was stopped."""
    wrong: list[str] = []
    found = await talk.ask("session/get")
    if found["status"]["type"] != "idle" or "turn" in found:
        wrong.append(f"not idle: {found['status']} {found.get('turn')}")
    if found["pending"]["permissions"] or found["pending"]["questions"]:
        wrong.append(f"open questions: {found['pending']}")
    for one in await talk.messages():
        if one["message"]["role"] == "assistant" and not one["message"]["time"].get("completed"):
            wrong.append(f"unfinished: {one['message']}")
        wrong += [
            f"open part: {json.dumps(part)[:300]}"
            for part in one["parts"]
            if part["type"] == "tool" and part["state"]["status"] not in ("completed", "error")
        ]
    return wrong


async def usable(talk: Talk, seconds: float = 20) -> list[str]:
    request_id = talk.send_prompt("PLAIN", wait="idle")
    try:
        result = await talk.client.answer(request_id, seconds)
    except (AssertionError, RpcError) as error:
        return [f"the next prompt: {str(error)[:1500]}"]
    return [] if result["stopReason"] == "done" else [f"the next prompt ended as {json.dumps(result)[:600]}"]
