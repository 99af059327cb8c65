"""The transport on raw bytes, on the real process: what a stock LSP host gets wrong or loses."""

import json
from itertools import pairwise
from typing import Any

import anyio
import pytest

from e2e.client import Client, Message, framed
from e2e.mirror import Mirror
from e2e.model import Answer, C, Gate, Script, calls, says
from e2e.server import Machine
from e2e.talk import Talk

# -- framing and envelopes


async def answered(client: Client, message: Message) -> Message:
    client.raw(framed(message))
    return await client.response(message["id"])


@pytest.mark.parametrize(
    "extra",
    [
        {},
        {"params": None},
        {"params": []},
        {"params": {}, "traceparent": "00-abc"},
        {"params": {"jsonrpc": "2.0", "id": 5, "method": "exit", "nested": {"jsonrpc": "2.0"}}},
        {"params": {"class": 1, "a-b": 2, "def": {"0": 1}, "": 3}},
    ],
    ids=["no params", "null", "list", "extra member", "nested envelope", "odd names"],
)
async def test_requests_of_every_form_are_answered(shared: Client, extra: Message) -> None:
    response = await answered(shared, {"jsonrpc": "2.0", "id": f"form {extra}", "method": "session/list"} | extra)
    assert "sessions" in response["result"]


@pytest.mark.parametrize("request_id", [0, -1, 2**31 - 1, "", "a", "测试", "1"])
async def test_ids_come_back_as_they_were(shared: Client, request_id: object) -> None:
    assert "result" in await answered(shared, {"jsonrpc": "2.0", "id": request_id, "method": "session/list"})


async def test_frames_in_pieces_together_and_with_odd_headers(shared: Client) -> None:
    def request(name: str) -> bytes:
        return json.dumps({"jsonrpc": "2.0", "id": name, "method": "session/list"}).encode()

    for name, head in {
        "lower": b"content-length: %d\r\n\r\n",
        "upper": b"CONTENT-LENGTH:%d\r\n\r\n",
        "typed": b"Content-Type: application/vscode-jsonrpc; charset=utf-8\r\nContent-Length: %d\r\n\r\n",
        "after": b"Content-Length: %d\r\nContent-Type: application/vscode-jsonrpc; charset=utf8\r\n\r\n",
    }.items():
        body = request(name)
        shared.raw(head % len(body) + body)
        assert "result" in await shared.response(name)
    whole = framed(request("piece by piece"))
    for place in range(len(whole)):
        shared.raw(whole[place : place + 1])
    assert "result" in await shared.response("piece by piece")
    shared.raw(b"".join(framed(request(f"many {n}")) for n in range(200)))
    for n in range(200):
        assert "result" in await shared.response(f"many {n}")


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (framed(b"{not json"), "parse_error"),
        (framed(b"\xff\xfe\x00"), "parse_error"),
        (framed(b""), "parse_error"),
        (framed(b"[]"), "invalid_request"),
        (framed(b'"text"'), "invalid_request"),
        (framed(b"[1" * 100_000), "parse_error"),
        (framed({"jsonrpc": "2.0", "id": {"a": 1}, "method": "session/list"}), "invalid_request"),
        (framed({"jsonrpc": "2.0", "id": 770077, "method": 5}), "invalid_request"),
        (framed({"jsonrpc": "1.0", "id": 770077, "method": "session/list"}), "invalid_request"),
        (b"Content-Length: nonsense\r\n\r\n", "parse_error"),
        (b"Content-Length: -5\r\n\r\n", "parse_error"),
        (b"\r\n\r\nContent-Length: 2\r\n\r\n{}", None),
    ],
    ids=str,
)
async def test_malformed_frames_are_told_and_survived(shared: Client, data: bytes, kind: str | None) -> None:
    mark = shared.mark()
    shared.raw(data)
    probe = {"jsonrpc": "2.0", "id": f"probe {data[:60]!r}{len(data)}", "method": "session/list"}
    assert "result" in await answered(shared, probe)
    errors = [m["error"]["data"]["kind"] for m in shared.log[mark:] if "error" in m]
    if kind is not None:
        assert errors == [kind]
    assert "Traceback" not in json.dumps(shared.log[mark:])


