"""What a user waits for in a server that runs: the first text, long answers, tool steps, stop."""

import time

from bench.desk import desk, pss, turn
from bench.figures import Figure, of
from e2e.talk import Talk

STEPS = 20


async def hot(runs: int) -> list[Figure]:
    async with desk(files=STEPS) as (machine, project), machine.editor(project) as client:
        talk = await Talk.begin(client, project)
        await turn(talk, "text:20")
        first = [(await turn(talk, "text:20"))[0] for _ in range(runs * 3)]
        short = [(await turn(talk, "text:2000"))[1] for _ in range(runs)]
        long = [(await turn(talk, "text:20000"))[1] for _ in range(max(1, runs // 3))]
        steps = [(await turn(talk, f"tools:{STEPS}"))[1] / STEPS for _ in range(runs)]
        stops = [await stop(talk) for _ in range(runs)]
        memory = pss(client)
    return [
        of("prompt to first text", first),
        of("2,000 deltas", short),
        of("20,000 deltas", long),
        of("a tool step", steps),
        of("stop", stops),
        of("memory, after that", [memory], "MiB"),
    ]


async def stop(talk: Talk) -> float:
    """From the request to the turn's end."""
    mark = talk.client.mark()
    talk.send_prompt("slow:20")
    await talk.first_text(after=mark)
    began = time.perf_counter()
    talk.client.send("session/abort", {"sessionId": talk.id})
    await talk.ended(after=mark)
    took = time.perf_counter() - began
    talk.client.log.clear()
    return took
