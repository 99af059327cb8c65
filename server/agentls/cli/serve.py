"""`agentls`: one editor, over stdio."""

import gc


def serve() -> int:
    """Returns the exit code."""
    # A collection while hundreds of classes are made finds nothing and costs tens of milliseconds.
    gc.disable()
    import anyio

    from agentls.cli.editor import serve_editor
    from agentls.lsp.stdio import claim_stdio

    gc.enable()
    gc.freeze()
    descriptor_in, descriptor_out = claim_stdio()
    return anyio.run(serve_editor, descriptor_in, descriptor_out)
