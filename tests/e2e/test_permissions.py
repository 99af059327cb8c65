"""Permissions on the real process: modes, scopes, refusals, several questions at once, late replies."""

import asyncio

import pytest

from e2e.client import Client, Message, RpcError
from e2e.model import Script, calls, says
from e2e.talk import Talk


def bash(command: str) -> tuple[str, Message]:
    return ("bash", {"command": command})


async def test_a_plain_reject_stops_the_turn(talk: Talk, model: Script) -> None:
    model.plays(calls(bash("echo a > a"), bash("echo b > b")))
    turn_id = (await talk.prompt("Run them."))["turnId"]
    await talk.reply(await talk.asked(), "reject")
    assert (await talk.ended(turn_id))["stopReason"] == "rejected"
    assert [tool["state"]["status"] for tool in await talk.tools()] == ["error", "error"]
    assert not (talk.folder / "a").exists()
    assert not (talk.folder / "b").exists()
    assert len(model.requests) == 1
    model.plays(says("As you wish."))
    assert (await talk.prompt("Do not.", wait="idle"))["stopReason"] == "done"


async def test_a_reject_with_words_goes_to_the_model_and_the_turn_goes_on(talk: Talk, model: Script) -> None:
    model.plays(calls(bash("echo a > a")), says("Then I will not."))
    turn_id = (await talk.prompt("Run it."))["turnId"]
    await talk.reply(await talk.asked(), "reject", message="Use a file named c instead, 测试.")
    assert (await talk.ended(turn_id))["stopReason"] == "done"
    [told] = [message for message in model.requests[1]["messages"] if message["role"] == "tool"]
    assert "Use a file named c instead, 测试." in told["content"]
    [resolved] = talk.seen("permission/resolved")
    assert (resolved["outcome"], resolved["reply"], resolved["by"]) == ("rejected", "reject", "client")


async def test_the_first_reply_counts(talk: Talk, model: Script) -> None:
    model.plays(calls(bash("echo a > a")), says("Done."))
    await talk.prompt("Run it.")
    asked = await talk.asked()
    ids = [
        talk.client.send("permission/reply", {"permissionId": asked["permissionId"], "reply": reply})
        for reply in ("once", "reject", "once")
    ]
    replies = [await talk.client.answer(request_id) for request_id in ids]
    assert [reply["status"] for reply in replies] == ["accepted", "superseded", "superseded"]
    assert all(reply["resolution"]["outcome"] == "allowed" for reply in replies)
    assert (await talk.ended())["stopReason"] == "done"
    assert (talk.folder / "a").exists()
    late = await talk.reply(asked, "reject")
    assert (late["status"], late["resolution"]["outcome"]) == ("superseded", "allowed")
    assert len(talk.seen("permission/resolved")) == 1


async def test_an_unknown_reply_allows_nothing(talk: Talk, model: Script) -> None:
    model.plays(calls(bash("echo a > a")), says("Done."))
    await talk.prompt("Run it.")
    asked = await talk.asked()
    for wrong in ("yes", "allow", "", None, True, ["once"]):
        with pytest.raises(RpcError) as refused:
            await talk.client.request("permission/reply", {"permissionId": asked["permissionId"], "reply": wrong})
        assert refused.value.kind == "invalid_params"
    assert not (talk.folder / "a").exists()
    await talk.reply(asked)
    await talk.ended()


async def test_p12_always_for_the_session_asks_no_more_there_but_elsewhere(
    talk: Talk, model: Script, shared: Client
) -> None:
    model.plays(calls(bash("git status")), calls(bash("git status --short"), ids="second"), says("Done."))
    await talk.prompt("Look.")
    asked = await talk.asked()
    [always] = [option for option in asked["options"] if option["kind"] == "always"]
    assert set(always["scope"]) == {"session", "project"}
    await talk.reply(asked, "always", scope="session", patterns=always["patterns"])
    assert (await talk.ended())["stopReason"] == "done"
    assert len(talk.seen("permission/asked")) == 1
    rules = (await talk.ask("permission/rules"))["rules"]
    assert [(rule["permission"], rule["pattern"], rule["scope"]) for rule in rules] == [
        ("bash", pattern, "session") for pattern in always["patterns"]
    ]
    other = await Talk.begin(shared, talk.folder)
    model.plays(calls(bash("git status")))
    await other.prompt("Look.")
    await other.asked()
    await other.abort()

    for rule in rules:
        left = await talk.ask("permission/forget", rule=rule)
    assert left["rules"] == []
    model.plays(calls(bash("git status")))
    await talk.prompt("Look again.")
    await talk.asked(after=talk.client.mark())


