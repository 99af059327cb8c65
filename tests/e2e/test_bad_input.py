"""Bad input of every kind: the answer says what is wrong and what to do, and every session stays usable."""

import json
import os
import socket

import pytest

from e2e.client import Client, Message, RpcError
from e2e.model import Answer, Script, Status, calls, data, says
from e2e.server import OPTIONS, Machine, provider
from e2e.talk import Talk


async def usable(talk: Talk, model: Script) -> None:
    model.plays(says("I am here."))
    result = await talk.prompt("Still there?", wait="idle")
    assert result["stopReason"] == "done", result
    assert (await talk.texts())[-1] == "I am here."


def is_for_people(message: str) -> None:
    assert message
    assert "\n" not in message
    assert "Traceback" not in message
    assert len(message) < 600


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


async def test_a_failed_attempt_leaves_nothing_behind(talk: Talk, model: Script) -> None:
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


async def test_a_demanded_wait_of_hours_ends_the_turn_and_says_when(talk: Talk, model: Script) -> None:
    model.plays(Status(429, {"error": {"message": "daily limit"}}, {"retry-after": "7200"}))
    await talk.prompt("Hi.")
    await failed(talk, "daily limit")
    assert len(model.requests) == 1
    await usable(talk, model)


# -- settings


BROKEN: list[tuple[str, int | None, int | None]] = [
    ('{\n  "model": "fake/test-model",\n  "provider": {"fake" 5}\n}\n', 3, 23),
    ("{", 1, None),
    ("not json at all", 1, 1),
    ('{"model": 5}', None, None),
    ('{"permission": {"bash": "perhaps"}}', None, None),
    ('{"provider": []}', None, None),
    ("[]", None, None),
]


async def test_broken_settings_are_told_with_their_place(machine: Machine, model: Script) -> None:
    """From the start and while it runs; mended ones count at once."""
    machine.config.write_text(BROKEN[0][0])
    folder = machine.project("broken")
    async with machine.editor(folder) as client:
        talk = await Talk.begin(client, folder)
        for text, line, column in BROKEN:
            write(machine, client, text)
            status = await client.request("server/status")
            [problem, *_] = [one for one in status["problems"] if one.get("path") == str(machine.config)]
            is_for_people(problem["message"])
            assert problem["severity"] == "error"
            assert line in (None, problem["line"]), text
            assert column in (None, problem["column"]), text
        machine.settings(model.url)
        write(machine, client, machine.config.read_text())
        await usable(talk, model)
        write(machine, client, BROKEN[0][0])
        await usable(talk, model)


def write(machine: Machine, client: Client, text: str) -> None:
    """The word of the editor has the files read again at once; else that is done twice a second."""
    machine.config.write_text(text)
    client.notify("workspace/didChangeConfiguration", {"settings": {"agentls": {}}})


@pytest.mark.parametrize("how", ["no text", "no right", "too large"])
async def test_settings_that_cannot_be_read(machine: Machine, model: Script, how: str) -> None:
    if how == "no right" and os.geteuid() == 0:
        pytest.skip("root may read everything")
    if how == "no text":
        machine.config.write_bytes(b'{"model": "\xff\xfe"}')
    elif how == "no right":
        machine.config.chmod(0)
    else:
        machine.config.write_text(" " * (1 << 21))
    folder = machine.project("unreadable")
    async with machine.editor(folder) as client:
        status = await client.request("server/status")
        [problem] = [one for one in status["problems"] if one.get("path") == str(machine.config)]
        is_for_people(problem["message"])
        await Talk.begin(client, folder)


async def test_unknown_keys_warn_and_nothing_stops(machine: Machine, model: Script) -> None:
    machine.settings(model.url, colour="red", permission={"bash": "allow"})
    folder = machine.project("keys")
    async with machine.editor(folder) as client:
        status = await client.request("server/status")
        [problem] = status["problems"]
        assert problem["severity"] == "warning"
        assert "colour" in problem["message"]
        talk = await Talk.begin(client, folder)
        model.plays(calls(("bash", {"command": "echo hi"})), says("Done."))
        assert (await talk.prompt("Run it.", wait="idle"))["stopReason"] == "done"
        assert talk.seen("permission/asked") == []


