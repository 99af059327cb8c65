"""How the run of a command is told to a model: what it printed, then how it ended."""

from typing import Any

from agentls.config.prompts import prompt
from agentls.tools.output import Outputs
from agentls.workspace.process import Finished


def ran(
    finished: Finished, outputs: Outputs, unsaved: str, limit: int | None, most: int | None = None
) -> tuple[str, dict[str, Any]]:
    """The text, and the facts for the person. `unsaved` names the files whose newest text the command did not see,
    `limit` is the run's in milliseconds, `most` what could be asked for.

    Blocks on the disk where the output is long: call it in a thread.
    """
    cut = outputs.cut(finished.output.rstrip("\n"), tail=True)
    unseen = [prompt("results/shell-unsaved", names=unsaved)] if unsaved else []
    text = "\n".join([cut.text or "(no output)", "", *_notes(finished, limit, most), *unseen])
    facts = {
        "exitCode": finished.exit_code,
        "timedOut": finished.timed_out,
        "outputFile": None if cut.file is None else str(cut.file),
    }
    return text, {name: value for name, value in facts.items() if value is not None}


def _notes(finished: Finished, limit: int | None, most: int | None) -> list[str]:
    if finished.timed_out:
        longer = "" if most is None or limit == most else f" A longer timeout can be given, up to {most} ms."
        return [f"The command did not end within {limit} ms and was stopped.{longer}"]
    if finished.flooded:
        return [f"The command was stopped: it printed over {finished.total // 2**20} MiB. Print less."]
    notes = [_code(finished.exit_code)]
    if finished.ended:
        names = ", ".join(f"{one.name} (pid {one.pid})" for one in finished.ended[:5])
        notes.append(f"Processes that it left running in the background were ended with it: {names}.")
    return notes


def _code(code: int | None) -> str:
    if code is not None and code < 0:
        return f"The shell was ended by signal {-code}."
    return f"Exit code: {code}"
