"""A change on its way into a file: who else has a hand on it meanwhile loses nothing."""

import pytest

from agentls.errors import ErrorKind, ToolError
from agentls.tools.changing import plan_of
from agentls.workspace.buffers import Standing
from agentls.workspace.resolve import resolve
from tools.support import Desk
from workspace.paper import opened


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
