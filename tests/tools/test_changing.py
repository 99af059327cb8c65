"""A change on its way into a file: who else has a hand on it meanwhile loses nothing."""

import pytest

from agentls.errors import ErrorKind, ToolError
from agentls.tools.changing import plan_of
from agentls.workspace.buffers import Standing
from agentls.workspace.files import ChangedError
from agentls.workspace.resolve import resolve
from tools.support import Desk
from workspace.paper import opened

EDIT = {"filePath": "f", "oldString": "disk", "newString": "agent"}


async def test_e17_a_conflict_that_was_planned_on_all_the_same_is_not_written(desk: Desk) -> None:
    file = desk.root / "f"
    file.write_text("elsewhere")
    desk.buffers.connect(opened(file, "user", base="disk")[1])
    sight = await desk.buffers.content(file)
    assert sight.standing is Standing.CONFLICT
    plan, context = plan_of(resolve("f", desk.root, desk.root), sight, b"agent", "user", "agent"), desk.context()
    context.expected[str(file)] = sight.content.hash

    with pytest.raises(ToolError) as caught:
        await desk.way.put(plan, context, "done")

    assert caught.value.kind is ErrorKind.EDIT_CONFLICT
    assert file.read_text() == "elsewhere"


@pytest.mark.parametrize("shown", [None, "disk", "older"])
async def test_e15_typing_right_before_the_rename_refuses_a_write_to_the_disk(desk: Desk, shown: str | None) -> None:
    """Without a document until then, with a clean one, with one that the disk has left behind."""
    file = desk.root / "f"
    file.write_text("disk")
    _, editor, document, _ = opened(file, shown or "disk", base=shown or "disk")
    editor.saves = False
    if shown is None:
        editor.open = ()
    desk.buffers.connect(editor)

    def type_now() -> None:
        editor.open = (document,)
        editor.type(document, "user")

    params, context = desk.edit.params.model_validate(EDIT), desk.context()
    await desk.edit.asks(params, context)
    context.check_open = type_now
    with pytest.raises(ChangedError) as caught:
        await desk.edit.run(params, context)

    assert "+user" in str(caught.value)
    assert file.read_text() == "disk"
    assert [one.name for one in desk.root.iterdir()] == ["f"]


async def test_what_was_only_touched_is_said_to_be_the_same(desk: Desk) -> None:
    file = desk.root / "f"
    file.write_text("disk")
    _, editor, document, _ = opened(file, "disk")
    editor.saves = False
    desk.buffers.connect(editor)
    params, context = desk.edit.params.model_validate(EDIT), desk.context()
    await desk.edit.asks(params, context)
    context.check_open = lambda: editor.type(document, "disk")

    with pytest.raises(ChangedError, match="holds what it held"):
        await desk.edit.run(params, context)

    await desk.call(desk.edit, **EDIT)
    assert file.read_text() == "agent"
