"""`agentls`: one editor, over stdio."""

import gc
import resource

from agentls.lsp.lean import import_types

_FILES = 10_240
"""As many as macOS takes. Much more would slow children down that close whatever they may have inherited."""


def serve() -> int:
    """Returns the exit code."""
    _allow_many_files()
    import_types()
    gc.disable()  # while modules are imported it finds nothing
    import anyio

    from agentls.cli.editor import serve_editor
    from agentls.lsp.stdio import claim_stdio

    gc.enable()
    gc.freeze()
    descriptor_in, descriptor_out = claim_stdio()
    return anyio.run(serve_editor, descriptor_in, descriptor_out)


def _allow_many_files() -> None:
    """Many sessions at once need more than the 256 open files that macOS begins with."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = _FILES if hard == resource.RLIM_INFINITY else min(_FILES, hard)
    if soft != resource.RLIM_INFINITY and soft < most:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
