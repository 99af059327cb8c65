"""What file tools ask for before they touch a path."""

from collections.abc import Callable, Sequence
from pathlib import Path

from agentls.errors import ToolError
from agentls.permission.patterns import is_literal
from agentls.schema.permission import Ask, AskMetadata, FileDiff
from agentls.tools.tool import ToolContext
from agentls.workspace.buffers import Buffers
from agentls.workspace.resolve import Resolved, resolve

Unreadable = Callable[[ToolContext], Callable[[str], bool]]
"""Of a call: which paths, as rules see them, may not be read by it without a question."""


def all_readable(_: ToolContext) -> Callable[[str], bool]:
    return lambda _: False


def resolved(argument: str, context: ToolContext, buffers: Buffers | None = None) -> Resolved:
    """With `buffers`, also a document of the editor that is no file yet."""
    untitled = buffers.untitled(argument) if buffers is not None else None
    if untitled is not None:
        return Resolved(Path(untitled.uri), context.root, inside=True, protected=False, untitled=untitled.uri)
    return resolve(argument, context.directory, context.root)


def asked(argument: str, context: ToolContext, buffers: Buffers | None = None) -> Resolved:
    """The path that a reading tool asks for; `run` will go to no other."""
    path = resolved(argument, context, buffers)
    context.places.add(path.path)
    return path


def allowed(argument: str, context: ToolContext, buffers: Buffers | None = None) -> Resolved:
    """The path that a reading tool goes to, if it is still the one that was judged."""
    path = resolved(argument, context, buffers)
    if context.places and path.path not in context.places:
        raise _moved(path)
    return path


def outside(path: Resolved, tool: str, *, folder: bool = False) -> list[Ask]:
    """The question for a path out of the project; none for one inside."""
    if path.inside:
        return []
    place = path.path if folder else path.path.parent
    pattern = f"{str(place).rstrip('/')}/*"
    return [
        Ask(
            permission="external_directory",
            patterns=(pattern,),
            always=literal((pattern[:-1],)) and (pattern,),
            title=f"Use {path.path}, outside the project",
            description=f"{tool} wants to go to {place}, which is not in {path.root}.",
            metadata=AskMetadata(command=f"{tool} {path.path}"),
        )
    ]


def reading(path: Resolved, tool: str) -> list[Ask]:
    return [
        *outside(path, tool),
        Ask(
            permission="read",
            patterns=(path.shown,),
            always=literal((path.shown,)),
            title=f"Read {path.shown}",
            metadata=AskMetadata(command=f"{tool} {path.path}"),
        ),
    ]


def searching(path: Resolved, tool: str, pattern: str) -> list[Ask]:
    """The questions of glob, grep and list; a search that names one file also asks to read it."""
    asked = Ask(
        permission=tool,
        patterns=(pattern,),
        always=literal((pattern,)),
        title=f"{tool.capitalize()} {pattern}",
        metadata=AskMetadata(command=f"{tool} {pattern}", cwd=str(path.path)),
    )
    if path.kind() == "file":
        return [*reading(path, tool), asked]
    return [*outside(path, tool, folder=True), asked]


def editing(paths: Sequence[tuple[Resolved, str]], tool: str, title: str) -> list[Ask]:
    """The questions of a change: `paths` come with the unified diff of each."""
    questions = [ask for path, _ in paths for ask in outside(path, tool)]
    patterns = tuple(path.shown for path, _ in paths)
    protected = any(path.protected for path, _ in paths)
    files = tuple(FileDiff(uri=path.uri, patch=patch) for path, patch in paths)
    return [
        *questions,
        Ask(
            permission="edit",
            patterns=patterns,
            always=() if protected else literal(patterns),
            title=title,
            description="This file can make programs run, so it is always asked for." if protected else None,
            metadata=AskMetadata(files=files),
            protected=protected,
        ),
    ]


def refused(problem: ToolError, path: Resolved, tool: str, context: ToolContext) -> list[Ask]:
    """The questions of a change that cannot be. Why may quote the file: only who may read it is told, by `run`."""
    context.problem = problem
    return reading(path, tool)


def going_on(argument: str, context: ToolContext, buffers: Buffers) -> Resolved:
    """The path of a change that `asks` found possible; raises what it found else."""
    if context.problem is not None:
        raise context.problem
    return resolved(argument, context, buffers)


def literal(patterns: tuple[str, ...]) -> tuple[str, ...]:
    """The patterns that an "always" may store: none of a name that holds wildcards itself, for it would allow more."""
    return patterns if all(map(is_literal, patterns)) else ()


def judged(path: Resolved, context: ToolContext) -> str | None:
    """The content hash that the call was judged on. A path that leads elsewhere by now was never judged."""
    key = str(path.path)
    if key not in context.expected:
        raise _moved(path)
    return context.expected[key]


def _moved(path: Resolved) -> ToolError:
    return ToolError(
        f"{path.shown} leads to another place than when this call was judged. Look at it and call again.",
        f"{path.path.name}: the path changed",
    )
