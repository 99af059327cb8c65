"""Which providers there are: settings, environment, local servers, the demo."""

import subprocess
import sys
from collections.abc import Mapping
from typing import Any

import anyio
import pytest

from agentls.config.settings import Settings
from agentls.errors import AgentError, ErrorKind
from agentls.model.client import ModelClient
from agentls.model.known_providers import Local
from agentls.model.local import probe
from agentls.model.providers import DEMO, Providers
from agentls.model.scripted import ScriptedModel
from agentls.model.settings import ProviderSettings
from agentls.schema.model import ModelRef
from fakes.openai_server import serve


class Made:
    """Stands for the app, which makes clients: it notes for which settings."""

    def __init__(self) -> None:
        self.settings: list[ProviderSettings] = []

    def client(self, settings: ProviderSettings) -> ModelClient:
        self.settings.append(settings)
        return ScriptedModel()

    def providers(
        self, settings: Mapping[str, Any], environment: Mapping[str, str] | None = None, local: Any = ()
    ) -> Providers:
        return Providers(Settings.model_validate(settings), environment or {}, self.client, ScriptedModel, local)


def ref(text: str) -> ModelRef:
    provider, _, model = text.partition("/")
    return ModelRef(provider_id=provider, model_id=model)


OWN = {"provider": {"own": {"options": {"baseURL": "http://localhost:1/v1/"}, "models": {"m": {}}}}}


async def test_with_nothing_at_all_there_is_the_demo() -> None:
    providers = Made().providers({})
    assert await providers.default_model() == DEMO
    assert [str(model.ref) for model in await providers.models()] == ["demo/demo"]
    assert await providers.client(DEMO) is await providers.client(DEMO)


async def test_settings_come_before_the_environment_and_that_before_local_servers() -> None:
    environment = {"GROQ_API_KEY": "g", "OPENAI_API_KEY": "o"}
    async with serve([], models=["qwen"]) as server:
        local = (Local("ollama", "Ollama", server.url),)
        assert str(await Made().providers({"model": "a/b/c"}, environment, local).default_model()) == "a/b/c"
        assert str(await Made().providers(OWN, environment, local).default_model()) == "own/m"
        assert str(await Made().providers({}, environment, local).default_model()) == "openai/gpt-4.1"
        assert (
            str(await Made().providers({}, {"GEMINI_API_KEY": "x"}, local).default_model()) == "gemini/gemini-2.5-flash"
        )
        assert str(await Made().providers({}, {}, local).default_model()) == "ollama/qwen"


async def test_a_disabled_provider_is_not_there() -> None:
    settings = {**OWN, "disabled_providers": ["own", "openai"]}
    providers = Made().providers(settings, {"OPENAI_API_KEY": "o"})
    assert await providers.default_model() == DEMO
    with pytest.raises(AgentError):
        await providers.client(ref("own/m"))
    only = Made().providers({**OWN, "enabled_providers": ["own"]}, {"OPENAI_API_KEY": "o"})
    assert [str(model.ref) for model in await only.models()] == ["own/m", "demo/demo"]


async def test_what_a_client_is_made_with() -> None:
    options = {
        "baseURL": "https://x.example/v1/",
        "apiKey": "k",
        "headers": {"X-A": "b"},
        "timeout": 1500,
        "caFile": "/ca.pem",
    }
    made = Made()
    await made.providers({"provider": {"x": {"options": options, "models": {"a": {"id": "real"}}}}}).client(ref("x/a"))
    (settings,) = made.settings
    assert (settings.base_url, settings.api_key, settings.timeout) == ("https://x.example/v1", "k", 1.5)
    assert (settings.headers, settings.ca_file, settings.aliases) == ({"X-A": "b"}, "/ca.pem", {"a": "real"})
    assert (settings.key_from, settings.origin) == ("provider.x.options.apiKey", "https://x.example")
    assert "k" not in repr(settings).replace("key", "")


async def test_the_key_of_the_environment_and_where_it_is_from() -> None:
    made = Made()
    await made.providers({}, {"TOGETHERAI_API_KEY": "t"}).client(ref("together/m"))
    assert (made.settings[0].api_key, made.settings[0].key_from) == ("t", "TOGETHERAI_API_KEY")


async def test_a_client_is_made_once_and_anew_when_its_settings_change() -> None:
    made = Made()
    providers = made.providers(OWN)
    first = await providers.client(ref("own/m"))
    assert await providers.client(ref("own/other")) is first
    providers.replace(Settings.model_validate(OWN))
    assert await providers.client(ref("own/m")) is first
    providers.replace(Settings.model_validate({"provider": {"own": {"options": {"baseURL": "http://localhost:2/v1"}}}}))
    assert await providers.client(ref("own/m")) is not first
    await providers.aclose()


async def test_clients_asked_for_at_once_are_one() -> None:
    made = Made()
    providers = made.providers(OWN)
    async with anyio.create_task_group() as group:
        for _ in range(5):
            group.start_soon(providers.client, ref("own/m"))
    assert len(made.settings) == 1


async def test_a_missing_key_says_what_to_set() -> None:
    with pytest.raises(AgentError, match="OPENAI_API_KEY") as caught:
        await Made().providers({}).client(ref("openai/gpt-4.1"))
    assert caught.value.kind is ErrorKind.AUTH_REQUIRED


async def test_an_unknown_provider_says_what_there_is() -> None:
    with pytest.raises(AgentError, match="Did you mean own/m") as caught:
        await Made().providers(OWN).client(ref("owm/m"))
    assert caught.value.kind is ErrorKind.MODEL_NOT_FOUND
    assert caught.value.data["suggestions"] == ["own/m"]
    with pytest.raises(AgentError, match="demo/demo"):
        await Made().providers({}).client(ref("zzz/qqq"))


