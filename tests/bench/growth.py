"""Whether a prompt costs more in a long session, and what opening and listing one costs."""

import time

from bench.desk import desk, turn
from bench.figures import Figure, of
from e2e.talk import Talk

SHORT, LONG = 200, 2_000


async def growth(runs: int) -> list[Figure]:
    return [*await _grown(SHORT, runs), *await _grown(LONG, runs)]


async def _grown(prompts: int, runs: int) -> list[Figure]:
    async with desk() as (machine, project), machine.editor(project) as client:
        talk = await Talk.begin(client, project)
        await turn(talk, "text:1")
        taken = [(await turn(talk, "text:1"))[1] for _ in range(prompts)]
        page = [await _took(talk, "session/messages", limit=500) for _ in range(runs)]
        attach = [await _took(talk, "session/attach") for _ in range(runs)]
    first, last = of(f"{prompts:,} prompts, the first 10", taken[:10]), of(f"{prompts:,}, the last 10", taken[-10:])
    ratio = of(f"{prompts:,}, last to first", [last.median / first.median], "x")
    return [first, last, ratio, of(f"{prompts:,}, a page of 500 messages", page), of(f"{prompts:,}, attach", attach)]


async def _took(talk: Talk, method: str, **params: int) -> float:
    began = time.perf_counter()
    await talk.ask(method, **params)
    return time.perf_counter() - began
