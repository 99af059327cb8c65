"""Prints how fast the transport is: `python tests/bench/transport.py`, on a machine that does nothing else."""

import statistics
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
from lsp.wire import RawClient, framed

ROUNDS = 5


def pipelined(client: RawClient, count: int) -> float:
    data = b"".join(
        framed({"jsonrpc": "2.0", "id": f"r{n}", "method": "test/echo", "params": {"n": n}}) for n in range(count)
    )
    began = time.perf_counter()
    client.raw(data)
    client.answer(f"r{count - 1}")
    elapsed = time.perf_counter() - began
    client.seen.clear()
    return elapsed


def deltas(client: RawClient, count: int) -> float:
    """As the server measures it: the client's own parsing takes longer."""
    elapsed = client.result("test/flood", {"count": count, "size": 20}, seconds=30)["number"]
    client.seen.clear()
    return elapsed


def round_trip(client: RawClient, count: int) -> tuple[float, float]:
    taken: list[float] = []
    for _ in range(count):
        began = time.perf_counter()
        client.result("test/echo")
        taken.append(time.perf_counter() - began)
    client.seen.clear()
    taken.sort()
    return taken[count // 2], taken[count * 99 // 100]


def lag(client: RawClient) -> float:
    client.pause()
    request = client.request("test/lag", {"seconds": 2})
    for _ in range(20):
        client.request("test/stream", {"count": 1000, "size": 100})
    time.sleep(2)
    client.resume()
    return client.answer(request, seconds=30)["result"]["number"]


def measured(options: dict) -> None:
    client = RawClient(Path(tempfile.mkdtemp()))
    client.initialize(options)
    client.result("test/attach")
    every = options["events"]["coalesceMs"]
    figures = [deltas(client, 20_000) for _ in range(ROUNDS)]
    print(f"20,000 deltas, coalesceMs {every}: {statistics.median(figures) * 1000:.0f} ms")
    if every:
        figures = [pipelined(client, 1000) for _ in range(ROUNDS)]
        print(f"1,000 pipelined requests: {statistics.median(figures) * 1000:.0f} ms")
        middle, late = round_trip(client, 500)
        print(f"round trip p50 {middle * 1000:.2f} ms, p99 {late * 1000:.2f} ms")
    print(f"longest loop lag while the client does not read, coalesceMs {every}: {lag(client) * 1000:.1f} ms")
    client.kill()


if __name__ == "__main__":
    for milliseconds in (0, 33):
        measured({"events": {"coalesceMs": milliseconds}})
