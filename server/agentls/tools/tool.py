"""What a tool is: its parameters, what it asks, what it does."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Protocol, TypeVar

from agentls.errors import ToolError
from agentls.schema.base import Value
from agentls.schema.permission import Ask


class Params(Value):
    """Base of a tool's parameters. Its JSON Schema is what the model sees; unknown members are ignored."""


@dataclass(slots=True)
class ToolContext:
    """The facts of one call. Paths are absolute; `root` is the project's root, `directory` the session's folder.

    `expected` holds, by path, the content hash (None: no such file) that the call was judged on: set by `asks`, checked
    again by `run` after the answer, and kept across a restart of the process while the question is open.
    `places` holds the real paths that `asks` of a reading tool was judged on: `run` goes to no other, though a link was
    swapped meanwhile. Empty where nothing was asked. `problem` is why `run` cannot be, as `asks` found it.
    `output` appends text to the part's live output. `check_open` raises `RunClosedError` once the run was stopped: call
    it directly before anything that cannot be taken back.
    """

    session_id: str
    project_id: str
    turn_id: str
    message_id: str
    part_id: str
    agent: str
    directory: Path
    root: Path
    output: Callable[[str], None]
    check_open: Callable[[], None]
    expected: dict[str, str | None] = field(default_factory=dict[str, str | None])
    places: set[Path] = field(default_factory=set[Path])
    problem: ToolError | None = None
    waiting: Callable[[bool], None] = lambda _: None


@dataclass(frozen=True, slots=True)
class ToolResult:
    """`output` is for the model, `title` and `metadata` for the person. `attachments` are members of a `file` part."""

    title: str
    output: str
    metadata: dict[str, Any] = field(default_factory=dict[str, Any])
    attachments: tuple[dict[str, Any], ...] = ()


P = TypeVar("P", bound=Params)


class Tool(Protocol[P]):
    """A tool gets its services by constructor and the facts of a call in its context.

    `asks` looks, changes nothing, and says what must be allowed before `run`; both raise `ToolError`. Tools that are
    `read_only` run side by side. One that `awaits_user` counts as not begun until the user answered. The text for the
    model is `prompts/tools/<name>.md`.
    """

    name: ClassVar[str]
    read_only: ClassVar[bool]
    awaits_user: ClassVar[bool]

    @property
    def params(self) -> type[P]: ...

    async def asks(self, params: P, context: ToolContext) -> Sequence[Ask]: ...

    async def run(self, params: P, context: ToolContext) -> ToolResult: ...
