"""Editors that end in a wrong way: `python -m faults.editors --runs 60` (from `tests/`) prints what it found.

As `faults.kill`, but it is the editor that goes: the server has to notice, end by itself, and take its commands along.
"""

import argparse
import asyncio
import json
import random
import signal
from collections import defaultdict
from collections.abc import Awaitable, Callable
from typing import Any

import psutil

from e2e.client import Client
from e2e.server import Machine
from faults import kill

EXIT_SECONDS = 5


def _close(client: Client, *descriptors: int) -> None:
    for number in descriptors:
        pipe = client.process._transport.get_pipe_transport(number)
        if pipe is not None:
            pipe.close()


async def dies(client: Client) -> None:
    _close(client, 0, 1, 2)


async def closes_its_output(client: Client) -> None:
    """What the server reads."""
    _close(client, 0)


async def closes_its_input(client: Client) -> None:
    """What the server writes: it finds out with the next message."""
    _close(client, 1)
    client.send("session/list")


async def never_reads_and_dies(client: Client) -> None:
    client.pause()
    for _ in range(400):
        client.send("session/list", {"limit": 100})
    await asyncio.sleep(0.3)
    _close(client, 0, 1)


async def exits_without_shutdown(client: Client) -> None:
    client.notify("exit")


async def shuts_down_and_exits_at_once(client: Client) -> None:
    client.send("shutdown")
    client.notify("exit")
    client.process.send_signal(signal.SIGTERM)


async def terminates(client: Client) -> None:
    client.process.send_signal(signal.SIGTERM)


async def hangs_up(client: Client) -> None:
    client.process.send_signal(signal.SIGHUP)


async def stops_in_a_message(client: Client) -> None:
    client.raw(b'Content-Length: 5000\r\n\r\n{"jsonrpc":')
    _close(client, 0)


Leave = Callable[[Client], Awaitable[None]]
WAYS: tuple[Leave, ...] = (
    dies,
    closes_its_output,
    closes_its_input,
    never_reads_and_dies,
    exits_without_shutdown,
    shuts_down_and_exits_at_once,
    terminates,
    hangs_up,
    stops_in_a_message,
)


class Attack(kill.Attack):
    def __init__(self, machine: Machine, draw: random.Random) -> None:
        super().__init__(machine, draw)
        self.took: dict[str, list[float]] = defaultdict(list)
        self.stayed: list[str] = []
        self._ways: list[Leave] = []

    async def _leave(self, client: Client) -> None:
        self._ways = self._ways or self.draw.sample(WAYS, len(WAYS))
        way, loop = self._ways.pop(), asyncio.get_running_loop()
        server = psutil.Process(client.process.pid)
        await way(client)
        began = loop.time()
        try:
            async with asyncio.timeout(2 * EXIT_SECONDS):
                await client.process.wait()
        except TimeoutError:
            cpu = server.cpu_times()
            self.stayed.append(f"{way.__name__}: still there after {2 * EXIT_SECONDS} s, {cpu}")
            client.process.kill()
        self.took[way.__name__].append(loop.time() - began)
        await client.gone()

    async def one(self) -> list[str]:
        found = await super().one() + await self._early()
        found += self.stayed
        self.stayed = []
        return found

    async def _early(self) -> list[str]:
        """It is killed before it has begun, at any moment of its start."""
        async with self.machine.process(self.folders[0]) as client:
            client.send("initialize", {"processId": None, "rootUri": None, "capabilities": {}})
            await asyncio.sleep(self.draw.uniform(0, 1.2))
            client.process.send_signal(self.draw.choice((signal.SIGTERM, signal.SIGKILL, signal.SIGINT)))
            try:
                await client.gone(EXIT_SECONDS)
            except TimeoutError:
                return ["it outlived a signal at its start"]
        return []


async def attack(runs: int, seed: int) -> tuple[list[str], dict[str, Any]]:
    attacks: list[Attack] = []

    def make(machine: Machine, draw: random.Random) -> Attack:
        attacks.append(Attack(machine, draw))
        return attacks[0]

    found, figures = await kill.attack(runs, seed, make)
    for name, took in attacks[0].took.items():
        if max(took) > EXIT_SECONDS:
            found.append(f"{name}: gone only after {max(took):.1f} s")
    exits = {name: f"n {len(took)}, max {max(took):.2f} s" for name, took in sorted(attacks[0].took.items())}
    return found, {"exit": exits} | figures


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Editors that end in a wrong way")
    parser.add_argument("--runs", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # under `nohup` the servers would not hear it
    faults, told = asyncio.run(attack(options.runs, options.seed))
    print("\n".join(faults))
    print(json.dumps(told, indent=1))
    print(f"{len(faults)} faults in {options.runs} runs")
    raise SystemExit(bool(faults))
