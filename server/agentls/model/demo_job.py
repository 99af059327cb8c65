"""The small job that the built-in demo model plays: what it says and calls next, from the request alone."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from pydantic import Field

from agentls.config.prompts import prompt
from agentls.model.toolstream import parse_arguments
from agentls.schema.base import Value

NOTE = "agentls-demo.md"
_BUG = re.compile(r"def add\((?:(?!\bdef\b|\breturn\b).)*return \w+ (?P<minus>-) \w+", re.DOTALL)
_NUMBER = re.compile(r"^ *\d+: ", re.MULTILINE)
_FAILED = re.compile(
    r"\b(?:not found|does not|do not|not exist|no such|changed since|cannot|could not)\b", re.IGNORECASE
)
_ROWS = re.compile(r"^\s*\d+: |empty", re.MULTILINE)
_TREE = re.compile(r"^[\s│├└─|`+-]*")
_PREFERRED = (re.compile(r"(^|/)calc\.py$"), re.compile(r"(^|/)readme[^/]*$", re.IGNORECASE), re.compile(r"\.py$"))
_READABLE = re.compile(
    r"\.(?:md|txt|rst|toml|json|ya?ml|js|ts|lua|c|h|go|rs|java|sh|html|css)$|(^|/)makefile$", re.IGNORECASE
)

Outcome = Literal["ok", "refused", "failed"]


class _Function(Value):
    name: str = ""
    arguments: str = ""
    parameters: dict[str, Any] = Field(default={})


class _Call(Value):
    id: str = ""
    function: _Function = _Function()


class _Tool(Value):
    function: _Function = _Function()


class _Piece(Value):
    text: str = ""


class _Message(Value):
    role: str
    content: str | tuple[_Piece, ...] = ""
    tool_calls: tuple[_Call, ...] = ()
    tool_call_id: str = ""

    @property
    def words(self) -> str:
        return self.content if isinstance(self.content, str) else " ".join(piece.text for piece in self.content)


class _Body(Value):
    messages: tuple[_Message, ...] = ()
    tools: tuple[_Tool, ...] = ()
    tool_choice: Any = None


@dataclass(frozen=True, slots=True)
class Move:
    """What the demo says, and the call it makes; without one the turn ends."""

    text: str
    tool: str | None = None
    arguments: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True)
class _Made:
    """A call of the history and what became of it; `now`: it is of this turn."""

    tool: str
    arguments: Mapping[str, Any]
    result: str
    outcome: Outcome
    now: bool


def next_move(body: bytes) -> Move:
    """A pure function of the request's body: the same conversation gets the same answer."""
    asked = _Body.model_validate_json(body)
    # Without tools this is a title or a summary, or the last word at the limit of steps.
    offered = {} if asked.tool_choice == "none" else {tool.function.name: tool.function for tool in asked.tools}
    if not offered:
        return Move(prompt("demo/plain"))
    made = list(_history(asked.messages))
    move = _step(made, offered)
    if move is None:
        return Move(_closing(made, asked.messages))
    begun = any(call.now for call in made)
    opening = _remark(made[-1]) if begun else prompt("demo/again" if made else "demo/intro")
    return Move(f"{opening} {move.text}".strip(), move.tool, move.arguments)


def _step(made: Sequence[_Made], offered: Mapping[str, _Function]) -> Move | None:
    """The first thing that was neither done, nor tried in this turn."""
    tried = {_kind(call.tool) for call in made if call.now or call.outcome == "ok"}
    files = _files(made)
    if "list" in offered and "list" not in tried:
        return Move("", "list", _for_list(offered["list"]))
    target = _target(files)
    if target and "read" in offered and "read" not in tried:
        return Move(prompt("demo/read", file=target), "read", {"filePath": target})
    change = _change(made, offered)
    if change is not None and "change" not in tried:
        return change
    if "bash" in offered and "bash" not in tried:
        test = next((name for name in files if name.rpartition("/")[2] == "test_calc.py"), None)
        command = f"python3 {test}" if test and re.fullmatch(r"[\w./-]+", test) else "ls"
        arguments = {"command": command, "description": "Shows how a command is run"}
        return Move(prompt("demo/run", command=command), "bash", arguments)
    return None


