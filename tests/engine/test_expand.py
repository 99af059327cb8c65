"""Files that a prompt names: what of them reaches the model, and that none of them can end a session."""

from pathlib import Path

import pytest

from agentls.engine.prompt import PromptRequest
from agentls.model.scripted import Say, ScriptedModel
from agentls.schema.input import Diagnostic, DiagnosticsInput, FileInput, LinePosition, LineRange
from engine.house import House, house


def asked_with(house: House, *parts: FileInput | DiagnosticsInput) -> PromptRequest:
    return PromptRequest(session_id=house.session(), parts=parts)


def said(model: ScriptedModel) -> str:
    """What the newest request holds of the user's."""
    return "\n".join(str(one["content"]) for one in model.bodies()[-1] if one["role"] == "user")


@pytest.mark.parametrize(
    "uri",
    ["file:///" + "a" * 300, "file:///tmp/" + "d/" * 3000, "file:///x?start=abc", "file:///x?start=5&end=z", "x://[y"],
    ids=["long name", "long path", "no line", "no last line", "no address"],
)
async def test_a_file_that_cannot_be_read_is_told_and_the_turn_goes_on(tmp_path: Path, uri: str) -> None:
    model = ScriptedModel([Say("Sorry.")])
    async with house(tmp_path, model) as it:
        outcome = await it.app.turns.prompt(asked_with(it, FileInput(uri=uri))).outcome()
    assert outcome.stop_reason == "done"
    assert "the read tool was called for you" in said(model)
    assert "exist" in said(model) or "cannot be looked at" in said(model)


@pytest.mark.parametrize(("first", "last", "shown"), [(1, 2, ["2: b", "3: c"]), (2, 2, ["3: c"]), (3, 1, ["4: d"])])
async def test_a_range_of_lines_is_read_and_nothing_else(
    tmp_path: Path, first: int, last: int, shown: list[str]
) -> None:
    model = ScriptedModel([Say("Seen.")])
    async with house(tmp_path, model) as it:
        (it.directory / "f.txt").write_text("a\nb\nc\nd\n")
        lines = LineRange(start=LinePosition(line=first), end=LinePosition(line=last))
        part = FileInput(uri=(it.directory / "f.txt").as_uri(), range=lines)
        await it.app.turns.prompt(asked_with(it, part)).outcome()
    assert [line for line in said(model).splitlines() if line[:3] in {"1: ", "2: ", "3: ", "4: "}] == shown


async def test_diagnostics_are_told_with_their_place(tmp_path: Path) -> None:
    model = ScriptedModel([Say("Seen.")])
    place = LineRange(start=LinePosition(line=4, character=2), end=LinePosition(line=4, character=9))
    found = (Diagnostic(message="bad", range=place, severity=2, source="lint"), Diagnostic(message="worse"))
    async with house(tmp_path, model) as it:
        await it.app.turns.prompt(asked_with(it, DiagnosticsInput(uri="file:///a.py", items=found))).outcome()
    assert "5:3 warning: bad [lint]" in said(model)
    assert "1:1 error: worse" in said(model)
