"""Servers that stall, say nothing, cut off or always fail: the turn ends or goes on, and the session stays usable."""

import json

from e2e.client import Message
from e2e.model import Answer, C, Script, Status, calls, says
from e2e.people import is_for_people, usable
from e2e.server import Machine, provider
from e2e.talk import Talk
from fakes.replies import DONE, Every, F, Hang, Reset, T, text

ALWAYS = {
    502: Status(502, "<html>bad gateway</html>", {"retry-after": "0", "server": "proxy"}),
    429: Status(429, {"error": {"message": "slow down"}}, {"retry-after": "0"}),
    529: Status(529, {"error": {"message": "overloaded"}}, {"retry-after-ms": "0"}),
}


async def failed(talk: Talk, words: str) -> Message:
    end = await talk.ended(seconds=30)
    assert end["stopReason"] == "error"
    is_for_people(end["error"]["data"]["message"])
    assert words in end["error"]["data"]["message"]
    await talk.idle()
    return end["error"]


async def test_s28_always_the_same_failure_ends_the_turn_and_each_wait_was_shown(talk: Talk, model: Script) -> None:
    for status, reply in ALWAYS.items():
        mark = talk.client.mark()
        model.plays(*[reply] * 8)
        await talk.prompt("Hi.")
        end = await talk.ended(after=mark, seconds=30)
        assert end["stopReason"] == "error"
        assert end["error"]["data"]["statusCode"] == status
        assert len(model.requests) == 6
        told = [p["status"] for p in talk.seen("session/status", after=mark) if p["status"]["type"] == "retry"]
        assert [one["attempt"] for one in told] == [2, 3, 4, 5, 6]
        assert all(one["message"] for one in told)
        await usable(talk, model)


async def test_s27_a_prompt_that_is_too_long_says_so_and_is_sent_once(talk: Talk, model: Script) -> None:
    words = "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens"
    model.plays(Status(400, {"error": {"message": words}}), says("never"))
    await talk.prompt("Hi.")
    error = await failed(talk, "context")
    assert error["name"] == "ContextOverflowError"
    assert len(model.requests) == 1
    await usable(talk, model)


async def test_s23_s24_a_stream_of_comments_or_of_an_end_alone_is_an_error(machine: Machine, model: Script) -> None:
    folder = machine.project("empty")
    bodies = {"COMMENTS": [b": hb\n\n"] * 3, "END": [DONE], "BLANK": [b"data:\n\n", b"data: \n\n"]}
    async with machine.editor(folder) as client:
        talks = [await Talk.begin(client, folder) for _ in bodies]
        for talk, (mark, events) in zip(talks, bodies.items(), strict=True):
            model.plays(Answer(events), Answer(events), says("never"), mark=mark)
            await talk.prompt(mark)
        for talk in talks:
            await failed(talk, "empty")
            assert await talk.texts() == []
        assert len(model.requests) == 2 * len(bodies)
        for talk in talks:
            await usable(talk, model)


async def test_s24_a_stream_that_stalls_is_told_and_tried_again(machine: Machine, model: Script) -> None:
    """Silent, or with comments only: the settings' time counts data. What had come of it goes."""
    machine.settings(model.url, provider={"fake": provider(model.url, timeout=1_000)})
    folder = machine.project("stalls")
    silences = {"SILENT": Hang(), "COMMENTS": Every(0.1, b": hb\n\n"), "BLANK": Every(0.1, b"data:\n\n")}
    async with machine.editor(folder) as client:
        talks = [await Talk.begin(client, folder) for _ in silences]
        for talk, (mark, silence) in zip(talks, silences.items(), strict=True):
            model.plays(Answer([C({"content": "half of "}), silence]), says("All of it."), mark=mark)
            await talk.prompt(mark)
        for talk in talks:
            retry = await talk.wait("session/status", lambda p: p["status"]["type"] == "retry")
            assert "1 s" in retry["status"]["message"]
            assert (await talk.ended(seconds=30))["stopReason"] == "done"
            assert await talk.texts() == ["All of it."]
        for talk in talks:
            await usable(talk, model)


