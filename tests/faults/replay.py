"""Attaches at random moments with a random `since`: `python -m faults.replay --runs 25` (from `tests/`).

A client that lost all after `since` and attached must have what a client has that saw everything.
"""

import argparse
import asyncio
import random
import tempfile
from contextlib import suppress
from pathlib import Path

from e2e.client import Client, Message
from e2e.mirror import Mirror
from e2e.server import Machine, unique
from e2e.talk import Talk
from faults.wild import PYTHON, Noise, logged, stop_all, wild_model

CUTS = 6


class Attack:
    def __init__(self, client: Client, folder: Path, draw: random.Random) -> None:
        self.client = client
        self.folder = folder
        self.draw = draw
        self.found: list[str] = []
        self.cuts = 0

    async def one(self) -> None:
        began = self.client.mark()
        talk = await Talk.begin(self.client, self.folder, mode=self.draw.choice(("ask", "auto")))
        first = await talk.ask("session/attach")
        mark = unique()
        talk.send_prompt(f"go. MARK={mark}")
        acting = asyncio.create_task(Noise(talk, self.draw, mark).go_on())
        cuts = dict([await self._attach(talk, first, began) for _ in range(CUTS)])
        acting.cancel()
        with suppress(asyncio.CancelledError):
            await acting
        await stop_all(talk)
        whole = Mirror(talk.id)
        whole.attached(await talk.ask("session/attach"))
        log = self.client.log[began:]
        followed = following(talk.id, first, log)
        self._compare("in the end", followed, whole)
        self.found += [f"a delta that does not fit: {misfit}" for misfit in followed.misfits]
        for place, message in enumerate(log):
            if message.get("id") in cuts and "method" not in message:
                self._cut(talk.id, first, log[:place], cuts[message["id"]], message["result"])

    async def _attach(self, talk: Talk, first: Message, began: int) -> tuple[int, int]:
        """The request, and the `since` that it asked for."""
        await asyncio.sleep(self.draw.uniform(0.02, 0.3))
        since = self.draw.choice([0, *(seq for seq in map(seq_of, self.client.log[began:]) if seq)])
        position = {"epoch": first["position"]["epoch"], "seq": since}
        request_id = self.client.send("session/attach", {"sessionId": talk.id, "since": position})
        await self.client.response(request_id)
        return request_id, since

    def _cut(self, session_id: str, first: Message, log: list[Message], since: int, result: Message) -> None:
        lost = next((place for place, message in enumerate(log) if seq_of(message) > since), len(log))
        cut = following(session_id, first, log[:lost])
        cut.attached(result)
        self.cuts += 1
        self._compare(f"since {since}", cut, following(session_id, first, log))

    def _compare(self, when: str, one: Mirror, other: Mirror) -> None:
        mine, theirs = one.state(), other.state()
        self.found += [
            f"{when}, {name}: {mine[name]} is not {theirs[name]}"
            for name in mine
            if name != "pending" and mine[name] != theirs[name]
        ]


def seq_of(message: Message) -> int:
    return message.get("params", {}).get("seq", 0) if "method" in message else 0


def following(session_id: str, first: Message, log: list[Message]) -> Mirror:
    """A client that saw all of that."""
    mirror = Mirror(session_id)
    mirror.attached(first)
    for message in log:
        if "method" in message:
            mirror.notified(message["method"], message["params"])
    return mirror


async def attack(runs: int, seed: int) -> tuple[list[str], int]:
    with tempfile.TemporaryDirectory(prefix="agentls-replay-") as name:
        async with wild_model(seed, Path(name) / "model.log") as url:
            machine = Machine(Path(name), url)
            folder = machine.project("replay", {"a.txt": "one\ntwo\n"})
            async with machine.editor(folder, env=PYTHON) as client:
                it = Attack(client, folder, random.Random(seed))
                for _ in range(runs):
                    await it.one()
        return it.found + logged(machine), it.cuts


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Attaches at random moments")
    parser.add_argument("--runs", type=int, default=25)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    faults, cuts = asyncio.run(attack(options.runs, options.seed))
    print("\n".join(faults))
    print(f"{len(faults)} faults in {cuts} cuts")
    raise SystemExit(bool(faults))