@pytest.mark.parametrize("url", ["", "localhost:11434", "ftp://x/v1", "http://", "http://[::1", "http://h:99999/v1"])
async def test_an_address_that_is_none_names_its_setting(url: str) -> None:
    settings = {"provider": {"own": {"options": {"baseURL": url or "x"}}}}
    with pytest.raises(AgentError, match=r"provider\.own\.options\.baseURL"):
        await Made().providers(settings).client(ref("own/m"))


async def test_an_api_that_is_not_spoken_is_named() -> None:
    settings = {"provider": {"own": {"api": "responses", "options": {"baseURL": "http://localhost/v1"}}}}
    with pytest.raises(AgentError, match="responses"):
        await Made().providers(settings).client(ref("own/m"))


async def test_a_local_server_that_was_named_is_used_without_a_look() -> None:
    made = Made()
    local = (Local("ollama", "Ollama", "http://127.0.0.1:9/v1"),)
    await made.providers({}, {}, local).client(ref("ollama/qwen"))
    assert (made.settings[0].base_url, made.settings[0].loopback) == ("http://127.0.0.1:9/v1", True)


@pytest.mark.parametrize(
    ("command", "key"), [("printf 'k1\\n'", "k1"), (["sh", "-c", 'printf "$0"', "k2"], "k2")], ids=["shell", "argv"]
)
async def test_a_command_gives_the_key_once(command: Any, key: str, tmp_path: Any) -> None:
    count = tmp_path / "count"
    if isinstance(command, str):
        command = f"echo x >> {count}; {command}"
    made = Made()
    own = {"options": {"baseURL": "http://localhost:1/v1", "apiKeyCommand": command}, "models": {"m": {}}}
    providers = made.providers({"provider": {"own": own}})
    assert await providers.client(ref("own/m")) is await providers.client(ref("own/m"))
    assert made.settings[0].api_key == key
    assert not count.exists() or count.read_text() == "x\n"


@pytest.mark.parametrize("command", ["exit 3", "true", ["/no/such/program"]])
async def test_a_command_that_gives_no_key_is_an_error_that_shows_nothing_of_it(command: Any) -> None:
    own = {"options": {"baseURL": "http://localhost:1/v1", "apiKeyCommand": command}}
    with pytest.raises(AgentError, match="apiKeyCommand") as caught:
        await Made().providers({"provider": {"own": own}}).client(ref("own/m"))
    assert caught.value.kind is ErrorKind.AUTH_REQUIRED


async def test_local_servers_are_found_in_order_and_others_on_the_port_are_not_taken_for_one() -> None:
    async with (
        serve([], models=["text-embedding-3", "a", "b"]) as first,
        serve([], models=["c"]) as second,
        serve([], models=[]) as without,
    ):
        servers = [
            Local(str(n), "", url)
            for n, url in enumerate([second.url, "http://127.0.0.1:9/v1", without.url, first.url])
        ]
        found = await probe(servers, timeout=5)
    assert [(each.server.name, list(each.models)) for each in found] == [("0", ["c"]), ("3", ["a", "b"])]


async def test_l17_a_server_that_never_answers_costs_its_time_and_no_more() -> None:
    async with await anyio.create_tcp_listener(local_host="127.0.0.1") as listener:
        port = listener.extra(anyio.abc.SocketAttribute.local_port)
        with anyio.fail_after(5):
            assert await probe([Local("x", "", f"http://127.0.0.1:{port}/v1")], timeout=0.2) == []


@pytest.mark.parametrize("body", [b"", b"<html>", b"[]", b'{"data":3}', b'{"data":[1,{"id":2}]}', b"{" * 90_000])
async def test_a_web_server_that_is_no_model_server(body: bytes) -> None:
    async def handle(stream: Any) -> None:
        async with stream:
            await stream.receive()
            await stream.send(b"HTTP/1.0 200 OK\r\n\r\n" + body)

    async with await anyio.create_tcp_listener(local_host="127.0.0.1") as listener, anyio.create_task_group() as group:
        group.start_soon(listener.serve, handle)
        port = listener.extra(anyio.abc.SocketAttribute.local_port)
        assert await probe([Local("x", "", f"http://127.0.0.1:{port}/v1")], timeout=5) == []
        group.cancel_scope.cancel()


async def test_the_window_that_a_local_server_tells_is_known() -> None:
    listing = b'{"data":[{"id":"q","max_model_len":4096}]}'

    async def handle(stream: Any) -> None:
        async with stream:
            await stream.receive()
            await stream.send(b"HTTP/1.0 200 OK\r\n\r\n" + listing)

    async with await anyio.create_tcp_listener(local_host="127.0.0.1") as listener, anyio.create_task_group() as group:
        group.start_soon(listener.serve, handle)
        port = listener.extra(anyio.abc.SocketAttribute.local_port)
        providers = Made().providers({}, {}, (Local("vllm", "vLLM", f"http://127.0.0.1:{port}/v1"),))
        assert await providers.default_model() == ref("vllm/q")
        assert providers.model(ref("vllm/q")).context == 4096
        group.cancel_scope.cancel()


def test_nothing_on_the_start_path_imports_the_sdk_or_an_http_client() -> None:
    code = (
        "import sys, agentls.model.providers, agentls.model.retry, agentls.model.messages, agentls.model.scripted;"
        "print([m for m in ('openai', 'httpx2', 'http.client', 'ssl') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