async def test_p12_always_for_the_project_holds_in_its_other_sessions(
    talk: Talk, model: Script, shared: Client
) -> None:
    model.plays(calls(bash("git log")), says("Done."))
    await talk.prompt("Look.")
    await talk.reply(await talk.asked(), "always", scope="project")
    await talk.ended()
    other = await Talk.begin(shared, talk.folder)
    model.plays(calls(bash("git log")), says("Done."))
    assert (await other.prompt("Look.", wait="idle"))["stopReason"] == "done"
    assert other.seen("permission/asked") == []
    [rule] = (await other.ask("permission/rules"))["rules"]
    assert rule["scope"] == "project"
    await other.client.request("permission/forget", {"rule": rule})
    model.plays(calls(bash("git log")))
    await other.prompt("Look.")
    await other.asked()
    await other.abort()


async def test_always_stores_only_what_was_offered(talk: Talk, model: Script) -> None:
    model.plays(calls(bash("git status")))
    await talk.prompt("Look.")
    asked = await talk.asked()
    with pytest.raises(RpcError) as refused:
        await talk.reply(asked, "always", patterns=["*"])
    assert refused.value.kind == "invalid_params"
    assert (await talk.ask("permission/rules"))["rules"] == []
    assert (await talk.ask("session/get"))["pending"]["permissions"] != []


@pytest.mark.parametrize(
    ("mode", "edits", "commands"), [("ask", True, True), ("acceptEdits", False, True), ("auto", False, False)]
)
async def test_modes(talk: Talk, model: Script, mode: str, edits: bool, commands: bool) -> None:
    (talk.folder / "a.txt").write_text("one\n")
    path = str(talk.folder / "a.txt")
    await talk.ask("session/update", mode=mode)
    model.plays(
        calls(("read", {"filePath": path}), ids="r"),
        calls(("edit", {"filePath": path, "oldString": "one", "newString": "two"}), ids="e"),
        calls(bash("cat a.txt"), ids="b"),
        says("Done."),
    )
    turn_id = (await talk.prompt("Do it."))["turnId"]
    if edits:
        await talk.reply(await talk.asked(permission="edit"))
    if commands:
        await talk.reply(await talk.asked(permission="bash"))
    assert (await talk.ended(turn_id))["stopReason"] == "done"
    assert len(talk.seen("permission/asked")) == edits + commands
    assert (talk.folder / "a.txt").read_text() == "two\n"


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("read", {"filePath": "/etc/hostname"}),
        ("write", {"filePath": "{folder}/.git/hooks/pre-commit", "content": "#!/bin/sh\n"}),
        ("write", {"filePath": "{folder}/.vscode/settings.json", "content": "{}"}),
        ("write", {"filePath": "{folder}/../outside.txt", "content": "x"}),
        ("list", {"path": "/etc"}),
    ],
)
async def test_the_mode_auto_still_asks_about_what_is_protected_or_outside(
    talk: Talk, model: Script, name: str, arguments: dict[str, str]
) -> None:
    await talk.ask("session/update", mode="auto")
    filled = {key: value.replace("{folder}", str(talk.folder)) for key, value in arguments.items()}
    model.plays(calls((name, filled)))
    await talk.prompt("Do it.")
    await talk.reply(await talk.asked(), "reject")
    assert (await talk.ended())["stopReason"] == "rejected"
    assert not (talk.folder / ".git").exists()
    assert not (talk.folder.parent / "outside.txt").exists()


async def test_a_change_of_mode_judges_open_questions_anew(talk: Talk, model: Script) -> None:
    model.plays(calls(bash("echo a > a")), says("Done."))
    turn_id = (await talk.prompt("Run it."))["turnId"]
    asked = await talk.asked()
    await talk.ask("session/update", mode="auto")
    resolved = await talk.wait("permission/resolved", permissionId=asked["permissionId"])
    assert (resolved["outcome"], resolved["by"]) == ("allowed", "rule")
    assert (await talk.ended(turn_id))["stopReason"] == "done"
    assert (talk.folder / "a").exists()


