"""Bad input of every kind: the answer says what is wrong and what to do, and every session stays usable."""

import json
import os
import socket

import pytest

from e2e.client import Client, Message, RpcError
from e2e.model import Answer, Script, Status, calls, data, says
from e2e.people import is_for_people, usable
from e2e.server import Machine
from e2e.talk import Talk

# -- ids


@pytest.mark.parametrize(
    ("method", "params", "kind"),
    [
        ("session/get", {}, "session_not_found"),
        ("session/messages", {}, "session_not_found"),
        ("session/attach", {}, "session_not_found"),
        ("session/prompt", {"parts": [{"type": "text", "text": "hi"}]}, "session_not_found"),
        ("session/abort", {}, "session_not_found"),
        ("session/shell", {"command": "true"}, "session_not_found"),
        ("session/continue", {}, "session_not_found"),
        ("session/update", {"title": "x"}, "session_not_found"),
        ("queue/list", {}, "session_not_found"),
        ("queue/remove", {"messageId": "msg_1"}, "session_not_found"),
        ("part/get", {"partId": "prt_1"}, "session_not_found"),
        ("permission/reply", {"permissionId": "per_none", "reply": "once"}, "permission_not_found"),
        ("question/reply", {"questionId": "que_none", "answers": []}, "question_not_found"),
        ("question/reject", {"questionId": "que_none"}, "question_not_found"),
    ],
)
@pytest.mark.parametrize(
    "session_id", ["ses_01ARZ3NDEKTSV4RRFFQ69G5FAV", "ses_none", "", "../../etc/passwd", "x" * 5000]
)
async def test_c19_unknown_ids_name_nothing(
    shared: Client, method: str, params: Message, kind: str, session_id: str
) -> None:
    error = await shared.refused(method, {"sessionId": session_id, **params})
    assert (error.code, error.kind) == (-32803, kind)
    assert "\n" not in error.message


async def test_ids_of_other_things_in_a_session_name_nothing(talk: Talk, model: Script) -> None:
    for method, params, kind in (
        ("part/get", {"partId": "prt_none"}, "part_not_found"),
        ("queue/remove", {"messageId": "msg_none"}, "message_not_found"),
        ("session/messages", {"before": "x"}, "invalid_params"),
        ("session/messages", {"before": "-1"}, "invalid_params"),
        ("session/messages", {"before": "9" * 30}, "invalid_params"),
    ):
        error = await talk.client.refused(method, {"sessionId": talk.id, **params})
        assert error.kind == kind, (method, params)
        is_for_people(error.message)
    assert await talk.abort(turnId="trn_none") == {"aborted": False}
    await usable(talk, model)


async def test_an_agent_or_a_model_that_there_is_not(talk: Talk, model: Script) -> None:
    with pytest.raises(RpcError) as refused:
        await talk.prompt("Hi.", agent="nobody")
    assert refused.value.kind == "agent_not_found"
    assert "nobody" in refused.value.message
    assert "build" in refused.value.message
    for method, params in (
        ("session/prompt", {"parts": [{"type": "text", "text": "Hi."}]}),
        ("session/update", {}),
    ):
        wrong = {"providerId": "faek", "modelId": "test-model"}
        error = await talk.client.refused(method, {"sessionId": talk.id, "model": wrong, **params})
        assert error.kind == "model_not_found"
        assert "fake/test-model" in error.data["suggestions"]
        assert "faek" in error.message
        is_for_people(error.message)
    with pytest.raises(RpcError) as refused:
        await talk.client.request("session/create", {"directory": str(talk.folder), "agent": "nobody"})
    assert refused.value.kind == "agent_not_found"
    assert await talk.messages() == []
    await usable(talk, model)


@pytest.mark.parametrize("directory", ["/no/such/folder", "/etc/hostname", "relative"])
async def test_a_folder_that_is_none(shared: Client, directory: str) -> None:
    error = await shared.refused("session/create", {"directory": directory})
    assert error.kind == "invalid_params"
    is_for_people(error.message)


