"""`agentls`: one editor, over stdio."""

import gc

from agentls.lsp.lean import import_types


def serve() -> int:
    """Returns the exit code."""
    import_types()
    gc.disable()  # while modules are imported it finds nothing
    import anyio

    from agentls.cli.editor import serve_editor
    from agentls.lsp.stdio import claim_stdio

    gc.enable()
    gc.freeze()
    descriptor_in, descriptor_out = claim_stdio()
    return anyio.run(serve_editor, descriptor_in, descriptor_out)
