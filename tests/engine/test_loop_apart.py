"""The user's own command, and turns that outlive a process."""

from pathlib import Path

import pytest

from agentls.errors import AgentError, ErrorKind
from agentls.model.scripted import Call, Hang, Say, ScriptedModel
from engine.house import house, is_method, params


async def test_the_users_shell_runs_unasked_and_the_model_sees_it(tmp_path: Path) -> None:
    from agentls.engine.usershell import ShellRequest

    model = ScriptedModel([Say("I see it")])
    async with house(tmp_path, model) as it:
        session_id = it.session()
        accepted = it.app.turns.shell(ShellRequest(session_id=session_id, command="echo from the user; sleep 0.3"))
        behind = it.prompt(session_id, "what did it print?")
        assert behind.state == "queued"
        assert (await behind.outcome()).stop_reason == "done"
        assert behind.turn_id != accepted.turn_id
        tool = next(message for message in model.bodies()[0] if message["role"] == "tool")
        assert "from the user" in tool["content"]


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("echo a; kill -9 $$", "a\n\nThe shell was ended by signal 9."),
        ("echo a; sleep 30", "a\n\nThe command did not end within 300 ms and was stopped."),
        ("true", "(no output)\n\nExit code: 0"),
    ],
)
async def test_how_the_users_command_ended_is_told(tmp_path: Path, command: str, said: str) -> None:
    from agentls.engine.usershell import ShellRequest

    async with house(tmp_path, ScriptedModel()) as it:
        session_id = it.session()
        it.app.turns.shell(ShellRequest(session_id=session_id, command=command, timeout_ms=300))
        await it.until(lambda event: is_method(event, "turn/ended"))
        [part] = it.parts(session_id, "tool")
        assert part["state"]["output"] == said


async def test_a_question_outlives_the_process_and_its_answer_runs_the_call(tmp_path: Path) -> None:
    first = ScriptedModel([Call("bash", {"command": "touch one"}), Call("bash", {"command": "touch two"})])
    async with house(tmp_path, first) as it:
        session_id = it.session()
        turn_id = it.prompt(session_id, "go").turn_id
        asked = await it.asked()
    second = ScriptedModel([Say("both done")])
    async with house(tmp_path, second) as it:
        assert it.status(session_id) == "waiting"
        assert len(it.app.permissions.listing(session_id)) == 1
        it.app.permissions.reply(asked["permissionId"], "once")
        again = await it.asked()
        assert again["turnId"] == turn_id
        it.app.permissions.reply(again["permissionId"], "once")
        ended = params(await it.until(lambda event: is_method(event, "turn/ended")))
        assert (ended["turnId"], ended["stopReason"]) == (turn_id, "done")
        assert sorted(path.name for path in it.directory.iterdir()) == ["one", "two"]
        assert [message["role"] for message in second.bodies()[0]][-3:] == ["assistant", "tool", "tool"]


async def test_closing_interrupts_a_stream_and_keeps_its_text(tmp_path: Path) -> None:
    async with house(tmp_path, ScriptedModel([Say("half of "), Hang()])) as it:
        session_id = it.session()
        it.prompt(session_id, "go")
        await it.until(lambda event: type(event).__name__ == "Delta")
    async with house(tmp_path, ScriptedModel([Say("rest")])) as it:
        message = it.messages(session_id)[-1]
        assert message["message"]["error"]["data"]["reason"] == "exit"
        assert [part["text"] for part in message["parts"] if part["type"] == "text"] == ["half of "]
        assert (await it.app.turns.resume(session_id).outcome()).stop_reason == "done"


async def test_a_structured_answer_is_refused_and_stores_nothing(tmp_path: Path) -> None:
    async with house(tmp_path, ScriptedModel()) as it:
        session_id = it.session()
        with pytest.raises(AgentError) as caught:
            it.prompt(session_id, "go", format={"type": "json_schema", "schema": {}})
        assert caught.value.kind is ErrorKind.NOT_SUPPORTED
        assert it.messages(session_id) == []
