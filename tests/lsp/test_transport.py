"""The wire, byte for byte, against a real process."""

import json

import psutil
import pytest

from lsp.wire import RawClient, framed


def test_a_request_without_params_is_answered(client: RawClient) -> None:
    client.send({"jsonrpc": "2.0", "id": 90, "method": "test/echo"})
    assert client.answer(90)["result"] == {"got": {}}


@pytest.mark.parametrize("params", [None, [], {}])
def test_null_and_an_empty_list_are_empty_params(client: RawClient, params: object) -> None:
    client.send({"jsonrpc": "2.0", "id": 90, "method": "test/echo", "params": params})
    assert client.answer(90)["result"] == {"got": {}}


@pytest.mark.parametrize("inner", [None, [], {}, "absent"])
def test_an_empty_list_is_an_empty_object_also_nested(client: RawClient, inner: object) -> None:
    params = {"count": 1} if inner == "absent" else {"count": 1, "inner": inner}
    assert client.result("test/strict", params)["number"] == 8


def test_an_extra_member_of_the_envelope_is_ignored(client: RawClient) -> None:
    client.send({"jsonrpc": "2.0", "id": 90, "method": "test/echo", "params": {}, "traceparent": "x", "_meta": {}})
    assert client.answer(90)["result"] == {"got": {}}


def test_params_keep_their_names_whatever_they_are(client: RawClient) -> None:
    params = {
        "class": 1,
        "a-b": 2,
        "_meta": {"from": 3},
        "type_name": "x",
        "log": [{"jsonrpc": "2.0", "id": 1, "method": "initialize"}, {"jsonrpc": "2.0", "id": 2, "result": {}}],
    }
    assert client.result("test/echo", params) == {"got": params}


def test_header_names_are_case_insensitive_and_others_are_ignored(client: RawClient) -> None:
    for head in (
        b"content-length: %d\r\n\r\n",
        b"CONTENT-LENGTH:%d\r\nContent-Type: application/x; charset=utf8\r\n\r\n",
    ):
        body = b'{"jsonrpc":"2.0","id":"x","method":"test/echo"}'
        client.raw(head % len(body) + body)
        assert client.answer("x")["result"] == {"got": {}}


def test_a_frame_may_come_byte_by_byte(client: RawClient) -> None:
    for byte in framed({"jsonrpc": "2.0", "id": 90, "method": "test/echo"}):
        client.raw(bytes([byte]))
    assert client.answer(90)["result"] == {"got": {}}


def test_wrong_params_of_ours_are_answered_with_what_is_wrong(client: RawClient) -> None:
    error = client.error("test/strict", {"count": "many", "inner": {"value": []}})
    assert error["code"] == -32602
    assert error["data"]["kind"] == "invalid_params"
    assert {item["path"] for item in error["data"]["errors"]} == {"count", "inner.value"}
    assert "\n" not in error["message"]


@pytest.mark.parametrize("params", [[1], "x", 7])
def test_params_that_are_no_object_are_invalid(client: RawClient, params: object) -> None:
    assert client.error("test/echo", params)["code"] == -32602


def test_wrong_params_of_a_method_of_lsp_are_answered(client: RawClient) -> None:
    error = client.error("workspace/executeCommand", {"command": 7, "arguments": 8})
    assert error["code"] == -32602
    assert error["data"]["errors"]
    assert client.error("workspace/executeCommand")["code"] == -32602
    assert client.result("test/echo") == {"got": {}}


def test_wrong_params_of_a_notification_of_lsp_harm_nothing(client: RawClient) -> None:
    client.notify("textDocument/didOpen", {"textDocument": 5})
    client.notify(
        "textDocument/didChange", {"textDocument": {"uri": "file:///none", "version": 1}, "contentChanges": []}
    )
    client.notify("no/such")
    assert client.result("test/echo") == {"got": {}}
    assert "window/showMessage" not in client.order()


@pytest.mark.parametrize(
    ("body", "code", "request_id"),
    [
        (b"{not json", -32700, None),
        (b"", -32700, None),
        (b'"\xff\xfe"', -32700, None),
        (b"[" * 100_000, -32700, None),
        (b'[{"jsonrpc":"2.0","id":1,"method":"test/echo"}]', -32600, None),
        (b"5", -32600, None),
        (b"null", -32600, None),
        (b'{"jsonrpc":"2.0","id":5}', -32600, 5),
        (b'{"jsonrpc":"2.0"}', -32600, None),
        (b'{"jsonrpc":"1.0","id":6,"method":"test/echo"}', -32600, 6),
        (b'{"id":6,"method":"test/echo"}', -32600, 6),
        (b'{"jsonrpc":"2.0","id":7,"method":5}', -32600, 7),
        (b'{"jsonrpc":"2.0","id":true,"method":"test/echo"}', -32600, None),
        (b'{"jsonrpc":"2.0","id":1.5,"method":"test/echo"}', -32600, None),
        (b'{"jsonrpc":"2.0","id":{},"method":"test/echo"}', -32600, None),
        (b'{"jsonrpc":"2.0","id":null,"method":"test/echo"}', -32600, None),
    ],
)
def test_a_malformed_message_gets_an_error_and_the_next_one_is_served(
    client: RawClient, body: bytes, code: int, request_id: object
) -> None:
    client.raw(framed(body))
    response = client.answer(request_id)
    assert response["error"]["code"] == code
    assert client.result("test/echo") == {"got": {}}


def test_an_unknown_method_is_answered(client: RawClient) -> None:
    assert client.error("no/such", {})["code"] == -32601
    assert client.error("$/no/such", {})["data"]["kind"] == "method_not_found"


