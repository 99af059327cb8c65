"""Code actions, arguments of commands and the answer as Markdown: decisions without a wire."""

import time
from typing import Any

import pytest
from lsprotocol import types

from agentls.errors import AgentError
from agentls.lsp.surfaces.actions import ASK, code_actions
from agentls.lsp.surfaces.answer import answer_of
from agentls.lsp.surfaces.arguments import Given
from agentls.lsp.surfaces.doing import short
from agentls.protocol.session import MessagesResult, ShellParams

POINT = types.Range(types.Position(1, 2), types.Position(1, 2))
MARKED = types.Range(types.Position(1, 2), types.Position(3, 0))
QUICKFIX, REFACTOR = "quickfix", "refactor"


def diagnostic(message: str = "wrong") -> types.Diagnostic:
    return types.Diagnostic(range=POINT, message=message, severity=types.DiagnosticSeverity.Warning)


def params(
    where: types.Range = MARKED,
    *diagnostics: types.Diagnostic,
    uri: str = "file:///a.py",
    only: list[Any] | None = None,
    trigger: types.CodeActionTriggerKind | None = None,
) -> types.CodeActionParams:
    context = types.CodeActionContext(diagnostics=diagnostics, only=only, trigger_kind=trigger)
    return types.CodeActionParams(types.TextDocumentIdentifier(uri), where, context)


def kinds(given: types.CodeActionParams) -> list[Any]:
    return [action.kind for action in code_actions(given, tags=())]


@pytest.mark.parametrize(
    ("only", "found"),
    [
        (None, [QUICKFIX, ASK]),
        ([], [QUICKFIX, ASK]),
        ([""], [QUICKFIX, ASK]),
        ([types.CodeActionKind.Empty], [QUICKFIX, ASK]),
        ([QUICKFIX], [QUICKFIX]),
        ([types.CodeActionKind.QuickFix], [QUICKFIX]),
        ([REFACTOR], []),
        (["quick"], []),
        (["quickfix.ours"], []),
        (["agentls"], [ASK]),
        ([types.CodeActionKind.SourceFixAll, ASK], [ASK]),
    ],
)
def test_only_the_kinds_that_are_asked_for(only: list[Any] | None, found: list[str]) -> None:
    assert kinds(params(MARKED, diagnostic(), only=only)) == found


def test_without_a_selection_there_is_nothing_to_ask_about() -> None:
    assert kinds(params(POINT, diagnostic())) == [QUICKFIX]


def test_the_cursor_alone_does_not_light_the_lamp_at_each_selection() -> None:
    assert kinds(params(MARKED, trigger=types.CodeActionTriggerKind.Automatic)) == []
    assert kinds(params(MARKED, trigger=types.CodeActionTriggerKind.Invoked)) == [ASK]


@pytest.mark.parametrize("uri", ["untitled:Untitled-1", "git:/a.py?{}", "output:x", "vscode-notebook-cell:/a"])
def test_other_documents_have_none(uri: str) -> None:
    assert kinds(params(MARKED, diagnostic(), uri=uri)) == []


def test_many_diagnostics_do_not_flood_the_menu() -> None:
    found = code_actions(params(POINT, *(diagnostic(f"wrong {number}") for number in range(200))), tags=())
    assert [action.title for action in found] == [f"Fix this diagnostic: wrong {number}" for number in range(10)]


def test_the_tag_is_set_for_a_client_that_knows_it() -> None:
    tag = types.CodeActionTag.LlmGenerated
    assert {action.tags for action in code_actions(params(MARKED, diagnostic()), tags=(tag,))} == {(tag,)}
    assert {action.tags for action in code_actions(params(MARKED, diagnostic()), tags=())} == {None}


def test_they_cost_less_than_a_millisecond() -> None:
    given = params(MARKED, *(diagnostic("x" * 1000) for _ in range(50)))
    code_actions(given, tags=())
    best = min(timed(given) for _ in range(20))
    assert best < 0.001


def timed(given: types.CodeActionParams) -> float:
    began = time.perf_counter()
    code_actions(given, tags=())
    return time.perf_counter() - began


def test_a_control_character_of_a_diagnostic_is_seen_in_the_title() -> None:
    [action] = code_actions(params(POINT, diagnostic("a\x1b[31mb\nc")), tags=())
    assert action.title == "Fix this diagnostic: a\\x1b[31mb c"


