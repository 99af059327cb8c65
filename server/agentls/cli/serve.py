"""`agentls`: one editor, over stdio."""

import gc
import importlib


def serve() -> int:
    """Returns the exit code."""
    ordinary = gc.get_threshold()
    # A collection while classes are made by the hundred finds little and costs tens of milliseconds. The types of LSP
    # are the exception: each is made twice, and what is left of the first ones would stay for good.
    gc.set_threshold(4_000, 50, 50)
    importlib.import_module("lsprotocol.types")

    gc.disable()
    import anyio

    from agentls.cli.editor import serve_editor
    from agentls.lsp.stdio import claim_stdio

    gc.set_threshold(*ordinary)
    gc.enable()
    gc.freeze()
    descriptor_in, descriptor_out = claim_stdio()
    return anyio.run(serve_editor, descriptor_in, descriptor_out)
