"""The commands: their options, their help, and what is wrong with what was typed."""

import json
import sys
from pathlib import Path
from typing import Any, cast

import click

from agentls import __version__
from agentls.cli.ending import Exit, complain
from agentls.cli.options import AS_JSON, FOLDER, Job, folder, start
from agentls.cli.sessions_commands import sessions

_EXITS = """\b
Exit codes:
  0 done   1 error   2 usage   3 something was rejected, or nobody could answer
  4 cut by a limit of length or steps   5 content filter   70 a fault of ours   130 aborted"""


def run(arguments: list[str]) -> int:
    """Returns the exit code. What is wrong with the arguments is said in one line.

    A command only reads its arguments and returns what is to be done: click would swallow what is raised in there.
    """
    try:
        job = cast("Job | int | None", commands.main(arguments, "agentls", standalone_mode=False))
    except click.UsageError as error:
        path = error.ctx.command_path if error.ctx else "agentls"
        complain(f"{error.format_message().rstrip('.')}. See: {path} --help")
        return Exit.USAGE
    except click.Abort:
        raise KeyboardInterrupt from None
    return job() if callable(job) else job or Exit.DONE


def hint() -> int:
    """For who types `agentls` and is no editor."""
    print(
        "agentls is a language server with an agent inside: your editor starts it and speaks to it over stdio.\n"
        "To see it work here:  agentls demo       a small job from end to end, without a key\n"
        '                      agentls prompt "…"  a prompt on this folder; agentls --help lists the rest',
        file=sys.stderr,
    )
    return Exit.USAGE


@click.group(
    invoke_without_command=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Without a command it serves: that is how editors start it.",
)
@click.version_option(__version__, "-V", "--version", message="%(prog)s %(version)s")
def commands() -> None:
    """An agent language server: an editor starts it over stdio and hosts an agent through it."""


@commands.command()
@click.option("--stdio", is_flag=True, expose_value=False, help="Accepted, as editors pass it; it is the only way.")
def serve() -> Job:
    """Serve an editor over stdio (what `agentls` alone does)."""
    return _serve


@commands.command(epilog=_EXITS)
@click.argument("text")
@click.option("-C", "--directory", type=FOLDER, help="Work in this folder instead of the current one.")
@click.option("--agent", help="Which agent answers, such as `build` or `plan`.")
@click.option("-m", "--model", metavar="PROVIDER/MODEL", help="Which model answers; else the settings decide.")
@click.option(
    "--mode",
    type=click.Choice(["ask", "acceptEdits", "auto"]),
    help="ask: as the rules say; acceptEdits: not about edits; auto: only about paths outside, and protected files.",
)
@click.option("--session", metavar="ID", help="Go on with this session.")
@click.option("--json", "as_json", is_flag=True, help="Print the protocol's events, one JSON object a line.")
@click.option("--trust", is_flag=True, help="Let all of the folder's own settings hold, for this run.")
def prompt(text: str, **given: Any) -> Job:
    """Let the agent work on TEXT here, in the terminal. With - as TEXT the prompt is read from stdin.

    It asks before it changes or runs something. Without a terminal nobody can be asked: what needs an answer is then
    not done, which is said on stderr, and the exit code is 3.
    """
    provider, _, model = (given["model"] or "provider/model").partition("/")
    if not (provider and model):
        raise click.BadParameter("it has the form provider/model", click.get_current_context(), param_hint="'--model'")
    if text == "-":
        text = sys.stdin.buffer.read().decode("utf-8", errors="replace")
    if not text.strip():
        raise click.UsageError("The prompt is empty", click.get_current_context())
    if given["session"] and given["directory"]:
        raise click.UsageError("--session has its folder already: leave out --directory", click.get_current_context())
    return lambda: _prompt(text, given)


