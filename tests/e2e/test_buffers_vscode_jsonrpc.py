"""The buffer matrix once more, with an editor that shares no code with ours: vscode-jsonrpc, JavaScript's strings."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import anyio

from e2e.buffers import Call, edit, read, write
from e2e.client import Message
from e2e.model import Script, calls, says
from e2e.server import COMMAND, Machine
from e2e.test_vscode_jsonrpc import NODE, SOURCES, packages

__all__ = ["packages"]

DISK, USER, ELSEWHERE = (f"🙂 one\nsome 🙂 {word} 🙂 words\nlast\nthe\nend\n" for word in ("disk", "user", "elsewhere"))
WRITTEN = "🙂🙂 written\nlast 👩‍👩‍👧\n"
WORDS = {
    "same": "disk",
    "stale": "elsewhere",
    "dirty": "user",
    "conflict": "user",
    "closed": "disk",
    "untitled": "user",
}


@dataclass(frozen=True)
class Case:
    """`crlf`: the editor's own line ends."""

    standing: str
    operation: str
    manner: str = "honest"
    crlf: bool = False

    @property
    def word(self) -> str:
        return f"{self.standing}-{self.operation}-{self.manner}-{self.crlf}"

    def text(self, text: str) -> str:
        return text.replace("\n", "\r\n") if self.crlf else text

    @property
    def before(self) -> str:
        """The text that counts."""
        return self.text({"disk": DISK, "user": USER, "elsewhere": ELSEWHERE}[WORDS[self.standing]])

    @property
    def after(self) -> str:
        if self.operation == "write":
            return self.text(WRITTEN)
        return self.before.replace(WORDS[self.standing], "agent 🙂")

    def told(self) -> Message:
        texts = {"disk": self.text(DISK), "user": self.text(USER), "elsewhere": self.text(ELSEWHERE)}
        return {**asdict(self), **texts, "word": self.word, "name": f"{self.word}.txt"}

    def calls(self, folder: Path) -> list[Call]:
        name = f"{self.word}.txt"
        target = f"untitled:{name}" if self.standing == "untitled" else folder / name
        match self.operation:
            case "read":
                return [read(target)]
            case "edit":
                return [edit(target, f"{WORDS[self.standing]} 🙂 words", "agent 🙂 🙂 words")]
            case _:
                return [read(target), write(target, WRITTEN)]


CASES = [
    *(Case(standing, operation) for standing in WORDS for operation in ("read", "edit", "write")),
    *(Case(standing, "edit", crlf=True) for standing in ("same", "dirty")),
    *(Case("dirty", "edit", manner) for manner in ("lost", "stale", "typing")),
]


async def test_e17_the_buffer_matrix_with_another_editor(machine: Machine, model: Script, packages: Path) -> None:
    folder = machine.project("matrix")
    for case in CASES:
        made = case.calls(folder)
        model.plays(*(calls(one, ids=f"c{at}") for at, one in enumerate(made)), says("Done."), mark=f"<{case.word}>")
        model.plays(calls(read(folder / f"{case.word}.txt")), says("Done."), mark=f"<settle {case.word}.txt>")
    told = json.dumps([case.told() for case in CASES])
    program = [str(NODE), str(SOURCES / "buffers.cjs"), json.dumps(COMMAND), str(folder), told]
    with anyio.fail_after(120):
        done = await anyio.run_process(program, env=machine.environment(NODE_PATH=str(packages)), check=False)
    assert done.returncode == 0, done.stderr.decode() + machine.log()[-2000:]

    results = json.loads(done.stdout)
    assert len(results) == len(CASES)
    for case, result in zip(CASES, results, strict=True):
        assert result["stopReason"] == "done", case
        check(case, result)


def check(case: Case, result: dict[str, Any]) -> None:
    state, buffer, disk = result["state"], result["buffer"], result["disk"]
    texts = {"same": (DISK, DISK), "stale": (DISK, ELSEWHERE), "dirty": (USER, DISK), "conflict": (USER, ELSEWHERE)}
    here, there = texts.get(case.standing, (DISK, DISK))
    expected = {"buffer": case.text(here), "disk": case.text(there), "edits": 0, "saves": 0}
    if case.standing == "untitled":
        expected |= {"buffer": USER, "disk": None}
    if case.operation == "read":
        assert f"2: some 🙂 {WORDS[case.standing]} 🙂 words" in state["output"], case
    elif case.standing == "conflict":
        assert state["metadata"]["kind"] == "edit_conflict", case
    elif case.manner in {"lost", "stale"}:
        assert state["metadata"]["unknown"] is True, case
        expected |= {"edits": 1, "buffer": USER.replace("last", "last, typed") if case.manner == "stale" else USER}
    else:
        assert state["status"] == "completed", (case, state)
        expected |= changed(case)
    assert {"buffer": buffer, "disk": disk, "edits": result["edits"], "saves": result["saves"]} == expected, case


def changed(case: Case) -> Message:
    match case.standing:
        case "same":
            return {"buffer": case.after, "disk": case.after, "edits": 1, "saves": 1}
        case "stale" | "closed":
            return {"disk": case.after}
        case _:
            after = case.after.replace("end", "end, typed") if case.manner == "typing" else case.after
            return {"buffer": after, "edits": 1}
