"""Code actions. They are asked for at each move of the cursor: nothing is read, neither text nor disk."""

from collections.abc import Sequence
from typing import Any

from lsprotocol import types

from agentls.config.prompts import prompt
from agentls.lsp.surfaces.names import PROMPT
from agentls.schema.text import one_line, visible

ASK = "agentls.ask"
"""Asking changes no code: none of LSP's own kinds fits, and others are allowed."""

KINDS = (types.CodeActionKind.QuickFix.value, ASK)
_MOST_FIXES = 10
_MOST_TITLE = 60


def code_actions(params: types.CodeActionParams, *, tags: Sequence[types.CodeActionTag]) -> list[types.CodeAction]:
    """Those that the client wants of this place. Their commands name the range; its text is read when one is run."""
    uri = params.text_document.uri
    if not uri.startswith("file:"):
        return []
    found: list[types.CodeAction] = []
    if _wanted(KINDS[0], params.context):
        found += [_fix(uri, diagnostic) for diagnostic in params.context.diagnostics[:_MOST_FIXES]]
    # Asked for by the cursor alone, it would light the editor's lamp at each selection.
    by_itself = params.context.trigger_kind == types.CodeActionTriggerKind.Automatic
    if params.range.start != params.range.end and not by_itself and _wanted(ASK, params.context):
        found.append(_ask(uri, params.range))
    for action in found:
        action.tags = tags or None
    return found


def _wanted(kind: str, context: types.CodeActionContext) -> bool:
    """Kinds are a tree: who asks for `refactor` also gets `refactor.extract`; the empty kind is its root."""
    return not context.only or any(only in ("", kind) or kind.startswith(only + ".") for only in context.only)


def _ask(uri: str, where: types.Range) -> types.CodeAction:
    title = "Ask about the selection"
    parts = [_text("input/explain"), _selection(uri, where)]
    return types.CodeAction(title=title, kind=ASK, command=_command(title, parts))


def _fix(uri: str, diagnostic: types.Diagnostic) -> types.CodeAction:
    message = visible(one_line(diagnostic.message))
    cut = message if len(message) <= _MOST_TITLE else f"{message[: _MOST_TITLE - 1]}…"
    title = f"Fix this diagnostic: {cut}"
    item = {"message": diagnostic.message, "range": _range(diagnostic.range)}
    item |= {"severity": int(diagnostic.severity)} if diagnostic.severity else {}
    item |= {"source": diagnostic.source} if diagnostic.source else {}
    item |= {"code": diagnostic.code} if diagnostic.code is not None else {}
    parts = [
        _text("input/fix"),
        _selection(uri, _lines(diagnostic.range)),
        {"type": "diagnostics", "uri": uri, "items": [item]},
    ]
    kind = types.CodeActionKind.QuickFix
    return types.CodeAction(title=title, kind=kind, diagnostics=[diagnostic], command=_command(title, parts))


def _command(title: str, parts: list[dict[str, Any]]) -> types.Command:
    return types.Command(title=title, command=PROMPT, arguments=[{"parts": parts}])


def _text(name: str) -> dict[str, Any]:
    return {"type": "text", "text": prompt(name)}


def _selection(uri: str, where: types.Range) -> dict[str, Any]:
    return {"type": "selection", "uri": uri, "range": _range(where)}


def _lines(where: types.Range) -> types.Range:
    """A diagnostic marks a word, or nothing at all: its lines tell more."""
    end = types.Position(line=where.end.line + 1, character=0)
    return types.Range(start=types.Position(line=where.start.line, character=0), end=end)


def _range(where: types.Range) -> dict[str, Any]:
    ends = {"start": where.start, "end": where.end}
    return {name: {"line": end.line, "character": end.character} for name, end in ends.items()}
