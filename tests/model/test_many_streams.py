"""More streams at once than a pool of connections usually allows."""

import anyio

from fakes.openai_server import serve
from fakes.replies import DONE, Answer, C, F, Gate, Reply, Request
from model.chats import client_of, collect, said

STREAMS = 120


async def test_a_hundred_and_twenty_sessions_stream_at_once() -> None:
    """None of them ends before all have begun."""

    def reply(_: Request) -> Reply:
        if len(server.requests) == STREAMS:
            server.open("all")
        return Answer([C({"content": "begun, "}), Gate("all"), C({"content": "done"}), F("stop"), DONE])

    texts: list[str] = []
    async with serve(reply) as server, client_of(server) as client:

        async def one() -> None:
            texts.append(said(await collect(client)))

        with anyio.fail_after(25):
            async with anyio.create_task_group() as tasks:
                for _ in range(STREAMS):
                    tasks.start_soon(one)
    assert texts == ["begun, done"] * STREAMS
    assert server.connections == STREAMS
