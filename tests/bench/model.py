"""A fast scripted model in a process of its own: the user's last words say what it does.

`text:N` answers with N deltas, `tools:K` reads a file K times, one call a request, `slow:N` a delta each N ms until it
is closed. `python -m bench.model` prints its base URL and serves until it is killed.
"""

import re
from functools import cache
from typing import Any

import anyio

from fakes.openai_server import serve
from fakes.replies import Answer, C, Every, Reply, Request, Status, answer, call

ORDER = re.compile(r"(text|tools|slow):(\d+)")


def reply(request: Request) -> Reply:
    messages = request.json["messages"]
    last = max(place for place, message in enumerate(messages) if message["role"] == "user")
    found = ORDER.findall(str(messages[last]["content"]))
    if not found:
        return Status(400, {"error": {"message": "The words name nothing to do: text:N, tools:K or slow:N."}})
    kind, count = found[-1][0], int(found[-1][1])
    if kind == "text":
        return text(count)
    if kind == "slow":
        return Answer([C({"content": "It begins. "}), Every(count / 1000, C({"content": "and so on "}))])
    results = [message for message in messages[last:] if message["role"] == "tool"]
    return text(1) if len(results) >= count else read(len(results), messages)


@cache
def text(count: int) -> Answer:
    return answer([C({"content": f"word {number} "}) for number in range(count)])


def read(number: int, messages: list[dict[str, Any]]) -> Answer:
    made = call("read", {"filePath": f"file{number}.txt"}, call_id=f"call_{len(messages)}_{number}", size=1000)
    return answer(made, finish="tool_calls")


async def main() -> None:
    async with serve(reply) as server:
        print(server.url, flush=True)
        await anyio.sleep_forever()


if __name__ == "__main__":
    anyio.run(main)
