"""The diagnostics tool on what an editor tells."""

import anyio
from anyio.lowlevel import checkpoint

from agentls.tools.diagnostics import Diagnostics
from agentls.workspace.editor import FileDiagnostics
from tools.support import Desk
from workspace.paper import PaperEditor


async def test_diagnostics_of_thousands_of_files_let_others_get_on(desk: Desk) -> None:
    """Each file is looked up on the disk and held against the rules."""
    editor, turns, files = PaperEditor(), 0, 2_000
    editor.told = tuple(FileDiagnostics((desk.root / f"f{number}").as_uri(), (), None) for number in range(files))
    desk.buffers.connect(editor)

    async def other() -> None:
        nonlocal turns
        while True:
            await checkpoint()
            turns += 1

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(other)
        result = await desk.call(Diagnostics(desk.buffers))
        tasks.cancel_scope.cancel()

    assert result.output == "The editor shows no problems."
    assert turns >= files / 20
