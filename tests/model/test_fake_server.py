"""The scripted server as a process of its own, and over TLS."""

import json
import ssl
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import anyio
import pytest

from agentls.model.client import ModelRequest, TextDelta, ToolCall
from agentls.model.failures import FailureKind, ModelFailure
from agentls.model.openai_chat import OpenAIChat
from agentls.model.settings import ProviderSettings
from agentls.schema.model import ModelRef
from fakes.certificate import make_certificate
from fakes.openai_server import serve
from fakes.replies import Status, answer, text

REQUEST = ModelRequest(ModelRef(provider_id="local", model_id="m"), (b'{"role":"user","content":"hi"}',))
SCRIPT = [
    {"text": "Hello", "deltas": 2, "reasoning": "hm", "calls": [{"name": "list"}]},
    {"events": [{"delta": {"content": "raw"}}, {"gate": "go"}, {"finish": "stop"}, "done"]},
    {"status": 429, "headers": {"retry-after": "3"}, "body": {"error": {"message": "slow"}}, "repeat": True},
]


@pytest.fixture
def process(tmp_path: Path) -> Iterator[tuple[str, Path]]:
    script, log = tmp_path / "script.json", tmp_path / "log.jsonl"
    script.write_text(json.dumps(SCRIPT))
    command = [sys.executable, "-m", "fakes.openai_server", "--script", str(script), "--log", str(log), "--strict"]
    folder = Path(__file__).parent.parent
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout
        yield running.stdout.readline().strip(), log
        running.terminate()


async def test_as_a_process_it_plays_its_script_and_logs_exact_bodies(process: tuple[str, Path]) -> None:
    url, log = process
    client = OpenAIChat(ProviderSettings("local", url))
    events = [event async for event in client.stream(REQUEST)]
    assert [event.text for event in events if isinstance(event, TextDelta)] == ["Hel", "lo"]
    assert [event.name for event in events if isinstance(event, ToolCall)] == ["list"]
    stream = client.stream(REQUEST)
    assert await anext(stream) == TextDelta("raw")
    async with await anyio.connect_tcp("127.0.0.1", int(url.split(":")[2].split("/")[0])) as opener:
        await opener.send(b"POST /gate/go HTTP/1.1\r\ncontent-length: 0\r\n\r\n")
        assert b"200" in await opener.receive()
    assert [type(event).__name__ async for event in stream] == ["StepEnd"]
    for _ in range(2):
        with pytest.raises(ModelFailure, match="slow"):
            await anext(client.stream(REQUEST))
    await client.aclose()
    bodies = [json.loads(line)["body"] for line in log.read_text().splitlines()]
    assert len(bodies) == 4
    assert bodies[0].startswith('{"model":"m","messages":[{"role":"user","content":"hi"}],')


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_certificate(tmp_path_factory.mktemp("certificate"))


def context_of(certificate: Path) -> ssl.SSLContext:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate, certificate.with_name("key.pem"))
    return context


async def test_a_ca_file_makes_an_own_certificate_trusted(certificate: Path) -> None:
    async with serve([answer(text("safe"))], tls=context_of(certificate)) as server:
        client = OpenAIChat(ProviderSettings("local", server.url, ca_file=str(certificate)))
        assert TextDelta("safe") in [event async for event in client.stream(REQUEST)]
        await client.aclose()


async def test_an_untrusted_certificate_is_refused_with_advice(certificate: Path) -> None:
    async with serve([], tls=context_of(certificate)) as server:
        client = OpenAIChat(ProviderSettings("local", server.url))
        with pytest.raises(ModelFailure, match="caFile") as caught:
            await anext(client.stream(REQUEST))
        await client.aclose()
    assert caught.value.kind is FailureKind.NETWORK
    assert not caught.value.retryable


async def test_a_redirect_from_http_to_https_fails_closed(certificate: Path) -> None:
    async with serve([answer(text("stolen"))], tls=context_of(certificate)) as secure:
        target = f"{secure.url}/chat/completions"
        async with serve([Status(307, b"", {"location": target})]) as plain:
            client = OpenAIChat(ProviderSettings("local", plain.url))
            with pytest.raises(ModelFailure, match="certificate"):
                await anext(client.stream(REQUEST))
            await client.aclose()
        assert secure.requests == []
