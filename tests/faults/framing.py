"""Sends broken frames: `python -m faults.framing --messages 100000 --live 3000` (from `tests/`) prints what it found.

In process: bodies between pieces of rubbish, cut at random, through the reader of frames. Live: to a real server, each
followed by a request that must be answered.
"""

import argparse
import asyncio
import json
import random
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import psutil

from agentls.lsp.frames import BrokenFrame, FrameCutter, frame
from e2e.client import Client, framed
from e2e.model import says, scripted
from e2e.server import Machine
from e2e.talk import Talk
from faults.wild import PYTHON, logged, usable

HEADER_MOST, BODY_MOST, HANG_SECONDS = 256, 4_096, 1
SWALLOWED = 400
"""How many bytes a wrong length may claim: so many of what follows are lost with it, and no more."""
IDS = 10**6
"""From here on: no id of a request that is waited for."""

Draw = random.Random


def noise(draw: Draw, most: int = 200) -> bytes:
    alphabet = draw.choice((bytes(range(256)), b"Content-Length: 0123456789\r\n{}[]x", b"\r\n", b"\0"))
    return bytes(draw.choices(alphabet, k=draw.randrange(1, most)))


def header(*lines: bytes) -> bytes:
    return b"\r\n".join(lines) + b"\r\n\r\n"


def wrong_length(draw: Draw) -> bytes:
    body = b"{%b}" % (b" " * draw.randrange(SWALLOWED))
    return header(b"Content-Length: %d" % draw.randrange(SWALLOWED)) + body


def odd_length(draw: Draw) -> bytes:
    value = draw.choice((b"-5", b"0x10", b"1e3", b"", b" ", b"NaN", b"99999999999999999999", b"12 12", b"+3", b"1,0"))
    return header(b"Content-Length: " + value)


def two_lengths(draw: Draw) -> bytes:
    return header(b"Content-Length: %d" % draw.randrange(9), b"Content-Length: %d" % draw.randrange(9)) + b"{}"


def endless_header(draw: Draw) -> bytes:
    return b"X-Much: " + b"y" * draw.randrange(HEADER_MOST, 4 * HEADER_MOST) + b"\r\n\r\n"


def bare_lines(draw: Draw) -> bytes:
    body = b'{"jsonrpc":"2.0"}'
    return b"Content-Length: %d%b%b" % (len(body), draw.choice((b"\n\n", b"\r\r", b"\r\n", b" \r\n\r\n")), body)


def printed(draw: Draw) -> bytes:
    return draw.choice(
        (b"Traceback (most recent call last):\n  File x\n", b"DEBUG: hello\r\n\r\n", b"\x1b[32mok\x1b[0m\n")
    )


def cut_header(draw: Draw) -> bytes:
    whole = header(b"Content-Length: 2")
    return whole[: draw.randrange(1, len(whole))]


RUBBISH: tuple[Callable[[Draw], bytes], ...] = (
    noise,
    wrong_length,
    odd_length,
    two_lengths,
    endless_header,
    bare_lines,
    printed,
    cut_header,
)


def in_process(messages: int, seed: int) -> tuple[list[str], dict[str, float]]:
    """Every body that stands clear of the rubbish comes out, each once and in order."""
    draw, found, slowest, lost, broken = Draw(seed), list[str](), 0.0, 0, 0
    cutter, sent = FrameCutter(HEADER_MOST, BODY_MOST), 0
    while sent < messages:
        pieces = [draw.choice(RUBBISH)(draw) for _ in range(draw.choice((1, 1, 2, 5)))]
        bodies = [b'{"number":%d,"more":"%b"}' % (sent + n, b"z" * draw.randrange(300)) for n in range(12)]
        shield = b" " * (HEADER_MOST + BODY_MOST if any(b"ength" in piece for piece in pieces) else HEADER_MOST)
        stream = b"".join(pieces) + shield + b"\r\n\r\n" + b"".join(map(frame, bodies))
        sent += len(pieces) + len(bodies)
        got: list[bytes] = []
        at = 0
        while at < len(stream):
            size = draw.choice((1, 7, 64, 1_000, 1 << 16))
            began = time.perf_counter()
            for item in cutter.feed(stream[at : at + size]):
                if isinstance(item, BrokenFrame):
                    broken += 1
                else:
                    got.append(item)
            slowest = max(slowest, time.perf_counter() - began)
            at += size
        missing = [body for body in bodies if body not in got]
        lost += len(missing)
        if missing or [body for body in got if body in bodies] != bodies:
            found.append(f"#{sent}: {len(missing)} of 12 bodies lost behind {pieces!r}"[:1_000])
    if slowest > HANG_SECONDS:
        found.append(f"a piece took {slowest:.1f} s")
    return found, {"messages": sent, "broken": broken, "lost": lost, "slowest ms": round(slowest * 1000, 2)}


