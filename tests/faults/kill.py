"""Kills servers at random moments: `python -m faults.kill --runs 60` (from `tests/`) prints what it found.

All runs share one database; a second server lives through all of them with a turn of its own.
"""

import argparse
import asyncio
import json
import random
import sqlite3
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from e2e.client import Client, Message
from e2e.server import Machine, running, unique
from e2e.talk import Talk
from faults.wild import PYTHON, Account, Noise, at_rest, logged, problems_of, stop_all, usable, wild_model

SWEEP_SECONDS = 5
LOST_SECONDS = 1.0
"""A growing text is written every half second; a busy machine is late at times."""


class Seen:
    """What one client was told before the end."""

    def __init__(self, client: Client, session_ids: list[str]) -> None:
        self.seqs: dict[str, int] = {}
        self.resolved: list[str] = []
        self.texts: dict[str, list[tuple[float, str]]] = {}
        for when, message in zip(client.times, client.log, strict=True):
            params = message.get("params", {})
            if "method" in message and params.get("sessionId") in session_ids:
                self._take(when, message["method"], params)

    def _take(self, when: float, method: str, params: Message) -> None:
        if "seq" in params:
            self.seqs[params["sessionId"]] = max(params["seq"], self.seqs.get(params["sessionId"], 0))
        if method == "permission/resolved":
            self.resolved.append(params["permissionId"])
        elif method == "question/resolved":
            self.resolved.append(params["questionId"])
        elif method == "part/updated" and params["part"]["type"] == "text":
            self.texts[params["part"]["id"]] = [(when, params["part"]["text"])]
        elif method == "part/delta" and params["field"] == "text" and params["partId"] in self.texts:
            self.texts[params["partId"]].append((when, params["delta"]))
        elif method == "part/removed":
            self.texts.pop(params["partId"], None)


class Attack:
    def __init__(self, machine: Machine, draw: random.Random) -> None:
        self.machine = machine
        self.draw = draw
        self.folders = [machine.project(f"k{number}", {"a.txt": "one\ntwo\n"}) for number in range(3)]
        self.counts: Counter[str] = Counter()
        self.lost: list[tuple[float, int]] = []

    async def one(self) -> list[str]:
        marks = [unique() for _ in range(2)]
        async with self.machine.editor(self.folders[0], env=PYTHON) as client:
            talks, acknowledged = await self._busy(client, marks)
            await self._leave(client)
            ended = time.monotonic()
            acknowledged += [talk_id for talk_id in _prompts(client) if talk_id not in acknowledged]
            lived = [Account(client.log, talk.id) for talk in talks]
        found = [fault for account in lived for fault in account.faults]
        found += await self._gone(marks) + self._stored(acknowledged)
        found += self._kept(Seen(client, [talk.id for talk in talks]), ended)
        self.counts["acknowledged"] += len(acknowledged)
        async with self.machine.editor(self.folders[0], env=PYTHON) as client:
            for talk in talks:
                found += await self._after(talk.on(client))
            with suppress(AssertionError):
                await client.shut_down()
        return found

    async def _busy(self, client: Client, marks: list[str]) -> tuple[list[Talk], list[Message]]:
        draw, talks, noises = self.draw, list[Talk](), list[asyncio.Task[None]]()
        for mark in marks:
            mode = draw.choice(("ask", "ask", "auto"))
            talk = await Talk.begin(client, draw.choice(self.folders), mode=mode)
            talks.append(talk)
            talk.send_prompt(f"go. MARK={mark}", wait=draw.choice(("accepted", "idle")))
            if draw.random() < 0.6:
                noises.append(asyncio.create_task(Noise(talk, draw, mark).go_on()))
        if not noises:  # nobody answers: a question may be open when the end comes
            with suppress(AssertionError):
                await client.wait_for("session/status", lambda p: p["status"]["type"] == "waiting", seconds=1)
        await asyncio.sleep(draw.choice((draw.uniform(0, 0.05), draw.uniform(0, 0.5), draw.uniform(0, 2))))
        for noise in noises:
            noise.cancel()
        return talks, _prompts(client)

    async def _leave(self, client: Client) -> None:
        await client.kill()

    def _kept(self, seen: "Seen", ended: float) -> list[str]:
        """What the client was told of is stored; of a text that still grew all but the last moment."""
        found: list[str] = []
        with sqlite3.connect(self.machine.data / "agentls.db") as database:
            for session_id, seq in seen.seqs.items():
                [counter] = database.execute("SELECT counter FROM sessions WHERE id = ?", (session_id,)).fetchone()
                if counter < seq:
                    found.append(f"{session_id} is at {counter}, the client was told of {seq}")
            for question_id in seen.resolved:
                row = database.execute("SELECT open FROM questions WHERE id = ?", (question_id,)).fetchone()
                if row is None or row[0]:
                    found.append(f"the answer to {question_id} is lost")
            for part_id, pieces in seen.texts.items():
                row = database.execute("SELECT wire ->> 'text' FROM parts WHERE id = ?", (part_id,)).fetchone()
                found += self._lost(part_id, pieces, row and row[0], ended)
        self.counts["answers to questions"] += len(seen.resolved)
        return found

    def _lost(self, part_id: str, pieces: "list[tuple[float, str]]", stored: str | None, ended: float) -> list[str]:
        if stored is None:
            return []  # of an attempt that failed
        whole = "".join(text for _, text in pieces)
        if not (whole.startswith(stored) or stored.startswith(whole)):
            return [f"{part_id} holds {stored[-100:]!r}, the client saw {whole[-100:]!r}"]
        self.counts["texts"] += 1
        at = 0
        for when, text in pieces:
            at += len(text)
            if at > len(stored):
                self.lost.append((ended - when, len(whole) - len(stored)))
                late = ended - when > LOST_SECONDS
                return [f"{part_id} lost {len(whole) - len(stored)} characters of {ended - when:.2f} s"] if late else []
        return []

    async def _gone(self, marks: list[str]) -> list[str]:
        deadline = time.monotonic() + SWEEP_SECONDS
        while time.monotonic() < deadline:
            left = [process for mark in marks for process in running(mark)]
            if not left:
                return []
            await asyncio.sleep(0.1)
        return [f"left after the kill: {[process.cmdline() for process in left]}"]

    def _stored(self, acknowledged: list[Message]) -> list[str]:
        found: list[str] = []
        with sqlite3.connect(self.machine.data / "agentls.db") as database:
            [said] = database.execute("PRAGMA integrity_check").fetchone()
            if said != "ok":
                found.append(f"integrity: {said}")
            if broken := database.execute("PRAGMA foreign_key_check").fetchall():
                found.append(f"foreign keys: {broken[:5]}")
            for answer in acknowledged:
                place = "SELECT 1 FROM messages WHERE id = ?1 UNION SELECT 1 FROM queue WHERE message_id = ?1"
                if database.execute(place, (answer["messageId"],)).fetchone() is None:
                    found.append(f"lost: {answer}")
        return found

    async def _after(self, talk: Talk) -> list[str]:
        found: list[str] = []
        state = await talk.ask("session/attach")
        kind = state["status"]["type"]
        self.counts[kind] += 1
        if kind == "waiting":
            found += await self._answered(talk, state)
        elif kind != "idle":
            found.append(f"after the restart it is {kind}: {state.get('turn')}")
        await stop_all(talk)
        found += await at_rest(talk)
        found += await usable(talk)
        if self.draw.random() < 0.5:
            await talk.ask("session/delete")
        return found

    async def _answered(self, talk: Talk, state: Message) -> list[str]:
        """What waited is answered; its turn goes on."""
        pending, turn = state["pending"], state["turn"]["id"]
        mark, found = talk.client.mark(), list[str]()
        if not pending["permissions"] and not pending["questions"]:
            return ["it waits for nothing"]
        for one in pending["permissions"]:
            reply = self.draw.choice(("once", "reject"))
            result = await talk.client.request(
                "permission/reply", {"permissionId": one["permissionId"], "reply": reply}
            )
            self.counts[f"reply {result['status']}"] += 1
        for one in pending["questions"]:
            params = {"questionId": one["questionId"], "answers": [["A"]]}
            result = await talk.client.request("question/reply", params)
            self.counts[f"answer {result['status']}"] += 1
        try:
            await talk.client.wait_for(
                "session/status", lambda p: p["status"]["type"] != "waiting", after=mark, seconds=8, sessionId=talk.id
            )
        except AssertionError as error:
            found.append(f"the turn {turn} did not go on: {str(error)[:1500]}")
        return found


