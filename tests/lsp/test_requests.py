"""Running, waiting, cancelling; the phases of a connection."""

import pytest

from lsp.wire import RawClient


def test_before_initialize_requests_are_refused_and_notifications_ignored(fresh: RawClient) -> None:
    assert fresh.error("test/echo")["code"] == -32002
    fresh.notify("initialized")
    fresh.notify("textDocument/didOpen", {})
    assert fresh.initialize()["serverInfo"]["name"] == "agentls"


def test_a_second_initialize_is_refused(client: RawClient) -> None:
    error = client.error("initialize", {"processId": None, "rootUri": None, "capabilities": {}})
    assert (error["code"], error["data"]["kind"]) == (-32600, "invalid_request")


def test_initialize_with_wrong_params_may_be_tried_again(fresh: RawClient) -> None:
    assert fresh.error("initialize", {"capabilities": 5})["code"] == -32602
    assert fresh.initialize()


def test_requests_sent_with_initialize_in_one_write_are_served(fresh: RawClient) -> None:
    fresh.send(
        {"jsonrpc": "2.0", "id": "i", "method": "initialize", "params": {"processId": None, "capabilities": {}}},
        {"jsonrpc": "2.0", "method": "initialized", "params": {}},
        {"jsonrpc": "2.0", "id": "e", "method": "test/echo"},
    )
    assert fresh.answer("e")["result"] == {"got": {}}
    assert fresh.order() == ["#i", "#e"]


def test_the_server_says_what_it_offers(fresh: RawClient) -> None:
    offer = fresh.initialize()["capabilities"]["experimental"]["agentls"]
    assert offer["protocolVersion"] == 1
    assert "test/echo" in offer["features"]
    assert offer["limits"]["messageBytes"] == 64 * 1024 * 1024
    assert offer["schemaDigest"]


@pytest.mark.parametrize(
    "options",
    [
        {"ui": []},
        {"ui": None, "events": [], "documents": None},
        {"events": {"coalesceMs": "soon"}, "ui": 7},
        {"protocolVersion": "x"},
        [],
    ],
)
def test_options_of_a_wrong_form_do_not_keep_the_server_from_starting(fresh: RawClient, options: object) -> None:
    assert fresh.initialize(options)
    assert fresh.result("test/echo") == {"got": {}}


def test_options_may_stand_in_the_experimental_capabilities(fresh: RawClient) -> None:
    fresh.initialize(None, capabilities={"experimental": {"agentls": {"events": {"coalesceMs": 0}}}})
    assert "connect True" in fresh.marks()


def test_an_id_that_is_in_use_is_refused(client: RawClient) -> None:
    client.send({"jsonrpc": "2.0", "id": "b", "method": "test/block", "params": {}})
    client.send({"jsonrpc": "2.0", "id": "b", "method": "test/echo"})
    assert client.answer("b")["error"]["data"]["kind"] == "invalid_request"
    client.result("test/open")
    assert "result" in client.answer("b")


def test_a_running_request_is_cancelled_and_answered(client: RawClient) -> None:
    request = client.request("test/block", {"name": "a"})
    client.wait_mark("block a")
    client.notify("$/cancelRequest", {"id": request})
    error = client.answer(request)["error"]
    assert (error["code"], error["data"]["kind"]) == (-32800, "cancelled")
    assert "unblock a" in client.marks()


def test_cancelling_a_command_stops_the_command(client: RawClient) -> None:
    request = client.request("workspace/executeCommand", {"command": "test.sleep"})
    client.wait_mark("command begins")
    client.notify("$/cancelRequest", {"id": request})
    assert client.answer(request)["error"]["code"] == -32800
    client.wait_mark("command cancelled")


@pytest.mark.parametrize("params", [{}, {"id": 12345}, {"id": []}, []])
def test_cancelling_what_is_not_there_harms_nothing(client: RawClient, params: object) -> None:
    client.notify("$/cancelRequest", params)
    assert client.result("test/echo") == {"got": {}}