async def test_l14_a_body_that_is_too_large_is_refused_and_skipped(shared: Client) -> None:
    size = 64 * 1024 * 1024 + 1
    mark = shared.mark()
    shared.raw(b"Content-Length: %d\r\n\r\n" % size)
    piece = b" " * (1 << 20)
    for _ in range(64):
        shared.raw(piece)
        assert shared.process.stdin
        await shared.process.stdin.drain()
    shared.raw(b" ")
    assert "result" in await answered(shared, {"jsonrpc": "2.0", "id": "after", "method": "session/list"})
    [error] = [m["error"] for m in shared.log[mark:] if "error" in m]
    assert error["data"]["kind"] == "invalid_request"


async def test_l14_a_large_document_is_taken(shared: Client, talk: Talk) -> None:
    uri = (talk.folder / "big.txt").as_uri()
    text = "0123456789 测试\n" * 1_000_000
    document = {"uri": uri, "languageId": "text", "version": 1, "text": text}
    shared.notify("textDocument/didOpen", {"textDocument": document})
    await shared.request("session/list", seconds=30)
    shared.notify("textDocument/didClose", {"textDocument": {"uri": uri}})


async def test_l01_lengths_are_of_bytes_and_half_characters_do_not_kill(talk: Talk, model: Script) -> None:
    """The client reads strictly: a wrong length or broken UTF-8 ends its reading."""
    half = b'data: {"choices":[{"index":0,"delta":{"content":"\\ud83d"}}]}\n\n'
    other = b'data: {"choices":[{"index":0,"delta":{"content":"\\ude00 end"}}]}\n\n'
    answer = says("测试 🙂 é ", 3)
    model.plays(Answer([*answer.events[:3], half, other, *answer.events[3:]]))
    await talk.prompt("测试 🙂 \u2028", wait="idle")
    [text] = await talk.texts()
    assert text.startswith("测试 🙂 é ")
    assert text.endswith(" end")
    body = b'{"jsonrpc":"2.0","id":"half","method":"session/create","params":{"title":"\\ud83d"}}'
    talk.client.raw(framed(body))
    response = await talk.client.response("half")
    assert "result" in response or response["error"]["data"]["kind"] in ("invalid_params", "parse_error")
    assert (await talk.ask("session/get"))["session"]["id"] == talk.id


# -- params, methods, floods


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("session/get", {"sessionId": 5}),
        ("session/get", {"sessionId": None}),
        ("session/get", {}),
        ("session/get", "text"),
        ("session/prompt", {"sessionId": "ses_1", "parts": "hello"}),
        ("session/prompt", {"sessionId": "ses_1", "parts": [{"type": "no such"}]}),
        ("session/prompt", {"sessionId": "ses_1", "parts": [], "delivery": "later"}),
        ("session/list", {"limit": 0}),
        ("session/list", {"limit": "many"}),
        ("session/create", {"directory": "relative"}),
        ("permission/reply", {"permissionId": "per_1"}),
        ("textDocument/hover", {"textDocument": 5}),
        ("workspace/executeCommand", {"command": 5}),
        ("workspace/executeCommand", {"command": "agentls.noSuch"}),
        ("workspace/executeCommand", {}),
    ],
    ids=str,
)
async def test_wrong_params_are_named(shared: Client, method: str, params: Any) -> None:
    error = await shared.refused(method, params)
    if method.startswith("textDocument") and error.kind == "method_not_found":
        return
    assert (error.code, error.kind) == (-32602, "invalid_params")
    assert error.data["errors"]
    assert "\n" not in error.message
    assert "Traceback" not in str(error)


async def test_what_there_is_not_is_said(shared: Client) -> None:
    for method in ("no/such", "session/fly", "textDocument/noSuch", "$/something"):
        assert (await shared.refused(method)).kind == "method_not_found"
    for method in ("session/compact", "session/fork", "session/revert", "session/command", "tool/cancel", "mcp/status"):
        error = await shared.refused(method, {"sessionId": "ses_1"})
        assert (error.code, error.kind) == (-32803, "not_supported"), method
        assert method in error.message
    shared.notify("$/unknown", {"a": 1})
    shared.notify("session/get", {"sessionId": "ses_1"})
    assert "sessions" in await shared.request("session/list")