async def test_p14_p16_two_questions_at_once_are_answered_apart(talk: Talk, model: Script) -> None:
    """Two reads run together, and so do their questions; the status is `waiting` only when both wait."""
    for name in ("a.env", "b.env"):
        (talk.folder / name).write_text(f"SECRET={name}\n")
    made = [("read", {"filePath": str(talk.folder / name)}) for name in ("a.env", "b.env")]
    model.plays(calls(*made), says("Read."))
    turn_id = (await talk.prompt("Read both."))["turnId"]
    first = await talk.asked()
    second = await talk.wait("permission/asked", lambda p: p["permissionId"] != first["permissionId"])
    await talk.wait("session/status", lambda p: p["status"]["type"] == "waiting")
    pending = (await talk.ask("session/get"))["pending"]["permissions"]
    assert {one["permissionId"] for one in pending} == {first["permissionId"], second["permissionId"]}
    await talk.reply(second)
    assert not talk.seen("permission/resolved", permissionId=first["permissionId"])
    await talk.reply(first)
    assert (await talk.ended(turn_id))["stopReason"] == "done"
    outputs = [message["content"] for message in model.requests[1]["messages"] if message["role"] == "tool"]
    assert "SECRET=a.env" in outputs[0]
    assert "SECRET=b.env" in outputs[1]


async def test_p16_a_plain_reject_also_closes_the_sessions_other_questions(talk: Talk, model: Script) -> None:
    for name in ("a.env", "b.env"):
        (talk.folder / name).write_text("SECRET\n")
    made = [("read", {"filePath": str(talk.folder / name)}) for name in ("a.env", "b.env")]
    model.plays(calls(*made))
    await talk.prompt("Read both.")
    first = await talk.asked()
    second = await talk.wait("permission/asked", lambda p: p["permissionId"] != first["permissionId"])
    await talk.reply(second, "reject")
    assert (await talk.ended())["stopReason"] == "rejected"
    resolved = await talk.wait("permission/resolved", permissionId=first["permissionId"])
    assert resolved["outcome"] == "cancelled"
    assert [tool["state"]["status"] for tool in await talk.tools()] == ["error", "error"]


async def test_p14_a_granted_always_answers_the_other_question_too(talk: Talk, model: Script, shared: Client) -> None:
    model.plays(calls(bash("git status"), bash("git status --short")), says("Done."))
    turn_id = (await talk.prompt("Look."))["turnId"]
    await talk.reply(await talk.asked(), "always")
    assert (await talk.ended(turn_id))["stopReason"] == "done"
    assert len(talk.seen("permission/asked")) == 1


async def test_a_question_is_answered_in_its_own_words(talk: Talk, model: Script) -> None:
    question = {
        "questions": [
            {"header": "Colour", "question": "Which?", "options": [{"label": "Red"}, {"label": "Blue"}]},
            {"header": "Size", "question": "How big?", "options": [{"label": "S"}, {"label": "L"}], "multiple": True},
        ]
    }
    model.plays(calls(("question", question)), says("Noted."))
    turn_id = (await talk.prompt("Ask me."))["turnId"]
    asked = await talk.questioned()
    assert [one["header"] for one in asked["questions"]] == ["Colour", "Size"]
    for wrong in ([["Red"]], [["Red"], ["S"], ["L"]], "Red", [["Red"], "S"]):
        error = await talk.client.refused("question/reply", {"questionId": asked["questionId"], "answers": wrong})
        assert error.kind == "invalid_params"
    reply = await talk.client.request(
        "question/reply", {"questionId": asked["questionId"], "answers": [["A shade of my own"], ["S", "L"]]}
    )
    assert reply["status"] == "accepted"
    assert (await talk.ended(turn_id))["stopReason"] == "done"
    [told] = [message for message in model.requests[1]["messages"] if message["role"] == "tool"]
    assert "A shade of my own" in told["content"]
    assert "S" in told["content"]
    resolved = await talk.wait("question/resolved", questionId=asked["questionId"])
    assert (resolved["outcome"], resolved["by"]) == ("allowed", "client")


