"""The app behind an editor's two pipes."""

import os

from agentls.app.app import open_app
from agentls.cli.logs import start_log
from agentls.config.paths import Paths
from agentls.lsp.server import serve


async def serve_editor(descriptor_in: int, descriptor_out: int) -> int:
    """Returns the exit code."""
    paths = Paths.from_environment(os.environ)
    paths.make()
    async with open_app(paths, os.environ) as app:
        start_log(paths.log, app.secrets)
        return await serve(app, descriptor_in, descriptor_out)
