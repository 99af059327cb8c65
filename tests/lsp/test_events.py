"""Who gets which event, in which order, and what a client that does not read costs."""

from itertools import pairwise
from typing import Any

import psutil

from lsp.wire import RawClient


def notified(client: RawClient, method: str) -> list[dict[str, Any]]:
    return [m["params"] for m in client.seen if m.get("method") == method]


def test_a_response_comes_before_the_events_that_its_request_causes(client: RawClient) -> None:
    request = client.request("test/causes")
    client.until(lambda m: m.get("params", {}).get("seq") == 3)
    assert client.order()[-4:] == [f"#{request}", "part/updated", "part/updated", "part/updated"]
    assert [p["seq"] for p in notified(client, "part/updated")] == [1, 2, 3]


def test_a_request_that_waits_lets_its_events_go(client: RawClient) -> None:
    request = client.request("test/idle")
    assert client.notification("session/updated")["params"] == {"sessionId": "ses_1", "seq": 5, "mark": True}
    client.result("test/open")
    client.answer(request)


def test_without_options_nothing_of_ours_comes_before_a_method_of_ours(fresh: RawClient) -> None:
    fresh.initialize(None)
    command = fresh.request("workspace/executeCommand", {"command": "test.publish"})
    fresh.answer(command)
    assert "session/updated" not in fresh.order()
    fresh.result("test/echo")
    fresh.result("workspace/executeCommand", {"command": "test.publish"})
    fresh.notification("session/updated")


def test_with_options_events_come_at_once(client: RawClient) -> None:
    client.result("workspace/executeCommand", {"command": "test.publish"})
    client.notification("session/updated")


def test_parts_go_to_those_attached_and_sessions_to_all(client: RawClient) -> None:
    client.result("test/stream", {"count": 3, "name": "a"})
    client.notification("session/status")
    assert "part/delta" not in client.order()
    assert "part/updated" not in client.order()
    client.result("test/attach")
    client.result("test/stream", {"count": 3, "name": "a"})
    client.notification("part/updated")


def assert_whole(deltas: list[dict[str, Any]], text: str) -> None:
    assert "".join(d["delta"] for d in deltas) == text
    for before, after in pairwise(deltas):
        assert after["base"] == before["rev"]


def test_deltas_are_joined_and_the_last_comes_before_the_whole_part(client: RawClient) -> None:
    client.result("test/attach")
    client.result("test/stream", {"count": 500, "name": "ab", "seconds": 0.0005})
    client.notification("session/status")
    deltas = notified(client, "part/delta")
    assert_whole(deltas, "ab" * 500)
    assert (deltas[0]["base"], deltas[0]["rev"], deltas[0]["delta"]) == (0, 1, "ab")
    assert deltas[-1]["rev"] == 500
    assert 3 < len(deltas) < 100
    order = client.order()
    assert order.index("part/updated") > len(order) - 1 - order[::-1].index("part/delta")


def test_the_first_delta_is_not_held_back(fresh: RawClient) -> None:
    fresh.initialize({"events": {"coalesceMs": 250}})
    fresh.result("test/attach")
    fresh.request("test/stream", {"count": 2, "name": "x", "seconds": 1})
    fresh.result("test/echo")
    assert "part/delta" in fresh.order()


def test_sixteen_kilobytes_are_sent_without_waiting(fresh: RawClient) -> None:
    fresh.initialize({"events": {"coalesceMs": 250}})
    fresh.result("test/attach")
    fresh.result("test/flood", {"count": 64, "size": 1024})
    fresh.result("test/echo")
    sizes = [len(d["delta"]) for d in notified(fresh, "part/delta")]
    assert sizes[:4] == [1024, 16384, 16384, 16384]


def test_coalescing_may_be_off(fresh: RawClient) -> None:
    fresh.initialize({"events": {"coalesceMs": 0}})
    fresh.result("test/attach")
    fresh.result("test/flood", {"count": 100, "size": 1})
    fresh.result("test/echo")
    assert len(notified(fresh, "part/delta")) == 100


