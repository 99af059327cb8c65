"""From the start of the process to a session, and to the first text of a prompt that is sent at once."""

import time

from bench.desk import LONG, desk, pss
from bench.figures import Figure, of
from e2e.talk import Talk


async def start(runs: int) -> list[Figure]:
    cold: list[float] = []
    first: list[float] = []
    idle: list[float] = []
    async with desk() as (machine, project):
        for number in range(runs + 1):
            began = time.perf_counter()
            async with machine.editor(project) as client:
                talk = await Talk.begin(client, project)
                await talk.ask("session/attach")
                opened, memory = time.perf_counter() - began, pss(client)
                talk.send_prompt("text:20")
                await talk.wait("part/delta", lambda p: p["field"] == "text", seconds=LONG)
                answered = time.perf_counter() - began
            if number:  # the first one makes the database and reads files that no one read yet
                cold.append(opened)
                first.append(answered)
                idle.append(memory)
    return [
        of("start to session", cold),
        of("start to first text", first),
        of("memory, session open", idle, "MiB"),
    ]