def test_what_comes_later_is_not_supported_and_says_so(client: RawClient) -> None:
    error = client.error("session/fork", {"sessionId": "ses_1"})
    assert (error["code"], error["data"]["kind"]) == (-32803, "not_supported")


@pytest.mark.parametrize(
    "rubbish",
    [
        b"Content-Length: x\r\n\r\nhello",
        b"Content-Length: -5\r\n\r\n",
        b"X-Other: 5\r\n\r\n",
        b"Content-Length: 99999999999999\r\n\r\n",
        b"\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\n\r\n",
        b"X: " + b"y" * 100_000,
        b"X: " + b"y" * 100_000 + b"\r\n\r\n",
    ],
)
def test_the_stream_recovers_after_a_broken_header(client: RawClient, rubbish: bytes) -> None:
    client.raw(rubbish + framed({"jsonrpc": "2.0", "id": 90, "method": "test/echo"}))
    assert client.answer(90)["result"] == {"got": {}}
    assert client.answer(None)["error"]["data"]["kind"] == "parse_error"


def test_a_body_that_is_too_large_is_skipped(client: RawClient) -> None:
    size = 64 * 1024 * 1024 + 1
    client.raw(b"Content-Length: %d\r\n\r\n" % size)
    assert client.answer(None)["error"]["data"]["kind"] == "invalid_request"
    piece = b"z" * (1 << 20)
    for _ in range(64):
        client.raw(piece)
    client.raw(b"z" + framed({"jsonrpc": "2.0", "id": 90, "method": "test/echo"}))
    assert client.answer(90)["result"] == {"got": {}}


def test_l14_a_large_message_goes_both_ways(client: RawClient) -> None:
    text = "ä" * (10 << 20)
    assert client.result("test/echo", {"text": text}, seconds=30)["got"]["text"] == text


def test_l14_a_document_of_fifty_megabytes_opens(client: RawClient) -> None:
    document = {"uri": "file:///big", "languageId": "text", "version": 1, "text": "x" * (50 << 20)}
    client.notify("textDocument/didOpen", {"textDocument": document})
    assert client.result("test/echo", seconds=30) == {"got": {}}


def test_l01_length_counts_bytes_and_half_an_emoji_kills_nothing(client: RawClient) -> None:
    client.result("test/attach")
    assert client.result("test/surrogate")["text"] == "end \ufffd 测试 🙂"
    assert client.notification("part/delta")["params"]["delta"] == "测试 🙂 \ufffd"
    assert client.notification("notice")["params"]["title"] == "half \ufffd"


def test_l01_half_an_emoji_comes_in_as_a_replacement(client: RawClient) -> None:
    client.raw(framed(b'{"jsonrpc":"2.0","id":90,"method":"test/echo","params":{"a":"x\\ud83d","b":"\\ud83d\\ude00"}}'))
    assert client.answer(90)["result"]["got"] == {"a": "x\ufffd", "b": "\U0001f600"}


def test_l03_print_does_not_reach_the_stream(client: RawClient) -> None:
    assert client.result("test/print")["text"] == ""
    assert client.result("test/echo") == {"got": {}}
    assert client.broken is None
    client.result("shutdown")
    client.notify("exit")
    assert client.ended() == 0
    assert client.process.stderr
    errors = client.process.stderr.read()
    assert b"printed" in errors
    assert b"from below Python" in errors


def test_no_traceback_reaches_the_client_but_the_log_has_it(client: RawClient) -> None:
    response = client.call("test/raise")
    assert response["error"]["code"] == -32603
    text = json.dumps(response)
    assert "Traceback" not in text
    assert "shadow" not in text
    log = client.log_file.read_text()
    assert response["error"]["data"]["logId"] in log
    assert "RuntimeError: secret /etc/shadow" in log


@pytest.mark.parametrize(
    ("kind", "code"),
    [
        ("session_locked", -32803),
        ("edit_conflict", -32801),
        ("draining", -32802),
        ("invalid_params", -32602),
        ("cancelled", -32800),
    ],
)
def test_an_error_of_the_engine_has_its_code_and_kind_and_one_line(client: RawClient, kind: str, code: int) -> None:
    error = client.error("test/raise", {"name": kind})
    assert (error["code"], error["message"]) == (code, "one line")
    assert error["data"] == {"kind": kind, "retryable": False, "pid": 7}


def test_stdin_is_not_read_by_way_of_a_thread_pool(client: RawClient) -> None:
    before = _threads(client)
    for _ in range(50):
        client.result("test/echo")
    assert _threads(client) == before


def _threads(client: RawClient) -> set[int]:
    return {thread.id for thread in psutil.Process(client.process.pid).threads()}


def test_a_thousand_requests_in_one_write_are_answered_in_order(client: RawClient) -> None:
    requests = [{"jsonrpc": "2.0", "id": f"r{n}", "method": "test/echo", "params": {"n": n}} for n in range(1000)]
    client.send(*requests)
    assert client.answer("r999")["result"] == {"got": {"n": 999}}
    assert [m["id"] for m in client.seen if str(m.get("id")).startswith("r")] == [f"r{n}" for n in range(1000)]


def test_l10_threads_do_not_interleave(client: RawClient) -> None:
    client.result("test/threads", {"count": 10_000}, seconds=30)
    client.result("test/echo")
    titles = [m["params"]["title"] for m in client.seen if m.get("method") == "notice"]
    assert [t for t in titles if t.startswith("a")] == [f"a {n}" for n in range(10_000)]
    assert [t for t in titles if t.startswith("b")] == [f"b {n}" for n in range(10_000)]