def bitten(draw: Draw) -> bytes:
    """A whole request with some bytes changed."""
    body = bytearray(json.dumps({"jsonrpc": "2.0", "id": IDS + draw.randrange(IDS), "method": "session/list"}).encode())
    for _ in range(draw.randrange(1, 4)):
        body[draw.randrange(len(body))] = draw.randrange(256)
    return framed(bytes(body))


def odd_value(draw: Draw) -> bytes:
    params = draw.choice((None, [], [[]], "x", 5, {"limit": "x"}, {"sessionId": {"a": [1]}}, {"x": "y" * 10_000}))
    method = draw.choice(("session/list", "session/get", "permission/list", "no/such", "", "$/x", 5, None, ["a"]))
    identity = draw.choice((IDS + draw.randrange(IDS), str(draw.random()), None, [1], {"a": 1}, 1.5, True))
    return framed(
        {"jsonrpc": draw.choice(("2.0", "2.0", "1.0", 2, None)), "id": identity, "method": method, "params": params}
    )


def odd_json(draw: Draw) -> bytes:
    return framed(
        draw.choice(
            (
                b"",
                b"{",
                b"[]",
                b"[[]]" * 3,
                b"null",
                b'"text"',
                b"[" * draw.randrange(1, 20_000),
                b'{"a":' * draw.randrange(1, 5_000),
                b"1e999",
                b"9" * 5_000,
                b'{"jsonrpc":"2.0","id":"a","id":"b","method":"session/list","method":"x"}',
                b'{"jsonrpc":"2.0","id":"c","result":{}}',
                b'{"jsonrpc":"2.0","id":"\\ud83d","method":"session/list"}',
                b'{"jsonrpc":"2.0","method":"\xff\xfe"}',
                b"\xef\xbb\xbf{}",
            )
        )
    )


LIVE = (*RUBBISH, bitten, odd_value, odd_json, odd_value, odd_json)


async def alive(messages: int, seed: int) -> tuple[list[str], dict[str, float]]:
    """After each the next request is answered."""
    draw, found, counts, waits = Draw(seed), list[str](), Counter[str](), list[float]()
    with tempfile.TemporaryDirectory(prefix="agentls-framing-") as name:
        async with scripted() as model:
            machine = Machine(Path(name), model.url)
            folder = machine.project("main")
            async with machine.editor(folder, env=PYTHON) as client:
                memory = psutil.Process(client.process.pid).memory_info
                before = memory().rss
                for number in range(messages):
                    kind = draw.choice(LIVE)
                    counts[kind.__name__] += 1
                    piece = kind(draw)
                    began = time.monotonic()
                    try:
                        await _probed(client, piece, number)
                    except AssertionError as error:
                        found.append(f"#{number} {kind.__name__} {piece[:300]!r}: {str(error)[:300]}")
                        break
                    waits.append(time.monotonic() - began)
                    del client.log[:]
                grown = (memory().rss - before) >> 20
                model.plays(says("plain words"))
                found += await usable(await Talk.begin(client, folder))
                if await client.shut_down() != 0:
                    found.append("it did not end well")
        found += logged(machine)
    waits.sort()
    figures = {
        "messages": len(waits),
        "p99 ms": round(waits[int(len(waits) * 0.99)] * 1000, 1),
        "max ms": round(waits[-1] * 1000, 1),
        "MiB grown": grown,
    }
    return found, figures


async def _probed(client: Client, piece: bytes, number: int) -> None:
    """A header may be as long as 8 KiB: so much is sent for rubbish to swallow."""
    shield = b" " * 9_000 + b"\r\n\r\n" if not piece.startswith(b"Content-Length") or b"\r\n\r\n" not in piece else b""
    shield += framed({"jsonrpc": "2.0", "method": "$/pad", "params": {"pad": " " * (2 * SWALLOWED)}}) * 2
    probe = f"probe {number}"
    client.raw(piece + shield + framed({"jsonrpc": "2.0", "id": probe, "method": "session/list"}))
    response = await client.response(probe, 5)
    assert "result" in response, response


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Sends broken frames")
    parser.add_argument("--messages", type=int, default=100_000, help="in process")
    parser.add_argument("--live", type=int, default=3_000, help="to a server")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    faults, told = in_process(options.messages, options.seed)
    more, lived = asyncio.run(alive(options.live, options.seed))
    print("\n".join((faults + more)[:40]))
    print(json.dumps({"in process": told, "live": lived}, indent=1))
    print(f"{len(faults) + len(more)} faults")
    raise SystemExit(bool(faults or more))