async def test_the_editors_settings_come_last_and_can_change(machine: Machine, model: Script) -> None:
    folder = machine.project("editor")
    options = {
        "protocolVersion": 1,
        "ui": {"permission": True},
        "trusted": True,
        "settings": {"permission": {"bash": "deny"}},
    }
    async with machine.editor(folder, options) as client:
        talk = await Talk.begin(client, folder)
        model.plays(calls(("bash", {"command": "echo hi"})), says("Denied."))
        assert (await talk.prompt("Run it.", wait="idle"))["stopReason"] == "done"
        assert [tool["state"]["status"] for tool in await talk.tools()] in ([], ["error"])
        client.notify("workspace/didChangeConfiguration", {"settings": {"agentls": {"permission": {"bash": "allow"}}}})
        model.plays(calls(("bash", {"command": "echo hi"})), says("Done."))
        assert (await talk.prompt("Run it.", wait="idle"))["stopReason"] == "done"
        assert (await talk.tools())[-1]["state"]["status"] == "completed"
        assert talk.seen("permission/asked") == []


@pytest.mark.parametrize("options", [[], "text", 5, {"protocolVersion": "x", "ui": 5}, {"events": {"coalesceMs": -5}}])
async def test_odd_options_of_a_client_do_not_keep_it_out(machine: Machine, options: object) -> None:
    folder = machine.project("odd")
    async with machine.process(folder) as client:
        await client.request(
            "initialize",
            {"processId": None, "rootUri": None, "capabilities": {}, "initializationOptions": {"agentls": options}},
        )
        assert "sessions" in await client.request("session/list")


async def test_a_model_of_a_provider_without_a_key(machine: Machine, model: Script) -> None:
    keyless = provider(model.url)
    keyless["options"].pop("apiKey")
    machine.settings(model.url, provider={"fake": keyless})
    folder = machine.project("keyless")
    async with machine.editor(folder) as client:
        talk = await Talk.begin(client, folder)
        model.plays(says("No key needed here."))
        result = await talk.prompt("Hi.", wait="idle")
        assert result["stopReason"] in ("done", "error")
        if result["stopReason"] == "error":
            assert "key" in result["error"]["data"]["message"].lower()


async def test_a_data_folder_that_cannot_be_written_is_said(machine: Machine) -> None:
    machine.data.parent.mkdir(parents=True)
    machine.data.write_text("a file where the folder should be")
    folder = machine.project("nowhere")
    async with machine.process(folder) as client:
        assert await client.gone() != 0
        said = client.errors.decode()
        assert str(machine.data) in said
        assert "Traceback" not in said


async def test_a_queued_prompt_whose_agent_is_gone_is_held(machine: Machine, model: Script) -> None:
    """The end of the turn before it is told as it was; `continue` says what is missing."""
    folder = machine.project("gone")
    helper = {"agent": {"helper": {"description": "helps", "mode": "primary", "prompt": "Help."}}}
    async with machine.editor(folder, {**OPTIONS, "settings": helper}) as client:
        talk = await Talk.begin(client, folder)
        model.plays(says("one two", 2, gate="half"))
        turn_id = (await talk.prompt("One."))["turnId"]
        await talk.first_text()
        await talk.prompt("Two.", delivery="queue", agent="helper")
        client.notify("workspace/didChangeConfiguration", {"settings": {"agentls": {}}})
        await talk.ask("session/get")
        model.open("half")
        assert (await talk.ended(turn_id))["stopReason"] == "done"
        await talk.idle()
        assert [item["text"] for item in (await talk.ask("queue/list"))["items"]] == ["Two."]
        error = await client.refused("session/continue", {"sessionId": talk.id})
        assert error.kind == "agent_not_found"
        assert "helper" in error.message
        await talk.abort(queue="clear")
        await usable(talk, model)
