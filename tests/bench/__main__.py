"""How fast the server is: `python -m bench [PART ...] [--runs N] [--json FILE]`, from `tests/`, on a quiet machine."""

import argparse
import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path

from bench.figures import Figure
from bench.growth import growth
from bench.hot import hot
from bench.lagging import lag, many
from bench.start import start

PARTS: dict[str, Callable[[int], Awaitable[list[Figure]]]] = {
    "start": start,
    "hot": hot,
    "lag": lag,
    "many": many,
    "growth": growth,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, prog="python -m bench")
    parser.add_argument("parts", nargs="*", choices=[[], *PARTS], metavar=f"PART ({', '.join(PARTS)})")
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--json", type=Path, help="also write the figures there")
    given = parser.parse_args()
    found: dict[str, list[Figure]] = {}
    for name in given.parts or PARTS:
        found[name] = asyncio.run(PARTS[name](given.runs))
        print(f"{name}\n" + "\n".join(f"  {figure.line()}" for figure in found[name]), flush=True)
    if given.json:
        rows = {name: [figure.members() for figure in figures] for name, figures in found.items()}
        given.json.write_text(json.dumps(rows, indent=1), encoding="utf-8")


main()
