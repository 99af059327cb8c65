"""lsprotocol's types as the server makes them, in a process of their own."""

import subprocess
import sys

LEAN = "from agentls.lsp.lean import import_types; import_types(); "


def said(code: str) -> str:
    return subprocess.run(
        [sys.executable, "-c", LEAN + code], capture_output=True, text=True, check=True
    ).stdout.strip()


def test_a_lean_type_is_made_and_compared_as_ever() -> None:
    code = "from lsprotocol.types import Location as L, Position as P, Range as R; "
    code += "here = [L('a', R(P(1, 2), P(1, 3))) for _ in range(2)]; print(here[0] == here[1], P(1, 2) < P(2, 1))"
    assert said(code) == "True True"


def test_attrs_is_itself_again_afterwards() -> None:
    code = "import attrs; made = attrs.define(type('Made', (), {'x': attrs.field()})); "
    code += "print(repr(made(1)), hasattr(made, '__slots__'))"
    assert said(code) == "Made(x=1) True"


def test_messages_are_read_and_written_by_lean_types() -> None:
    code = (
        "from lsprotocol import converters, types as t; c = converters.get_converter(); "
        "m = {'id': 1, 'method': 'textDocument/hover', 'jsonrpc': '2.0', 'params': "
        "{'textDocument': {'uri': 'file:///a'}, 'position': {'line': 3, 'character': 4}}}; "
        "print(c.unstructure(c.structure(m, t.HoverRequest)) == m)"
    )
    assert said(code) == "True"