def test_a_client_may_do_without_deltas(fresh: RawClient) -> None:
    fresh.initialize({"events": {"deltas": False}})
    fresh.result("test/attach")
    fresh.result("test/stream", {"count": 10, "name": "x"})
    fresh.notification("part/updated")
    assert "part/delta" not in fresh.order()


def test_reading_flushes_what_is_held_of_the_part(fresh: RawClient) -> None:
    fresh.initialize({"events": {"coalesceMs": 250}})
    fresh.result("test/attach")
    fresh.result("test/flood", {"count": 5, "size": 1})
    fresh.result("test/attach")
    order = fresh.order()
    assert order[-1].startswith("#")
    assert_whole(notified(fresh, "part/delta"), "xxxxx")


def test_l11_twenty_thousand_deltas_are_few_frames(client: RawClient) -> None:
    client.result("test/attach")
    client.result("test/flood", {"count": 20_000, "size": 1}, seconds=20)
    client.result("test/attach")  # sends what is held
    deltas = notified(client, "part/delta")
    assert_whole(deltas, "x" * 20_000)
    assert len(deltas) < 100


def test_l11_a_client_that_does_not_read_freezes_nothing_and_its_aborts_are_obeyed(client: RawClient) -> None:
    client.result("test/attach")
    client.pause()
    lag = client.request("test/lag", {"seconds": 2})
    for _ in range(20):
        client.request("test/stream", {"count": 1000, "size": 1024})
    client.request("session/abort", {"sessionId": "ses_1"})
    client.wait_mark("abort", seconds=5)
    client.wait_mark("lag")
    client.resume()
    assert client.answer(lag, seconds=20)["result"]["number"] < 0.25


def _resident(client: RawClient) -> int:
    """In MiB."""
    return psutil.Process(client.process.pid).memory_info().rss // 2**20


def test_l11_deltas_over_eight_megabytes_are_dropped_and_the_part_comes_whole(client: RawClient) -> None:
    client.result("test/attach")
    before = _resident(client)
    client.pause()
    flood = client.request("test/flood", {"count": 20_000, "size": 1024})
    client.request("session/abort", {"sessionId": "ses_1"})
    client.wait_mark("abort", seconds=20)
    # The text itself is 20 MB, which the stand-in for the engine keeps.
    assert _resident(client) - before < 120
    client.resume()
    client.answer(flood, seconds=20)
    whole = client.until(lambda m: m.get("method") == "part/updated", seconds=20)
    assert whole["params"]["part"]["text"] == "x" * 20_000 * 1024
    assert "seq" not in whole["params"]
    client.result("test/flood", {"count": 1, "size": 3})
    client.result("test/attach")  # sends what is held
    assert notified(client, "part/delta")[-1]["delta"] == "xxx"


def test_l11_events_over_the_limit_are_dropped_and_the_client_told_to_attach_again(client: RawClient) -> None:
    client.result("test/attach")
    client.pause()
    request = client.request("test/events", {"count": 50, "size": 1 << 20})
    client.wait_mark("events")
    client.request("session/abort", {"sessionId": "ses_1"})
    client.wait_mark("abort")
    client.resume()
    client.answer(request, seconds=20)
    resync = client.notification("session/resync", seconds=20)["params"]
    assert resync["sessionId"] == "ses_1"
    assert resync["position"] == {"epoch": "e", "seq": 99}
    arrived = len(notified(client, "part/updated"))
    assert 30 <= arrived < 50
    client.result("test/events", {"count": 1, "size": 5})
    client.notification("part/updated")


def test_answers_are_never_dropped(client: RawClient) -> None:
    client.pause()
    text = "a" * (4 << 20)
    requests = [client.request("test/echo", {"text": text}) for _ in range(12)]
    small = client.request("test/echo", {"text": "small"})
    client.request("session/abort", {"sessionId": "ses_1"})
    client.wait_mark("abort")
    client.resume()
    results = [client.answer(request, seconds=20) for request in [*requests, small]]
    kinds = {m["error"]["data"]["kind"] for m in results if "error" in m}
    assert kinds == {"overloaded"}
    assert sum("result" in m for m in results) >= 8