def test_l05_cancelled_requests_that_wait_never_run(client: RawClient) -> None:
    running = [client.request("test/block", {"name": f"first{n}"}) for n in range(64)]
    client.wait_mark("block first63")
    waiting = [client.request("test/block", {"name": f"late{n}"}) for n in range(30)]
    for request in waiting:
        client.notify("$/cancelRequest", {"id": request})
    for request in waiting:
        assert client.answer(request)["error"]["code"] == -32800
    client.result("session/abort", {"sessionId": "ses_1"})
    client.result("permission/reply", {"permissionId": "per_1", "reply": "once"})
    for request in running:
        client.notify("$/cancelRequest", {"id": request})
        client.answer(request)
    client.result("test/echo")
    assert not any("late" in mark for mark in client.marks())


def test_a_request_cancelled_in_the_same_write_never_runs(client: RawClient) -> None:
    client.send(
        {"jsonrpc": "2.0", "id": "b", "method": "test/block", "params": {"name": "never"}},
        {"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": "b"}},
    )
    assert client.answer("b")["error"]["code"] == -32800
    assert "block never" not in client.marks()


def test_beyond_the_places_requests_wait_and_then_run_in_order(client: RawClient) -> None:
    for n in range(70):
        client.request("test/block", {"name": str(n)})
    client.wait_mark("block 63")
    client.result("session/abort", {"sessionId": "ses_x"})
    assert "block 64" not in client.marks()
    client.notify("$/cancelRequest", {"id": 2})
    client.wait_mark("block 64")
    assert "block 65" not in client.marks()


def test_an_abort_finds_what_waits_for_a_place_in_its_session(client: RawClient) -> None:
    for n in range(64):
        client.request("test/block", {"sessionId": "ses_other", "name": str(n)})
    client.request("test/block", {"sessionId": "ses_mine", "name": "mine"})
    client.request("test/block", {"sessionId": "ses_other", "name": "other"})
    client.result("session/abort", {"sessionId": "ses_mine"})
    marks = client.marks()
    assert marks.index("block mine") < marks.index("abort")
    assert "block other" not in marks


def test_requests_that_wait_for_idle_take_no_place(client: RawClient) -> None:
    for n in range(100):
        client.request("test/idle", {"name": str(n)})
    client.wait_mark("idle 99")
    assert client.result("test/echo") == {"got": {}}


def test_too_many_waiting_requests_are_told_so(client: RawClient) -> None:
    blocked = [
        {"jsonrpc": "2.0", "id": f"b{n}", "method": "test/block", "params": {"name": str(n)}} for n in range(64 + 4096)
    ]
    client.send(*blocked)
    error = client.error("test/echo")
    assert error["data"] == {"kind": "overloaded", "retryable": True, "retryAfterMs": 1000}
    assert client.result("session/abort", {"sessionId": "ses_1"})["aborted"] is True


def test_after_shutdown_every_request_is_answered(client: RawClient) -> None:
    assert client.call("shutdown")["result"] is None
    for method in ("test/echo", "shutdown", "initialize", "workspace/executeCommand", "no/such"):
        error = client.error(method)
        assert (error["code"], error["data"]["kind"]) == (-32600, "shutting_down")


def test_shutdown_ends_what_runs_and_waits(client: RawClient) -> None:
    requests = [client.request("test/block", {"name": str(n)}) for n in range(70)]
    client.wait_mark("block 63")
    shutdown = client.request("shutdown")
    assert client.answer(shutdown)["result"] is None
    kinds = [client.answer(request)["error"]["data"]["kind"] for request in requests]
    assert kinds == ["cancelled"] * 64 + ["shutting_down"] * 6
    assert client.order().index(f"#{shutdown}") > client.order().index(f"#{requests[0]}")


def test_a_blocked_handler_does_not_hold_up_others(client: RawClient) -> None:
    blocked = client.request("test/block")
    client.result("test/echo")
    assert f"#{blocked}" not in client.order()