# -- prompts


async def test_mentioned_files_that_cannot_be_read_are_told_to_the_model(talk: Talk, model: Script) -> None:
    (talk.folder / "binary").write_bytes(b"\x00\x01\x02" * 100)
    (talk.folder / "closed.txt").write_text("x")
    os.mkfifo(talk.folder / "pipe")
    (talk.folder / "good.txt").write_text("good words\n")
    names = ("missing.txt", "binary", "pipe", "good.txt")
    parts = [{"type": "text", "text": "Look at these."}]
    parts += [{"type": "file", "uri": (talk.folder / name).as_uri()} for name in names]
    parts += [{"type": "file", "uri": "file:///no/such/%zz"}, {"type": "file", "uri": "https://example.invalid/x"}]
    model.plays(says("I looked."))
    result = await talk.ask("session/prompt", parts=parts, wait="idle")
    assert result["stopReason"] == "done"
    told = json.dumps(model.requests[0]["messages"])
    assert "good words" in told
    for name in names:
        assert name in told
    await usable(talk, model)


async def test_odd_prompts(talk: Talk, model: Script) -> None:
    for parts in (
        [{"type": "text"}],
        [{"type": "image", "data": "x"}],
        [{"text": "no type"}],
        ["text"],
        [None],
        {"type": "text", "text": "no list"},
        [],
    ):
        assert (await talk.client.refused("session/prompt", {"sessionId": talk.id, "parts": parts})).kind == (
            "invalid_params"
        )
    await usable(talk, model)


# -- calls of the model


@pytest.mark.parametrize(
    ("name", "arguments", "words"),
    [
        ("no_such_tool", {"a": 1}, "no_such_tool"),
        ("read", {}, "filePath"),
        ("read", {"filePath": 5}, "filePath"),
        ("read", {"filePath": "missing.txt"}, "missing.txt"),
        ("edit", {"filePath": "a.txt", "oldString": "x"}, "newString"),
        ("grep", {"pattern": "("}, "("),
        ("bash", {"command": ""}, "command"),
        ("bash", {"command": "true", "timeout": "soon"}, "timeout"),
        ("todowrite", {"todos": "none"}, "todos"),
        ("question", {"questions": []}, "questions"),
    ],
)
async def test_a_wrong_call_is_answered_so_that_the_model_can_mend_it(
    talk: Talk, model: Script, name: str, arguments: Message, words: str
) -> None:
    model.plays(calls((name, arguments)), says("I see."))
    assert (await talk.prompt("Try.", wait="idle"))["stopReason"] == "done"
    [told] = [message for message in model.requests[1]["messages"] if message["role"] == "tool"]
    assert words in told["content"]
    assert "Traceback" not in told["content"]
    [tool] = await talk.tools()
    assert tool["state"]["status"] == "error"
    assert talk.seen("permission/asked") == []
    await usable(talk, model)


async def test_arguments_that_do_not_parse_are_never_run(talk: Talk, model: Script) -> None:
    piece = {
        "index": 0,
        "id": "call_0",
        "type": "function",
        "function": {"name": "bash", "arguments": '{"command": "ec'},
    }
    chunk = data({"choices": [{"index": 0, "delta": {"tool_calls": [piece]}}]})
    end = data({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]})
    model.plays(Answer([chunk, end, b"data: [DONE]\n\n"]), says("I see."))
    assert (await talk.prompt("Try.", wait="idle"))["stopReason"] == "done"
    [tool] = await talk.tools()
    assert tool["state"]["status"] == "error"
    assert talk.seen("permission/asked") == []
    await usable(talk, model)


# -- providers


async def failed(talk: Talk, words: str) -> Message:
    end = await talk.ended(seconds=20)
    assert end["stopReason"] == "error"
    message = end["error"]["data"]["message"]
    is_for_people(message)
    assert words in message
    assert "a-key-of-the-tests" not in json.dumps(end)
    [answer] = [one["message"] for one in await talk.messages() if one["message"]["role"] == "assistant"]
    assert answer["error"]["name"] == end["error"]["name"]
    assert answer["time"]["completed"]
    return end["error"]