async def test_a_dismissed_question_stops_the_turn(talk: Talk, model: Script) -> None:
    question = {"questions": [{"header": "H", "question": "Which?", "options": [{"label": "A"}, {"label": "B"}]}]}
    model.plays(calls(("question", question)))
    turn_id = (await talk.prompt("Ask me."))["turnId"]
    asked = await talk.questioned()
    await talk.client.request("question/reject", {"questionId": asked["questionId"]})
    assert (await talk.ended(turn_id))["stopReason"] == "rejected"
    model.plays(says("Fine."))
    assert (await talk.prompt("Go on.", wait="idle"))["stopReason"] == "done"


async def test_p14_replies_of_many_at_once_resolve_each_once(talk: Talk, model: Script, shared: Client) -> None:
    talks = [await Talk.begin(shared, talk.folder) for _ in range(4)]
    model.plays()
    for number, one in enumerate(talks):
        model.plays(calls(bash(f"echo {number} > made{number}")), says("Done."), mark=f"TALK{number}")
        await one.prompt(f"TALK{number}")
    asked = await asyncio.gather(*(one.asked() for one in talks))
    listed = (await shared.request("permission/list"))["permissions"]
    assert {one["permissionId"] for one in listed} >= {one["permissionId"] for one in asked}
    for one, question in zip(talks, reversed(asked), strict=True):
        await one.reply(question)
    for number, one in enumerate(talks):
        assert (await one.ended())["stopReason"] == "done"
        assert (talk.folder / f"made{number}").read_text() == f"{number}\n"


@pytest.mark.parametrize("delivery", ["steer", "queue"])
async def test_a_prompt_while_asking_cancels_no_question(talk: Talk, model: Script, delivery: str) -> None:
    model.plays(calls(bash("touch ran")), says("It ran."), says("And the other."))
    first = await talk.prompt("Run it.")
    asked = await talk.asked()
    await talk.wait("session/status", lambda p: p["status"]["type"] == "waiting")
    second = await talk.prompt("One thing more.", delivery=delivery)
    assert second["state"] == ("running" if delivery == "steer" else "queued")
    assert (await talk.ask("session/get"))["status"]["type"] == "waiting"
    assert (await talk.reply(asked))["status"] == "accepted"
    assert (await talk.ended(first["turnId"]))["stopReason"] == "done"
    if delivery == "queue":
        await talk.wait("turn/ended", lambda p: p["turnId"] != first["turnId"])
    assert (talk.folder / "ran").exists()
    told = [str(message["content"]) for message in model.requests[1]["messages"]]
    assert any("One thing more." in text for text in told) == (delivery == "steer")


async def test_a_session_that_asks_is_deleted_with_its_question(talk: Talk, model: Script, shared: Client) -> None:
    other = await Talk.begin(shared, talk.folder)
    model.plays(calls(bash("touch ran")))
    await other.prompt("Run it.")
    asked = await other.asked()
    await other.ask("session/delete")
    error = await shared.refused("permission/reply", {"permissionId": asked["permissionId"], "reply": "once"})
    assert error.kind == "permission_not_found"
    listed = (await shared.request("permission/list"))["permissions"]
    assert asked["permissionId"] not in [one["permissionId"] for one in listed]
    assert not (talk.folder / "ran").exists()


async def test_a_file_that_changed_while_it_was_asked_about_is_left_alone(talk: Talk, model: Script) -> None:
    (talk.folder / "a.txt").write_text("one\n")
    path = str(talk.folder / "a.txt")
    edit = {"filePath": path, "oldString": "one", "newString": "two"}
    model.plays(calls(("read", {"filePath": path}), ids="r"), calls(("edit", edit), ids="e"), says("It changed."))
    turn_id = (await talk.prompt("Edit it."))["turnId"]
    asked = await talk.asked()
    (talk.folder / "a.txt").write_text("one, but the user's\n")
    await talk.reply(asked)
    assert (await talk.ended(turn_id))["stopReason"] == "done"
    assert (talk.folder / "a.txt").read_text() == "one, but the user's\n"
    assert (await talk.tools())[1]["state"]["status"] == "error"