@commands.command()
@click.option("-C", "--directory", type=FOLDER, help="Work in this folder instead of the current one.")
@click.option("-c", "--continue", "resume", is_flag=True, help="Go on with the session used last in this folder.")
@click.option("--session", metavar="ID", help="Go on with this session.")
@click.option("--agent", help="Which agent answers, such as `build` or `plan`.")
@click.option("-m", "--model", metavar="PROVIDER/MODEL", help="Which model answers; else the settings decide.")
@click.option("--demo", "demo_model", is_flag=True, help="The built-in demo model answers: no key, no network.")
@click.option("--mode", type=click.Choice(["ask", "acceptEdits", "auto"]), help="As of agentls prompt.")
@click.option("--trust", is_flag=True, help="Let all of the folder's own settings hold, for this run.")
def chat(**given: Any) -> Job:
    """Talk with the agent here, in the terminal: prompt after prompt, with its questions, and steering while it works.

    It needs a terminal; a script is better off with `agentls prompt`. Type /help in it for the rest.
    """
    context = click.get_current_context()
    if given["resume"] and given["session"]:
        raise click.UsageError("--continue and --session exclude each other", context)
    if given["model"] and given["demo_model"]:
        raise click.UsageError("--model and --demo exclude each other", context)
    provider, _, model = ("demo/demo" if given["demo_model"] else given["model"] or "provider/model").partition("/")
    if not (provider and model):
        raise click.BadParameter("it has the form provider/model", context, param_hint="'--model'")
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise click.UsageError("chat needs a terminal; `agentls prompt` works without one", context)
    wishes: dict[str, Any] = {name: given[name] for name in ("agent", "mode") if given[name]}
    if given["model"] or given["demo_model"]:
        wishes["model"] = {"providerId": provider, "modelId": model}
    return lambda: _chat(wishes, given)


@commands.command()
@click.argument("folder", required=False, type=click.Path(file_okay=False, path_type=Path))
def demo(folder: Path | None) -> Job:
    """Watch the main job from end to end, without a key.

    The sample project is made in FOLDER, which must be new or empty, and stays there; without FOLDER it is made in a
    temporary one and removed at the end.
    """
    if folder is not None and folder.exists() and any(folder.iterdir()):
        raise click.UsageError(f"{folder} is not empty; name a new folder", click.get_current_context())
    return lambda: _demo(folder)


@commands.command("models")
@click.option("-C", "--directory", type=FOLDER, help="As the settings of this folder say, not of the current one.")
@AS_JSON
def list_models(directory: Path | None, *, as_json: bool) -> Job:
    """List the models that can be chosen here, the default one marked."""

    async def job() -> int:
        from agentls.cli.models import models

        return await models(folder(directory), as_json=as_json)

    return lambda: start(job)


@commands.command("doctor")
@click.option("-C", "--directory", type=FOLDER, help="Look at this folder instead of the current one.")
@AS_JSON
def see_doctor(directory: Path | None, *, as_json: bool) -> Job:
    """Check settings, storage, tools and the way to the model, and say what to do.

    ✓ is well, ! works but perhaps not as expected, ✗ has to be mended: then the exit code is 1.
    """

    async def job() -> int:
        from agentls.cli.doctor import doctor

        return await doctor(folder(directory), as_json=as_json)

    return lambda: start(job)


@commands.command()
def schema() -> Job:
    """Print the protocol as JSON Schema."""
    return _schema


commands.add_command(sessions)


def _serve() -> int:
    from agentls.cli.serve import serve as serve_stdio

    return serve_stdio()


def _prompt(text: str, given: dict[str, Any]) -> int:
    import anyio

    from agentls.cli.prompt import options
    from agentls.cli.prompt import prompt as one_shot

    return anyio.run(one_shot, options(text, given))


def _chat(wishes: dict[str, Any], given: dict[str, Any]) -> int:
    import anyio

    from agentls.cli.chat.talk import ChatOptions
    from agentls.cli.chat.talk import chat as talk

    options = ChatOptions(
        directory=folder(given["directory"]),
        session=given["session"],
        resume=given["resume"],
        wishes=wishes,
        trust=given["trust"],
    )
    return anyio.run(talk, options)


def _demo(folder: Path | None) -> int:
    import anyio

    from agentls.cli.demo import demo as show

    return anyio.run(show, folder)


def _schema() -> int:
    from agentls.protocol.jsonschema import schema_bundle

    print(json.dumps(schema_bundle(), indent=2, ensure_ascii=False))
    return Exit.DONE