# -- arguments


def given(arguments: Any) -> Given:
    return Given("agentls.shell", "Give a line.", {"arguments": arguments})


@pytest.mark.parametrize(
    ("arguments", "words", "members"),
    [
        (None, [], {}),
        ([], [], {}),
        ("ls", ["ls"], {}),
        (["ls", "-l"], ["ls", "-l"], {}),
        ([[], None, "ls"], ["ls"], {}),
        ({"cwd": "/"}, [], {"cwd": "/"}),
        (["ls", {"cwd": "/"}, {"timeoutMs": 5}], ["ls"], {"cwd": "/", "timeoutMs": 5}),
    ],
)
def test_arguments_as_people_write_them(arguments: Any, words: list[str], members: dict[str, Any]) -> None:
    found = given(arguments)
    assert (found.words, found.members) == (words, members)


@pytest.mark.parametrize("argument", [1, True, ["nested"], 1.5])
def test_arguments_that_are_neither_words_nor_an_object(argument: Any) -> None:
    with pytest.raises(AgentError, match=r"agentls\.shell: .* is neither a string nor an object\. Give a line\."):
        given([argument])


def test_a_wrong_member_is_named() -> None:
    with pytest.raises(AgentError) as caught:
        given([{"timeoutMs": 0}]).as_params(ShellParams, sessionId="", command="ls")
    assert caught.value.data["errors"][0]["path"] == "timeoutMs"
    assert caught.value.message.endswith("Give a line.")


# -- the answer


def part(kind: str, number: int, **members: Any) -> dict[str, Any]:
    return {"type": kind, "id": f"prt_{number}", "sessionId": "s", "messageId": "m", "pos": number, **members}


def tool(number: int, state: dict[str, Any], name: str = "bash") -> dict[str, Any]:
    return part("tool", number, callId="c", tool=name, state={"time": {"start": 1, "end": 2}, **state})


def message(role: str, message_id: str, *parts: dict[str, Any]) -> dict[str, Any]:
    model = {"providerId": "p", "modelId": "m"}
    head = {"id": message_id, "sessionId": "s", "pos": 1, "role": role, "agent": "build", "model": model}
    head |= {"time": {"created": 1}, "parentId": "m", "path": {"cwd": "/", "root": "/"}}
    return {"message": head, "parts": list(parts)}


def answered(*messages: dict[str, Any], first: str = "u1") -> Any:
    return answer_of(MessagesResult.model_validate({"messages": messages}).messages, first)


def test_an_answer_is_the_turn_alone_with_its_calls_as_lists() -> None:
    done = {"status": "completed", "input": {"command": "ls `x`"}, "output": "a", "title": "ls"}
    failed = {"status": "error", "input": {"filePath": "/a"}, "error": "long", "metadata": {"brief": "no such file"}}
    answer = answered(
        message("user", "u0", part("text", 1, text="Earlier")),
        message("assistant", "a0", part("text", 2, text="Before.")),
        message("user", "u1", part("text", 3, text="Do\nit"), part("text", 4, text="hidden", synthetic=True)),
        message("assistant", "a1", part("step-start", 5), tool(6, done), tool(7, failed, "read")),
        message("assistant", "a2", part("step-start", 8), part("text", 9, text="\nDone.\n")),
    )
    assert answer.last == "Done."
    assert answer.whole == "> Do\n> it\n\n- ✓ `bash ls 'x'`\n- ✗ `read /a`: no such file\n\nDone.\n"


def test_what_a_command_printed_cannot_leave_its_fence() -> None:
    state = {"status": "completed", "input": {"command": "cat a.md"}, "output": "```\nx\n````", "title": "cat"}
    answer = answered(message("user", "u1"), message("assistant", "a1", tool(1, state)))
    assert answer.last == "`````\n$ cat a.md\n```\nx\n````\n`````"


def test_a_turn_that_said_nothing_has_no_last_word() -> None:
    assert answered(message("user", "u1", part("text", 1, text="Go"))).last == ""


def test_what_is_done_is_one_short_line() -> None:
    assert short("bash a\n\x1b b") == "bash a \\x1b b"
    assert len(short("x" * 500)) == 80