def _prompts(client: Client) -> list[Message]:
    """Answers to prompts and commands that were read."""
    return [m["result"] for m in client.log if "result" in m and "messageId" in (m["result"] or {})]


async def attack(
    runs: int, seed: int, make: "Callable[[Machine, random.Random], Attack]" = Attack
) -> tuple[list[str], dict[str, Any]]:
    found: list[str] = []
    with tempfile.TemporaryDirectory(prefix="agentls-kill-") as name:
        log = Path(name) / "model.log"
        async with wild_model(seed, log) as url:
            machine = Machine(Path(name), url)
            it = make(machine, random.Random(seed))
            async with machine.editor(it.folders[1], env=PYTHON) as beside:
                talk = await Talk.begin(beside, it.folders[1])
                other = unique()
                shell = await talk.ask("session/shell", command=f"sleep {other}")
                for run in range(runs):
                    found += [f"#{run} {fault}" for fault in await it.one()]
                    state = await talk.ask("session/get")
                    if state["status"]["type"] != "busy" or not running(other):
                        found.append(f"#{run} the other server's turn was touched: {state}")
                        break
                await stop_all(talk)
                found += await usable(talk)
                if len(talk.seen("turn/ended", turnId=shell["turnId"])) != 1:
                    found.append("the other server's turn did not end once")
        found += [f"model: {json.dumps(problem)[:1500]}" for problem in problems_of(log)]
        found += logged(machine)
        lost = sorted(it.lost)
        figures: dict[str, Any] = {
            "counts": dict(it.counts),
            "texts cut": len(lost),
            "lost p50 ms": round(lost[len(lost) // 2][0] * 1000) if lost else 0,
            "lost max ms": round(lost[-1][0] * 1000) if lost else 0,
            "lost characters max": max((characters for _, characters in lost), default=0),
            "database KiB": (machine.data / "agentls.db").stat().st_size >> 10,
        }
    return found, figures


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Kills servers at random moments")
    parser.add_argument("--runs", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    faults, told = asyncio.run(attack(options.runs, options.seed))
    print("\n".join(faults))
    print(json.dumps(told, indent=1))
    print(f"{len(faults)} faults in {options.runs} runs")
    raise SystemExit(bool(faults))