async def test_l03_commands_have_neither_our_input_nor_our_output(talk: Talk, model: Script) -> None:
    """What a child prints never comes between frames, and what it reads is nothing."""
    await talk.ask("session/update", mode="auto")
    model.plays(calls(("bash", {"command": "cat && echo to-stdout && ls no-such-file"})), says("Done."))
    assert (await talk.prompt("Run it.", wait="idle"))["stopReason"] == "done"
    [tool] = await talk.tools()
    assert tool["state"]["output"].startswith("to-stdout")
    assert "No such file" in tool["state"]["output"]
    assert talk.client.broken is None


async def test_l05_cancelled_while_they_wait_they_never_run(talk: Talk, model: Script) -> None:
    model.plays(says("one two", 2, gate="half"))
    await talk.prompt("Speak.")
    await talk.first_text()
    sent = [talk.send_prompt(f"Queued {n}.", delivery="queue", wait="idle") for n in range(30)]
    await talk.wait("queue/changed", lambda p: len(p["items"]) == 30)
    for request_id in sent:
        talk.client.notify("$/cancelRequest", {"id": request_id})
    for request_id in sent:
        assert (await talk.client.response(request_id))["error"]["code"] == -32800
    assert (await talk.abort(queue="clear"))["aborted"] is True
    talk.client.notify("$/cancelRequest", {"id": 123456})
    talk.client.notify("$/cancelRequest", {})
    assert (await talk.ask("queue/list"))["items"] == []


async def test_a_hundred_who_wait_for_the_end_hold_up_nobody(talk: Talk, model: Script) -> None:
    model.plays(says("one two", 2, gate="half"), says("That is all."))
    await talk.prompt("Speak.")
    await talk.first_text()
    waiting = [talk.send_prompt(f"And {n}.", wait="idle") for n in range(100)]
    assert "sessions" in await talk.client.request("session/list")
    await talk.ask("session/get")
    model.open("half")
    for request_id in waiting:
        assert (await talk.client.answer(request_id))["stopReason"] == "done"


async def test_l11_a_flood_is_coalesced_whole_and_in_order(talk: Talk, model: Script) -> None:
    words = "".join(f"{n} " for n in range(5000))
    model.plays(says(words, 20_000))
    await talk.prompt("Flood.")
    end = await talk.ended(seconds=30)
    deltas = talk.seen("part/delta")
    assert "".join(delta["delta"] for delta in deltas) == words
    assert len(deltas) < 2_000
    assert all(a["rev"] == b["base"] for a, b in pairwise(deltas))
    assert talk.client.place_of(deltas[-1]) < talk.client.place_of(end)
    [text] = await talk.texts()
    assert text == words


async def test_l11_a_client_that_read_nothing_for_long_is_whole_again(machine: Machine, model: Script) -> None:
    """More than is kept for it: deltas are dropped, and the parts come whole when it reads again."""
    folder = machine.project("slow")
    async with machine.editor(folder) as client:
        talk = await Talk.begin(client, folder)
        mirror = Mirror(talk.id)
        mark = client.mark()
        mirror.attached(await talk.ask("session/attach"))
        flood = [C({"content": f"{number:05d} " * 666}) for number in range(3_000)]
        end = calls(("list", {})).events
        model.plays(Answer([C({"content": "begun "}), Gate("flood"), *flood, *end]), says("That was all.", 4))
        turn_id = (await talk.prompt("Flood."))["turnId"]
        await talk.first_text()
        client.pause()
        asked_again = anyio.Event()
        model.fake.on_request = lambda _: asked_again.set()
        model.open("flood")
        with anyio.fail_after(30):
            await asked_again.wait()
        model.fake.on_request = None
        client.go_on()
        assert (await talk.ended(turn_id, seconds=30))["stopReason"] == "done"
        await talk.idle()
        for message in client.log[mark:]:
            if message.get("method") == "session/resync":
                pytest.fail("this much is not too much")
            if "method" in message:
                mirror.notified(message["method"], message["params"])
        deltas = sum(len(params["delta"]) for params in talk.seen("part/delta"))
        assert deltas < 10_000_000
        fresh = Mirror(talk.id)
        fresh.attached(await talk.ask("session/attach"))
        fresh.earlier(await talk.messages())  # so large a text is on a page of its own
        assert mirror.state() == fresh.state()
        assert len((await talk.texts())[0]) == 6 + 3_000 * 666 * 6
