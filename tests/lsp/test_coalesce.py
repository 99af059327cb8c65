"""Joining deltas."""

import asyncio
import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from agentls.lsp.coalesce import Coalescer
from agentls.schema.event import Delta, Scope

SCOPE = Scope("ses_1", "ses_1", "/")


class Sink:
    def __init__(self) -> None:
        self.sent: list[dict[str, Any]] = []
        self.news = asyncio.Event()

    async def until(self, count: int) -> None:
        async with asyncio.timeout(5):
            while len(self.sent) < count:
                self.news.clear()
                await self.news.wait()

    def __call__(self, body: bytes) -> None:
        message = json.loads(body)
        assert message["method"] == "part/delta"
        self.sent.append(message["params"])
        self.news.set()


async def test_a_delta_on_another_field_flushes_the_first() -> None:
    sink = Sink()
    coalescer = Coalescer(asyncio.get_running_loop(), sink, 10)
    for field, base, text in [("raw", 0, "a"), ("raw", 1, "b"), ("output", 2, "c"), ("output", 3, "d")]:
        coalescer.add(Delta(SCOPE, "m", "p", field, base, base + 1, text))
    coalescer.flush("ses_1")
    assert [(d["field"], d["base"], d["rev"], d["delta"]) for d in sink.sent] == [
        ("raw", 0, 1, "a"),
        ("raw", 1, 2, "b"),
        ("output", 2, 4, "cd"),
    ]


async def test_a_gap_in_the_revisions_is_not_joined_over() -> None:
    sink = Sink()
    coalescer = Coalescer(asyncio.get_running_loop(), sink, 10)
    for base, rev in [(0, 1), (1, 2), (5, 6)]:
        coalescer.add(Delta(SCOPE, "m", "p", "text", base, rev, "x"))
    coalescer.flush("ses_1")
    assert [(d["base"], d["rev"]) for d in sink.sent] == [(0, 1), (1, 2), (5, 6)]


async def test_a_child_names_its_root() -> None:
    sink = Sink()
    coalescer = Coalescer(asyncio.get_running_loop(), sink, 0)
    coalescer.add(Delta(Scope("ses_2", "ses_1", "/"), "m", "p", "text", 0, 1, 'q"\n'))
    assert sink.sent == [
        {
            "sessionId": "ses_2",
            "rootSessionId": "ses_1",
            "messageId": "m",
            "partId": "p",
            "field": "text",
            "base": 0,
            "rev": 1,
            "delta": 'q"\n',
        }
    ]


async def test_what_is_held_goes_out_by_itself_and_not_after_it_was_dropped() -> None:
    sink = Sink()
    coalescer = Coalescer(asyncio.get_running_loop(), sink, 0.02)
    for part in ("kept", "dropped"):
        coalescer.add(Delta(SCOPE, "m", part, "text", 0, 1, "1"))
        coalescer.add(Delta(SCOPE, "m", part, "text", 1, 2, "2"))
    coalescer.drop("ses_1", "dropped")
    await sink.until(3)
    coalescer.add(Delta(SCOPE, "m", "later", "text", 0, 1, "1"))
    coalescer.add(Delta(SCOPE, "m", "later", "text", 1, 2, "2"))
    await sink.until(5)  # whatever was due before is sent by now
    assert [(d["partId"], d["delta"]) for d in sink.sent] == [
        ("kept", "1"),
        ("dropped", "1"),
        ("kept", "2"),
        ("later", "1"),
        ("later", "2"),
    ]


@given(st.lists(st.tuples(st.sampled_from("pq"), st.sampled_from(["text", "raw"]), st.text(max_size=9)), max_size=40))
def test_a_client_that_appends_has_the_whole_text(deltas: list) -> None:
    async def run() -> None:
        sink = Sink()
        coalescer = Coalescer(asyncio.get_running_loop(), sink, 10)
        revs, texts = {"p": 0, "q": 0}, {}
        for part, field, text in deltas:
            coalescer.add(Delta(SCOPE, "m", part, field, revs[part], revs[part] + 1, text))
            revs[part] += 1
            texts[part, field] = texts.get((part, field), "") + text
        coalescer.flush("ses_1")
        coalescer.close()
        mine: dict[tuple[str, str], str] = {}
        at = {"p": 0, "q": 0}
        for d in sink.sent:
            assert d["base"] == at[d["partId"]]
            at[d["partId"]] = d["rev"]
            mine[d["partId"], d["field"]] = mine.get((d["partId"], d["field"]), "") + d["delta"]
        assert mine == texts
        assert at == revs

    asyncio.run(run())
