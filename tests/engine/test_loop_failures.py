"""Requests that fail: which are made again, what stays of them, and how the turn ends."""

import json
from pathlib import Path

import pytest

from agentls.model.failures import Endpoint, FailureKind, ModelFailure, from_status
from agentls.model.scripted import Call, End, Fail, Say, ScriptedModel
from agentls.schema.event import Event, StatusChanged
from engine.house import House, house, is_method, params

ENDPOINT = Endpoint("script", "one", "http://127.0.0.1:9/v1", loopback=True)
BROKEN = ModelFailure(FailureKind.STREAM, "the stream broke", provider="script", retryable=True, retry_after=0)


def answered(status: int, body: str, **headers: str) -> Fail:
    """The failure that the client makes of such an answer."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Fail(from_status(ENDPOINT, status, named, body))


def retries(it: House) -> list[int]:
    told = [event.status for event in it.events if isinstance(event, StatusChanged) and event.status.type == "retry"]
    return [status.attempt for status in told if status.type == "retry"]


@pytest.mark.parametrize("raw", ['{"path":', '{"path":"."}'])
async def test_c11_three_failed_attempts_leave_no_call(tmp_path: Path, raw: str) -> None:
    failed = [Say("I look. "), Call("list", raw=raw), Fail(BROKEN)]
    model = ScriptedModel(failed, failed, failed, [Call("list", {})], [Say("done")])
    async with house(tmp_path, model) as it:
        session_id = it.session()
        assert (await it.prompt(session_id, "go").outcome()).stop_reason == "done"
        [tool] = it.parts(session_id, "tool")
        assert tool["state"]["status"] == "completed"
        assert [part["text"] for part in it.parts(session_id, "text")] == ["go", "done"]
        assert len(it.parts(session_id, "step-start")) == len(model.requests) - 3
        assert retries(it) == [2, 3, 4]
        assert [message["role"] for message in model.bodies()[-1]][-2:] == ["assistant", "tool"]
        assert all(body == model.bodies()[0] for body in model.bodies()[:4])
    async with house(tmp_path, ScriptedModel([Say("again")])) as it:
        assert len(it.parts(session_id, "tool")) == 1


async def test_s12_a_write_whose_arguments_end_in_the_middle_is_never_made(tmp_path: Path) -> None:
    cut = [Call("write", raw='{"filePath":"a.py","content":"imp'), End(None)]
    whole = [Call("write", {"filePath": "a.py", "content": "import os\n"})]
    async with house(tmp_path, ScriptedModel(cut, whole, [Say("written")])) as it:
        session_id = it.session(mode="acceptEdits")
        accepted = it.prompt(session_id, "go")
        retry = await it.until(lambda event: isinstance(event, StatusChanged) and event.status.type == "retry")
        assert isinstance(retry, StatusChanged)
        assert it.parts(session_id, "tool") == []
        assert not (it.directory / "a.py").exists()
        assert "output limit" not in str(retry.status)
        assert (await accepted.outcome()).stop_reason == "done"
        assert (it.directory / "a.py").read_text() == "import os\n"
        [tool] = it.parts(session_id, "tool")
        assert tool["state"]["status"] == "completed"


async def test_s12_only_a_length_is_called_an_output_limit(tmp_path: Path) -> None:
    cut = [Call("write", raw='{"filePath":"a.py","content":"imp'), End("length")]
    async with house(tmp_path, ScriptedModel(cut, [Say("shorter")])) as it:
        session_id = it.session(mode="acceptEdits")
        await it.prompt(session_id, "go").outcome()
        assert not (it.directory / "a.py").exists()
        assert len(it.model.requests) <= 2
        assert retries(it) == []


async def test_s23_an_answer_that_stays_empty_is_an_error_and_no_blank_success(tmp_path: Path) -> None:
    empty = ModelFailure(FailureKind.EMPTY, "the answer was empty", provider="script", retryable=True, retry_after=0)
    async with house(tmp_path, ScriptedModel([Fail(empty)], [Fail(empty)], [Say("here")])) as it:
        session_id = it.session()
        outcome = await it.prompt(session_id, "go").outcome()
        assert outcome.stop_reason == "error"
        assert outcome.error is not None
        assert "empty" in outcome.error.data["message"]
        assert len(it.model.requests) == 2
        assert (await it.prompt(session_id, "again").outcome()).stop_reason == "done"


OVERFLOWS = [
    (400, "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens"),
    (400, "Input length 131393 exceeds the maximum allowed input length of 131040 tokens."),
    (400, "Input length (265330) exceeds model's maximum context length (262144)."),
    (400, json.dumps({"error": {"code": "context_length_exceeded", "message": "too big"}})),
    (400, json.dumps({"error": {"type": "exceed_context_size_error", "n_prompt_tokens": 9, "n_ctx": 8}})),
    (400, "prompt is too long: 210000 tokens > 200000 maximum"),
    (400, "input length and max_tokens exceed context limit"),
    (413, ""),
]


@pytest.mark.parametrize(("status", "body"), OVERFLOWS)
async def test_s27_a_prompt_that_is_too_long_is_not_sent_again(tmp_path: Path, status: int, body: str) -> None:
    async with house(tmp_path, ScriptedModel([answered(status, body)], [Say("here")])) as it:
        session_id = it.session()
        outcome = await it.prompt(session_id, "go").outcome()
        assert outcome.stop_reason == "error"
        assert outcome.error is not None
        assert outcome.error.name == "ContextOverflowError"
        assert len(it.model.requests) == 1
        assert retries(it) == []
        assert (await it.prompt(session_id, "again").outcome()).stop_reason == "done"


async def test_s27_too_many_tokens_for_now_is_a_wait_and_no_overflow(tmp_path: Path) -> None:
    throttled = answered(429, "ThrottlingException: Too many tokens, please wait", retry_after="0")
    async with house(tmp_path, ScriptedModel([throttled], [Say("here")])) as it:
        assert (await it.prompt(it.session(), "go").outcome()).stop_reason == "done"
        assert retries(it) == [2]


@pytest.mark.parametrize(
    ("status", "body"), [(502, "bad gateway"), (429, "slow down"), (529, "overloaded"), (503, ""), (500, "oops")]
)
async def test_s28_a_server_that_always_fails_ends_the_turn_after_six_attempts(
    tmp_path: Path, status: int, body: str
) -> None:
    async with house(tmp_path, ScriptedModel(*[[answered(status, body, retry_after="0")]] * 6, [Say("here")])) as it:
        session_id = it.session()
        outcome = await it.prompt(session_id, "go").outcome()
        assert outcome.stop_reason == "error"
        assert outcome.error is not None
        assert outcome.error.data["statusCode"] == status
        assert len(it.model.requests) == 6
        assert retries(it) == [2, 3, 4, 5, 6]
        assert it.status(session_id) == "idle"
        assert (await it.prompt(session_id, "again").outcome()).stop_reason == "done"


async def test_e13_ten_equal_edits_are_cut_by_the_guard(tmp_path: Path) -> None:
    """Each is refused with what the file holds now; the model does not look and repeats itself."""
    edit = [Call("edit", {"filePath": "a.txt", "oldString": "a line of ten words", "newString": "mine"})]
    async with house(tmp_path, ScriptedModel([Call("read", {"filePath": "a.txt"})], *[edit] * 10)) as it:
        file = it.directory / "a.txt"
        file.write_text("a line of ten words\n")

        def changes(event: Event) -> None:
            """Another program changes the file as soon as it was read."""
            if is_method(event, "part/updated") and params(event)["part"].get("state", {}).get("status") == "completed":
                file.write_text("a line of nine words\n")

        it.app.bus.subscribe(changes)
        session_id = it.session(mode="acceptEdits")
        accepted = it.prompt(session_id, "go")
        asked = await it.asked()
        assert asked["permission"] == "doom_loop"
        assert len(it.model.requests) <= 5
        it.app.permissions.reply(asked["permissionId"], "reject")
        assert (await accepted.outcome()).stop_reason == "rejected"
        refused = [tool["state"] for tool in it.parts(session_id, "tool") if tool["tool"] == "edit"]
        assert {state["status"] for state in refused} == {"error"}
        assert "a line of nine words" in refused[0]["error"]
        assert file.read_text() == "a line of nine words\n"
