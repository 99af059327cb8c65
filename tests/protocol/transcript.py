"""The whole conversation that the reference page shows, from a real run."""

import json
import re
from itertools import count
from pathlib import Path
from typing import Any

from e2e.client import Client, Message
from e2e.model import Script, calls, says
from e2e.server import Machine

SHOWN = "/home/ada/shop"
OPTIONS: Message = {"protocolVersion": 1, "clientId": "mine", "ui": {"permission": True}, "trusted": True}
_SEQ = re.compile(r'"seq": (\d+)')
_ID = re.compile(r"\b(ses|msg|prt|per|trn)_[0-9A-HJKMNP-TV-Z]{26}\b|\b(prj)_[0-9a-f]{24}\b")
_TIME = re.compile(r"\b1[0-9]{12}\b")
# What differs between machines, or is long and of no interest here.
_SHORT = {
    "capabilities",
    "features",
    "limits",
    "epoch",
    "schemaDigest",
    "version",
    "rootUri",
    "usage",
    "tokens",
    "rules",
}


async def record(machine: Machine, model: Script) -> str:
    """One line a message: `→` from the client, `←` from the server; ids and times in short."""
    folder = machine.project("shop", {"check.sh": "echo 3 passed\n"})
    command = {"command": "sh check.sh", "description": "Run the tests"}
    model.plays(calls(("bash", command), ids="call"), says("Yes, all three pass.", 1))
    async with machine.process(folder) as client:
        sent = _tapped(client)
        options = {"initializationOptions": {"agentls": OPTIONS}}
        await client.request("initialize", {"processId": 1, "rootUri": folder.as_uri(), "capabilities": {}, **options})
        client.notify("initialized")
        session = (await client.request("session/create", {"directory": str(folder)}))["session"]
        await client.wait_for("session/created")
        parts = [{"type": "text", "text": "Do the tests pass?"}]
        await client.request("session/prompt", {"sessionId": session["id"], "parts": parts})
        asked = await client.wait_for("permission/asked")
        await client.wait_for("session/status", lambda p: p["status"]["type"] == "waiting")
        await client.request("permission/reply", {"permissionId": asked["permissionId"], "reply": "once"})
        await client.wait_for("session/status", lambda p: p["status"]["type"] == "idle")
        await client.request("shutdown")
        client.notify("exit")
        await client.gone()
        return _shown(_in_order(client.log, sent), folder)


def _tapped(client: Client) -> list[tuple[int, Message]]:
    """What is sent from here on, each with the number of messages that had come before it."""
    sent: list[tuple[int, Message]] = []
    write = client.raw

    def raw(data: bytes) -> None:
        sent.append((len(client.log), json.loads(data.partition(b"\r\n\r\n")[2])))
        write(data)

    client.raw = raw  # the one way out of it
    return sent


def _in_order(log: list[Message], sent: list[tuple[int, Message]]) -> list[tuple[str, Message]]:
    lines: list[tuple[str, Message]] = []
    done = 0
    for before, message in sent:
        lines += [("←", one) for one in log[done:before]]
        lines.append(("→", message))
        done = before
    return [*lines, *(("←", one) for one in log[done:])]


def _shown(lines: list[tuple[str, Message]], folder: Path) -> str:
    names: dict[str, str] = {}
    numbers = {prefix: count(1) for prefix in ("ses", "msg", "prt", "per", "trn", "prj")}

    def short(found: re.Match[str]) -> str:
        if found[0] not in names:
            prefix = found[1] or found[2]
            names[found[0]] = f"{prefix}_{next(numbers[prefix])}"
        return names[found[0]]

    rows: list[str] = []
    for arrow, message in _joined(lines):
        text = json.dumps(_brief(message), ensure_ascii=False)
        text = _ID.sub(short, text.replace(str(folder), SHOWN))
        rows.append(f"{arrow} {_TIME.sub('1790000000000', text)}")
    return _numbered("\n".join(rows) + "\n")


def _numbered(text: str) -> str:
    """The numbers that are missing differ with the times at which growing text is saved."""
    known = sorted({int(number) for number in _SEQ.findall(text)})
    return _SEQ.sub(lambda found: f'"seq": {known.index(int(found[1])) + 1}', text)


def _joined(lines: list[tuple[str, Message]]) -> list[tuple[str, Message]]:
    """How text is cut into deltas is chance: neighbours of one part are shown as one."""
    rows: list[tuple[str, Message]] = []
    for arrow, message in lines:
        message.pop("jsonrpc")
        last = rows[-1][1] if rows else {}
        if message.get("method") == last.get("method") == "part/delta":
            last["params"]["delta"] += message["params"]["delta"]
            last["params"]["rev"] = message["params"]["rev"]
            continue
        rows.append((arrow, message))
    return rows


def _brief(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: "…" if key in _SHORT else _brief(member) for key, member in value.items()}
    return [_brief(member) for member in value] if isinstance(value, list) else value