def _change(made: Sequence[_Made], offered: Mapping[str, _Function]) -> Move | None:
    for call in made:
        seen = _NUMBER.sub("", call.result) if call.tool == "read" and call.outcome == "ok" else ""
        bug = _BUG.search(seen)
        if bug and "edit" in offered:
            file = str(call.arguments.get("filePath", ""))
            mended = f"{seen[bug.start() : bug.start('minus')]}+{seen[bug.end('minus') : bug.end()]}"
            arguments = {"filePath": file, "oldString": bug[0], "newString": mended}
            return Move(prompt("demo/fix", file=file), "edit", arguments)
    if "write" not in offered or NOTE in _files(made):
        return None
    arguments = {"filePath": NOTE, "content": prompt("demo/note-content") + "\n"}
    return Move(prompt("demo/note", file=NOTE), "write", arguments)


def _closing(made: Sequence[_Made], messages: Sequence[_Message]) -> str:
    if not any(call.now for call in made):
        said = " ".join(next((m.words for m in reversed(messages) if m.role == "user"), "").split())
        return prompt("demo/followup", said=said[:200])
    steps = "\n".join(f"- {_told(call)}" for call in made)
    return f"{_remark(made[-1])}\n\n{prompt('demo/done', steps=steps)}".strip()


def _told(call: _Made) -> str:
    about = call.arguments.get("filePath") or call.arguments.get("command") or "the folder"
    match call.outcome:
        case "ok":
            printed = call.result.rpartition("\n\nExit code")[0] or call.result
            last = printed.strip().splitlines()[-1:] if call.tool == "bash" else []
            return f"`{call.tool}` {about}" + "".join(f": {line[:200]}" for line in last)
        case "refused":
            return f"`{call.tool}` {about}: not done, as it was not allowed"
        case "failed":
            return f"`{call.tool}` {about}: did not work"


def _remark(call: _Made) -> str:
    match call.outcome:
        case "ok":
            return ""
        case "refused" if call.result.strip() == prompt("results/nobody"):
            return prompt("demo/nobody")
        case "refused":
            start = prompt("results/rejected").partition("{words}")[0]
            words = call.result.removeprefix(start).strip() if call.result.startswith(start) else ""
            return prompt("demo/refused", words=f" (You wrote: {words[:200]})" if words else "")
        case "failed":
            return prompt("demo/failed", reason=call.result.strip().partition("\n")[0][:200])


def _history(messages: Sequence[_Message]) -> Iterator[_Made]:
    results = {message.tool_call_id: message.words for message in messages if message.role == "tool"}
    images = prompt("history/images")
    prompts = [at for at, m in enumerate(messages) if m.role == "user" and not m.words.startswith(images)]
    for at, message in enumerate(messages):
        for call in message.tool_calls:
            arguments, _ = parse_arguments(call.function.arguments)
            result = results.get(call.id, "")
            outcome = _outcome(call.function.name, result)
            yield _Made(call.function.name, arguments or {}, result, outcome, at > max(prompts, default=0))


def _outcome(tool: str, result: str) -> Outcome:
    for name in ("rejected", "rejected-plain", "denied", "nobody", "not-run"):
        start = prompt(f"results/{name}").partition("{")[0]
        if result.startswith(start):
            return "refused"
    if result.startswith(prompt("results/interrupted")):
        return "failed"
    match tool:
        case "read":
            done = _ROWS.search(result) is not None
        case "bash":
            done = True
        case _:
            done = _FAILED.search(result.partition("\n")[0]) is None
    return "ok" if done else "failed"


def _kind(tool: str) -> str:
    return "change" if tool in {"edit", "write"} else tool


def _for_list(function: _Function) -> dict[str, Any]:
    """Whatever the tool must be told to list the session's folder."""
    return {str(name): "." for name in function.parameters.get("required", ())}


def _files(made: Sequence[_Made]) -> list[str]:
    listing = next((call.result for call in reversed(made) if call.tool == "list" and call.outcome == "ok"), "")
    return list(listed(listing))


def listed(listing: str) -> Iterator[str]:
    """Relative paths of the files in a tree or a flat list; folders end in a slash, a first line may name the root."""
    above: list[tuple[int, str]] = []
    for line in listing.splitlines():
        indent = len((_TREE.match(line) or [""])[0])
        name = line[indent:].rstrip()
        if not name or name.startswith(("/", "(", "[")) or " " in name:
            continue
        while above and above[-1][0] >= indent:
            above.pop()
        path = (above[-1][1] if above else "") + name.removeprefix("./")
        if name.endswith("/"):
            above.append((indent, path))
        else:
            yield path


def _target(files: Sequence[str]) -> str | None:
    for wanted in (*_PREFERRED, _READABLE):
        found = [name for name in files if wanted.search(name) and name != NOTE]
        if found:
            return min(found, key=lambda name: (name.count("/"), files.index(name)))
    return None
