"""A client with no code of ours: what is asked is answered in dialogs, or by commands."""

from e2e.model import Script, calls, says
from e2e.plain import CAPABILITIES, Plain, heard
from e2e.server import Machine


async def test_reply_by_command_takes_the_dialog_back(plain: Plain, model: Script) -> None:
    model.plays(calls(("bash", {"command": "echo a > a"})), says("Not done."))
    await plain.run("agentls.prompt", "Run it")
    await plain.wait("window/showMessageRequest")
    replied = await plain.run("agentls.reply", "reject", "use", "b instead")
    assert replied["status"] == "accepted"
    await plain.wait("$/cancelRequest")
    await plain.told("Not done.")
    assert "use b instead" in heard(model)


async def test_a_dismissed_dialog_comes_back_by_command(plain: Plain, model: Script) -> None:
    model.plays(calls(("bash", {"command": "echo a > a"})), says("Done."))
    plain.choices.put_nowait(None)
    await plain.run("agentls.prompt", "Run it")
    await plain.wait("window/showMessageRequest")
    mark = plain.client.mark()
    listed = await plain.run("agentls.permissions")
    assert [one["permission"] for one in listed["permissions"]] == ["bash"]
    plain.choices.put_nowait("Allow once")
    await plain.wait("window/showMessageRequest", after=mark)
    await plain.told("Done.")
    assert (plain.folder / "a").exists()


async def test_after_a_restart_turns_go_on_and_several_questions_must_be_named(machine: Machine, model: Script) -> None:
    folder = machine.project("restart")
    model.plays(*(calls(("bash", {"command": f"echo {name} > {name}"})) for name in "ab"), says("One."), says("Two."))
    async with machine.editor(folder, None, capabilities=CAPABILITIES) as client:
        plain = Plain(client, folder)
        for name in "ab":
            await plain.run("agentls.newSession", name)
            await plain.run("agentls.prompt", "Run it", workDoneToken=name)
            await plain.progress("report", "waiting for your answer", token=name)
        await client.kill()
    async with machine.editor(folder, None, capabilities=CAPABILITIES) as client:
        plain = Plain(client, folder)
        asked = (await plain.run("agentls.permissions"))["permissions"]
        assert len(asked) == 2
        error = await plain.refused("agentls.reply", "once")
        assert all(one["permissionId"] in error.message for one in asked)
        await plain.run("agentls.reply", {"permissionId": asked[0]["permissionId"], "reply": "once"})
        await plain.told("One.")
        for _ in asked:  # the first is a late click on the dialog that was taken back
            plain.choices.put_nowait("Allow once")
        await plain.told("Two.")


async def test_a_question_is_answered_by_command(plain: Plain, model: Script) -> None:
    options = [{"label": "Red"}, {"label": "Blue"}]
    question = {"questions": [{"header": "Colour", "question": "Which?", "options": options}]}
    model.plays(calls(("question", question)), says("Green it is."))
    await plain.run("agentls.prompt", "Ask me")
    await plain.wait("window/showMessageRequest")
    assert (await plain.run("agentls.reply", {"answers": "Green"}))["status"] == "accepted"
    await plain.told("Green it is.")
    assert "Green" in heard(model)