async def test_s24_s28_a_prompt_at_the_time_of_the_wait_is_taken(machine: Machine, model: Script) -> None:
    """Nobody is told "busy" for ever: an abort ends the wait, and the next prompt is answered."""
    machine.settings(model.url, provider={"fake": provider(model.url, timeout=1_000)})
    folder = machine.project("stalls")
    async with machine.editor(folder) as client:
        talk = await Talk.begin(client, folder)
        model.plays(Answer([C({"content": "half of "}), Hang()]))
        await talk.prompt("Hi.")
        await talk.wait("session/status", lambda p: p["status"]["type"] == "retry")
        assert (await talk.abort())["aborted"] is True
        await usable(talk, model)


async def test_s12_a_write_that_ends_in_the_middle_is_not_made(talk: Talk, model: Script) -> None:
    start = {"index": 0, "id": "t", "function": {"name": "write", "arguments": '{"filePath":"a.py","content":"imp'}}
    model.plays(Answer([T(start)]), says("I begin anew."))
    await talk.ask("session/update", mode="acceptEdits")
    await talk.prompt("Write.")
    assert (await talk.ended(seconds=30))["stopReason"] == "done"
    assert not (talk.folder / "a.py").exists()
    assert await talk.tools() == []
    assert len(model.requests) == 2
    assert len(talk.seen("part/removed")) >= 1
    assert "write" not in json.dumps(model.requests[1]["messages"][1:])


async def test_s13_calls_of_a_reset_attempt_are_not_run(talk: Talk, model: Script) -> None:
    """Whole calls, and half a text, before the reset: the next attempt's alone count."""
    made = calls(("bash", {"command": "touch first"}), words="Hel").events[:-3]
    model.plays(Answer([*made, Reset()]), calls(("bash", {"command": "touch second"}), words="Hello"), says("Done."))
    await talk.ask("session/update", mode="auto")
    await talk.prompt("Run it.")
    assert (await talk.ended(seconds=30))["stopReason"] == "done"
    assert await talk.texts() == ["Hello", "Done."]
    assert [tool["state"]["input"]["command"] for tool in await talk.tools()] == ["touch second"]
    assert not (talk.folder / "first").exists()
    assert (talk.folder / "second").exists()


async def test_s01_s03_s05_a_call_keeps_one_id_from_the_stream_to_its_result(talk: Talk, model: Script) -> None:
    """Without an id, with one that is later blank, and with one that comes last."""
    (talk.folder / "a.txt").write_text("words\n")
    arguments = '{"filePath":"a.txt"}'
    odd = [
        [{"index": 0, "function": {"name": "read", "arguments": arguments[:9]}}],
        [{"index": 0, "function": {"arguments": arguments[9:]}}],
        [{"index": 1, "id": "t1", "function": {"name": "list", "arguments": "{"}}],
        [{"index": 1, "id": "", "function": {"name": "", "arguments": "}"}}],
        [{"index": 2, "function": {"name": "glob", "arguments": '{"pattern":"*"}'}}],
        [{"index": 2, "id": "real_1"}],
    ]
    model.plays(Answer([*(T(*entries) for entries in odd), F("tool_calls"), DONE]), Answer([*text("Read."), F("stop")]))
    assert (await talk.prompt("Read.", wait="idle"))["stopReason"] == "done"
    [answer] = [message for message in model.requests[1]["messages"] if message.get("tool_calls")]
    ids = [call["id"] for call in answer["tool_calls"]]
    results = [message for message in model.requests[1]["messages"] if message["role"] == "tool"]
    assert [message["tool_call_id"] for message in results] == ids
    assert len(set(ids)) == 3
    assert ids[1:] == ["t1", "real_1"]
    assert "words" in results[0]["content"]
    assert [tool["tool"] for tool in await talk.tools()] == ["read", "list", "glob"]
