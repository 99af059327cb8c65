"""Throughput of the stream path, chunks a second: `python tests/bench/stream.py [CHUNKS]`.

`parse` is the pure part (frames, decoder); `client` is the whole way over HTTP on loopback, with the server in it.
"""

import sys
import time
from pathlib import Path

import anyio

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from agentls.model.client import ModelRequest, TextDelta
from agentls.model.openai_chat import OpenAIChat
from agentls.model.settings import ProviderSettings
from agentls.model.sse import ChunkReader
from agentls.model.stream import Decoder
from agentls.schema.model import ModelRef
from fakes.openai_server import serve
from fakes.replies import C, answer, text


def parse(count: int) -> float:
    endpoint = ProviderSettings("local", "http://127.0.0.1:1/v1").endpoint("m")
    reader, decoder = ChunkReader(endpoint), Decoder(endpoint)
    frame = C({"content": "word "})
    began = time.perf_counter()
    for _ in range(count):
        for chunk in reader.feed(frame):
            decoder.feed(chunk)
    return count / (time.perf_counter() - began)


async def client(count: int) -> tuple[float, float]:
    reply = answer(text("word " * count, count))
    request = ModelRequest(ModelRef(provider_id="local", model_id="m"), (b'{"role":"user","content":"hi"}',))
    async with serve([reply] * 4) as server:
        chat = OpenAIChat(ProviderSettings("local", server.url))
        rates: list[float] = []
        first = 0.0
        for _ in range(4):
            began = time.perf_counter()
            seen = 0
            async for event in chat.stream(request):
                if isinstance(event, TextDelta):
                    seen += 1
                    if seen == 1:
                        first = time.perf_counter() - began
            rates.append(seen / (time.perf_counter() - began))
        await chat.aclose()
    return max(rates), first * 1000


if __name__ == "__main__":
    chunks = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    rate, first_ms = anyio.run(client, chunks)
    print(f"parse {parse(chunks * 10):,.0f} chunks/s; client {rate:,.0f} chunks/s; first delta {first_ms:.1f} ms")
