"""A model that does anything, as a process of its own: `python -m faults.model --seed 1 --log FILE` prints its URL.

It is strict about requests, and checks the prefix rule: in a conversation (named by its `MARK=…`) each
request begins with the bytes of the one before. Faults go to the log, a JSON line each. A prompt that ends with PLAIN
gets a short text; the mark is also the number of seconds that commands sleep.
"""

import argparse
import json
import random
import re
from pathlib import Path
from typing import Any

import anyio

from fakes.openai_server import fault, serve
from fakes.replies import C, Event, Every, Hang, Pause, Reply, Request, Reset, Status, answer, call, text

COMMANDS = (
    "sleep {n}",
    "echo begun; sleep {n}",
    "(sleep {n} & sleep {n}) & wait",
    "setsid sleep {n} & sleep {n}",
    "trap '' TERM; while :; do sleep {n}; done",
    "while :; do echo spam; done; sleep {n}",
    "nohup sleep {n} > /dev/null 2>&1 & echo left",
    "echo quick",
    "ls",
)
_WALK = json.JSONDecoder()


def elements(body: bytes) -> tuple[str, list[str]]:
    """`tools` and each element of `messages`, as they were sent."""
    source, at, tools, messages = body.decode(), 1, "", list[str]()
    while source[at - 1] != "}":
        name, at = _WALK.raw_decode(source, at)
        if name == "messages":
            at += 2
            while source[at - 1] != "]":
                _, end = _WALK.raw_decode(source, at)
                messages.append(source[at:end])
                at = end + 1
        else:
            _, end = _WALK.raw_decode(source, at + 1)
            tools = source[at + 1 : end] if name == "tools" else tools
            at = end
        at += 1
    return tools, messages


class Prefixes:
    """Of each conversation, the last request."""

    def __init__(self) -> None:
        self._last: dict[str, tuple[str, list[str]]] = {}

    def broken(self, key: str, body: bytes) -> str | None:
        before, now = self._last.get(key) if key != "?" else None, elements(body)
        self._last[key] = now
        if before is None or before[1][0] != now[1][0]:
            return None if before is None else "the system text changed"
        if before[0] != now[0]:
            return "the tools changed"
        for place, (old, new) in enumerate(zip(before[1], now[1], strict=False)):
            if old != new:
                return f"messages[{place}] was {old[-600:]}, is {new[-600:]}"
        return None if len(now[1]) >= len(before[1]) else "there are fewer messages"


class Wild:
    def __init__(self, seed: int, log: Path | None) -> None:
        self._random = random.Random(seed)
        self._log = log
        self._prefixes = Prefixes()

    def __call__(self, request: Request) -> Reply:
        users = [message["content"] for message in request.json["messages"] if message["role"] == "user"]
        key = (re.findall(rb"(?:MARK=|sleep )(\d{8})", request.body) or [b"?"])[0].decode()
        for problem in (fault(request.body), self._prefixes.broken(key, request.body)):
            if problem is not None:
                self.tell(key, problem)
        if str(users[-1]).endswith("PLAIN"):
            return answer(text("plain words"))
        mark = (re.findall(r"MARK=(\d+)", str(users[-1])) or ["1"])[-1]
        return self._anything(mark)

    def tell(self, key: str, problem: str) -> None:
        if self._log:
            with self._log.open("a", encoding="utf-8") as file:
                file.write(json.dumps({"session": key, "problem": problem}) + "\n")

    def _anything(self, mark: str) -> Reply:
        draw = self._random
        match draw.randrange(19):
            case 0:
                return answer([Hang()])
            case 1:
                return answer(text("one two three ", 3), [Hang()])
            case 2:
                return answer([C({"reasoning_content": "hm "})] * 5, [Every(0.003, C({"content": "word "}))])
            case 3:
                return Status(429, {"error": {"message": "slow down"}}, {"retry-after": draw.choice(("0", "30"))})
            case 4:
                return answer(text("half", 2), [Reset()])
            case 5 | 6 | 7:
                return self._calls(("bash", {"command": draw.choice(COMMANDS).replace("{n}", mark)}))
            case 8:
                return self._calls(
                    ("read", {"filePath": "a.txt"}), ("glob", {"pattern": "**"}), ("grep", {"pattern": "o"})
                )
            case 9:
                name = f"{draw.randrange(1000)}.txt"
                return self._calls(("write", {"filePath": name, "content": "x\n" * draw.randrange(2000)}))
            case 10:
                question = {"questions": [{"header": "H", "question": "?", "options": [{"label": "A"}]}]}
                return self._calls(("question", question), ("bash", {"command": "ls"}))
            case 11:
                item = {"content": "x", "status": "pending", "priority": "low", "id": "1"}
                return self._calls(("todowrite", {"todos": [item]}), ("edit", {"filePath": "a.txt"}))
            case 12:
                return self._calls(
                    ("bash", {"command": "ls"}),
                    ("write", {"filePath": "b.txt", "content": "x"}),
                    ("read", {"filePath": "/etc/hostname"}),
                )
            case 13:
                start = call("bash", {"command": "ls -la " * 20})
                return answer(start[:3], [Hang()])
            case 14 | 15 | 16 | 17:
                words = [C({"content": f"{draw.randrange(10**6)} words of a long answer. "}) for _ in range(300)]
                return answer([event for word in words for event in (word, Pause(0.01))])
            case _:
                return answer(text("some words of an answer", 6))

    def _calls(self, *made: tuple[str, dict[str, Any]]) -> Reply:
        events: list[Event] = []
        for index, (name, arguments) in enumerate(made):
            number = self._random.randrange(10**9)
            events += call(name, arguments, call_id=f"call_{number}_{index}", index=index)
        return answer(events, finish="tool_calls")


async def main(options: argparse.Namespace) -> None:
    wild = Wild(options.seed, Path(options.log) if options.log else None)
    async with serve(wild) as server:
        print(server.url, flush=True)
        await anyio.sleep_forever()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="A model that does anything")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--log")
    anyio.run(main, parser.parse_args())
