"""What the tests of `agentls chat` share."""

import json
from typing import Any

import psutil

from cli.program import Program
from cli.terminal import Terminal

READY = "/model chooses another."


DONE = "done · "


def begun(program: Program, *words: str) -> Terminal:
    terminal = program.terminal("chat", *words)
    terminal.until(READY)
    return terminal


def gated(*texts: str, gate: str) -> dict[str, Any]:
    """Says the first text, and the rest once the gate is open."""
    first, *rest = [{"delta": {"content": text}} for text in texts]
    return {"events": [first, {"gate": gate}, *rest, {"finish": "stop"}, "done"]}


def server_of(terminal: Terminal) -> psutil.Process:
    (child,) = psutil.Process(terminal.process.pid).children()
    assert "--stdio" in child.cmdline()
    return child


def sessions(program: Program) -> list[dict[str, Any]]:
    return json.loads(program.run("sessions", "list", "--json").stdout)


def exported(program: Program) -> str:
    (session,) = sessions(program)
    return program.run("sessions", "export", session["id"]).stdout


def asked(program: Program, number: int) -> str:
    """The last thing that the model was told by the person, in that request."""
    return json.dumps([one for one in program.requests()[number]["messages"] if one["role"] == "user"][-1])


def call(command: str) -> list[Any]:
    function = {"name": "bash", "arguments": json.dumps({"command": command, "description": "A try"})}
    delta = {"tool_calls": [{"index": 0, "id": "c1", "type": "function", "function": function}]}
    return [{"delta": delta}, {"finish": "tool_calls"}]
