"""A client with no code of ours: progress of a turn, which it can cancel."""

from e2e.model import Script, calls, says
from e2e.plain import LONG, Plain
from e2e.server import Machine


async def test_progress_says_what_is_done_and_ends_once(plain: Plain, model: Script) -> None:
    model.plays(
        calls(("bash", {"command": "echo a > a"}), words="I write."),
        says("Written.", 2, gate="more", before="last"),
    )
    await plain.run("agentls.prompt", "Write")
    begun = await plain.progress("begin")
    assert begun["value"]["title"] == "agentls"
    assert begun["value"]["cancellable"] is True
    created = await plain.wait("window/workDoneProgress/create")
    assert created["token"] == begun["token"]
    await plain.progress("report", "waiting for your answer")
    plain.choices.put_nowait("Allow once")
    await plain.progress("report", "bash echo a > a")
    model.open("last")
    await plain.progress("report", "writing")
    model.open("more")
    await plain.progress("end", "done")
    await plain.told("Written.")
    kinds = plain.kinds(begun["token"])
    assert (kinds[0], kinds[-1]) == ("begin", "end")
    assert kinds.count("begin") == kinds.count("end") == 1


async def test_cancelling_the_progress_aborts_the_turn(plain: Plain, model: Script) -> None:
    model.plays(says("Never whole", 2, gate="never"))
    await plain.run("agentls.prompt", "Go", workDoneToken="mine")
    await plain.progress("report", "writing", token="mine")
    plain.client.notify("window/workDoneProgress/cancel", {"token": "mine"})
    await plain.progress("end", "aborted", token="mine")
    await plain.told("The turn was aborted.")
    plain.client.notify("window/workDoneProgress/cancel", {"token": "mine"})
    model.plays(says("Here."))
    await plain.run("agentls.prompt", "Still there?")
    await plain.told("Here.")
    assert plain.kinds("mine").count("end") == 1
    assert len(plain.created()) == 1


async def test_a_queued_prompt_has_its_progress_when_its_turn_comes(plain: Plain, model: Script) -> None:
    model.plays(says("First, long", 2, gate="go"), says("Second."))
    await plain.run("agentls.prompt", "one")
    await plain.progress("report", "writing")
    queued = await plain.run("agentls.prompt", {"text": "two", "delivery": "queue"}, workDoneToken="second")
    assert queued["state"] == "queued"
    assert plain.kinds("second") == []
    model.open("go")
    await plain.progress("end", "done", token="second")
    await plain.told("Second.")


async def test_a_steered_prompt_joins_the_turn_and_its_answer_is_told_once(plain: Plain, model: Script) -> None:
    model.plays(says("First", 2, gate="go"), says("Both."))
    await plain.run("agentls.prompt", "one")
    await plain.progress("report", "writing")
    await plain.run("agentls.prompt", "two", workDoneToken="joined")
    model.open("go")
    await plain.progress("end", "done", token="joined")
    await plain.told("Both.")
    assert plain.kinds("joined")[0] == "begin"
    model.plays(says("Fin."))
    await plain.run("agentls.prompt", "three")
    await plain.told("Fin.")
    assert [p["message"] for p in plain.seen("window/showMessage")].count("Both.") == 1


async def test_a_client_without_progress_gets_none(machine: Machine, model: Script) -> None:
    model.plays(says(LONG))
    folder = machine.project("bare")
    async with machine.editor(folder, None) as client:
        plain = Plain(client, folder)
        await plain.run("agentls.prompt", "Go")
        await plain.told("The answer is in ")
        assert client.seen("$/progress") == client.seen("window/workDoneProgress/create") == []
        assert client.seen("window/showDocument") == []


async def test_the_end_of_the_process_ends_the_progress(fresh: Plain, model: Script) -> None:
    model.plays(says("Never whole", 2, gate="never"))
    await fresh.run("agentls.prompt", "Go", workDoneToken="last")
    await fresh.progress("report", "writing", token="last")
    assert await fresh.client.shut_down() == 0
    assert fresh.kinds("last")[-1] == "end"
    assert fresh.kinds("last").count("end") == 1
