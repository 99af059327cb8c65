"""The commands below `agentls sessions`: their options and their help."""

from pathlib import Path

import click

from agentls.cli.options import AS_JSON, FOLDER, Job, folder, start

_FILE = click.Path(dir_okay=False, writable=True, path_type=Path)


@click.group()
def sessions() -> None:
    """List, show, export and delete sessions."""


@sessions.command("list")
@click.argument("words", required=False)
@click.option("-C", "--directory", type=FOLDER, help="Those of this folder's project instead of the current one's.")
@click.option("--all", "everywhere", is_flag=True, help="Those of all folders.")
@click.option("--archived", is_flag=True, help="The archived ones instead of the others.")
@click.option("--limit", type=click.IntRange(1), default=50, show_default=True, help="How many, the newest first.")
@AS_JSON
def list_them(
    words: str | None, directory: Path | None, limit: int, *, everywhere: bool, archived: bool, as_json: bool
) -> Job:
    """List the sessions of this folder's project, those used last first; with WORDS, those with them in the title."""
    if everywhere and directory is not None:
        raise click.UsageError("--all and --directory exclude each other", click.get_current_context())
    where = None if everywhere else folder(directory)

    async def job() -> int:
        from agentls.cli.sessions import list_sessions

        return await list_sessions(where, words, limit, archived=archived, as_json=as_json)

    return lambda: start(job)


@sessions.command("show")
@click.argument("session", metavar="ID")
@click.option("--last", type=click.IntRange(1, 500), default=20, show_default=True, help="How many messages.")
def show_one(session: str, last: int) -> Job:
    """Show what a session is, and the end of what was said in it."""

    async def job() -> int:
        from agentls.cli.sessions import show

        return await show(session, last)

    return lambda: start(job)


@sessions.command("export")
@click.argument("session", metavar="ID")
@click.option("--json", "as_json", is_flag=True, help="JSON, with all there is, instead of Markdown.")
@click.option("-o", "--output", type=_FILE, help="Write to this file instead of stdout.")
def export_one(session: str, output: Path | None, *, as_json: bool) -> Job:
    """Print all of a session, as Markdown or JSON."""

    async def job() -> int:
        from agentls.cli.sessions import export

        return await export(session, "json" if as_json else "markdown", output)

    return lambda: start(job)


@sessions.command("delete")
@click.argument("session", metavar="ID...", nargs=-1, required=True)
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
def delete_some(session: tuple[str, ...], *, yes: bool) -> Job:
    """Delete sessions and their subtasks' ones for good. Files of the project stay as they are."""

    async def job() -> int:
        from agentls.cli.sessions import delete

        return await delete(session, sure=yes)

    return lambda: start(job)
