"""Params and results of the folder, its files, and the editor's documents."""

from typing import Annotated, Any

from pydantic import Field

from agentls.protocol.params import Params
from agentls.schema.base import Value
from agentls.schema.input import LineRange


class TrustParams(Params):
    """`directory` is an absolute path; absent, the editor's first folder."""

    directory: str | None = None
    trusted: bool = True


class TrustResult(Value):
    trusted: bool


class FindParams(Params):
    """`query` is matched against the paths below the folder."""

    query: str = ""
    directory: str | None = None
    limit: Annotated[int, Field(ge=1, le=1000)] = 100


class FoundFile(Value):
    """`path` is absolute, `name` relative to the folder."""

    path: str
    name: str


class FindResult(Value):
    files: tuple[FoundFile, ...]


class SaveParams(Params):
    uri: str
    version: int


class SaveResult(Value):
    saved: bool


class DiagnosticsParams(Params):
    uri: str | None = None


class DocumentDiagnostics(Value):
    """`items` are diagnostics as LSP has them. `version` is the document's when its diagnostics were last published, if
    that is known.
    """

    uri: str
    items: tuple[dict[str, Any], ...]
    version: int | None = None


class DiagnosticsResult(Value):
    documents: tuple[DocumentDiagnostics, ...]


class ContextResult(Value):
    """What the user is looking at."""

    uri: str | None = None
    selection: LineRange | None = None
    open: tuple[str, ...] = ()