async def test_a_wrong_key(talk: Talk, model: Script) -> None:
    model.plays(Status(401, {"error": {"message": "Incorrect API key provided: a-key-of-the-tests"}}))
    await talk.prompt("Hi.")
    error = await failed(talk, "key")
    assert error["name"] == "ProviderAuthError"
    assert "fake" in error["data"]["message"]
    assert len(model.requests) == 1
    await usable(talk, model)


async def test_the_providers_own_words_are_shown(talk: Talk, model: Script) -> None:
    model.plays(Status(400, {"error": {"message": "this model eats no tools"}}))
    await talk.prompt("Hi.")
    error = await failed(talk, "this model eats no tools")
    assert (error["name"], error["data"]["statusCode"]) == ("APIError", 400)
    await usable(talk, model)


async def test_html_in_place_of_an_answer(talk: Talk, model: Script) -> None:
    page = b"<html><head><title>Sign in</title></head><body>captive portal</body></html>"
    model.plays(*[Answer([page], content_type="text/html")] * 8)
    await talk.prompt("Hi.")
    end = await talk.wait("turn/ended", seconds=5) if not await retries(talk) else await stop(talk)
    assert end["stopReason"] in ("error", "cancelled")
    await usable(talk, model)


async def retries(talk: Talk) -> bool:
    """Whether the failure is one that is tried again."""
    told = await talk.wait(
        "session/status", lambda p: p["status"]["type"] in ("retry", "idle"), after=talk.client.mark()
    )
    return told["status"]["type"] == "retry"


async def stop(talk: Talk) -> Message:
    await talk.abort()
    return await talk.ended()


async def test_s13_c11_a_failed_attempt_leaves_nothing_behind(talk: Talk, model: Script) -> None:
    """S13, C11: a stream that breaks is tried again; what it had streamed goes."""
    broken = says("half of it, and then", 3, gate=None)
    model.plays(
        Answer([*broken.events[:2], data({"error": {"message": "overloaded", "code": 529}})]),
        says("The whole of it."),
    )
    mark = talk.client.mark()
    await talk.prompt("Hi.")
    status = await talk.wait("session/status", lambda p: p["status"]["type"] == "retry", after=mark)
    assert "overloaded" in status["status"]["message"]
    end = await talk.ended(seconds=20)
    assert end["stopReason"] == "done"
    assert await talk.texts() == ["The whole of it."]
    assert len(model.requests) == 2
    assert talk.seen("part/removed")


async def test_nobody_listens_at_the_provider(machine: Machine, model: Script) -> None:
    """The wait before the next try shows, and says what is wrong; an abort ends it."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    machine.settings(f"http://127.0.0.1:{port}/v1")
    folder = machine.project("deaf")
    async with machine.editor(folder) as client:
        talk = await Talk.begin(client, folder)
        await talk.prompt("Hi.")
        told = await client.wait_for(
            "session/status", lambda p: p["status"]["type"] in ("retry", "idle"), after=client.mark()
        )
        if told["status"]["type"] == "retry":
            assert f"127.0.0.1:{port}" in told["status"]["message"]
            await talk.abort()
        else:
            await failed(talk, f"127.0.0.1:{port}")
        assert (await talk.ask("session/get"))["status"]["type"] == "idle"
        await talk.ask("session/update", model={"providerId": "fake", "modelId": "test-model"})


async def test_s28_a_demanded_wait_of_hours_ends_the_turn_and_says_when(talk: Talk, model: Script) -> None:
    model.plays(Status(429, {"error": {"message": "daily limit"}}, {"retry-after": "7200"}))
    await talk.prompt("Hi.")
    await failed(talk, "daily limit")
    assert len(model.requests) == 1
    await usable(talk, model)
