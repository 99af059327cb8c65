"""What is typed at the program: help, version, and mistakes, each of which gets one clear line."""

import json
import re

import pytest

from cli.program import Program


def test_version_is_one_line(program: Program) -> None:
    ran = program.run("--version")
    assert (ran.returncode, ran.stderr) == (0, "")
    assert re.fullmatch(r"agentls \d+\.\d+\.\d+\n", ran.stdout)


def test_help_names_every_command(program: Program) -> None:
    ran = program.run("--help")
    assert ran.returncode == 0
    assert all(
        f"\n  {command} " in ran.stdout
        for command in ("chat", "demo", "doctor", "models", "prompt", "schema", "serve", "sessions")
    )


def test_help_of_prompt_tells_the_exit_codes(program: Program) -> None:
    said = program.run("prompt", "--help").stdout
    assert all(word in said for word in ("--json", "--mode", "0 done", "3 something was rejected", "130 aborted"))


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--wrong"], "No such option '--wrong'"),
        (["wrong"], "No such command 'wrong'"),
        (["prompt"], "Missing argument 'TEXT'"),
        (["prompt", "hi", "--wrong"], "No such option '--wrong'"),
        (["prompt", "hi", "--mode", "wrong"], "'wrong' is not one of"),
        (["prompt", "hi", "--model", "wrong"], "provider/model"),
        (["prompt", "hi", "-C", "/not/there"], "'/not/there' does not exist"),
        (["prompt", "  "], "The prompt is empty"),
        (["prompt", "-"], "The prompt is empty"),
        (["prompt", "hi", "-C", ".", "--session", "ses_1"], "leave out --directory"),
        (["demo", "."], "is not empty"),
        (["chat"], "chat needs a terminal; `agentls prompt` works without one"),
        (["chat", "--model", "wrong"], "provider/model"),
        (["chat", "--continue", "--session", "ses_1"], "exclude each other"),
        (["chat", "--demo", "--model", "a/b"], "exclude each other"),
        (["models", "-C", "/not/there"], "'/not/there' does not exist"),
        (["doctor", "now"], "unexpected extra argument"),
        (["sessions", "wrong"], "No such command 'wrong'"),
        (["sessions", "list", "--limit", "0"], "0 is not in the range"),
        (["sessions", "list", "--all", "-C", "."], "exclude each other"),
        (["sessions", "export"], "Missing argument 'ID'"),
        (["sessions", "delete"], "Missing argument 'ID...'"),
    ],
)
def test_a_mistake_in_what_was_typed_is_told_in_one_line(program: Program, words: list[str], told: str) -> None:
    ran = program.run(*words)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr.startswith("agentls: ")
    assert told in ran.stderr
    assert "--help" in ran.stderr
    assert ran.stderr.count("\n") == 1


def test_plain_agentls_in_a_terminal_says_what_it_is(program: Program) -> None:
    terminal = program.terminal()
    assert terminal.end() == 2
    rows = terminal.text.strip().splitlines()
    assert len(rows) == 3
    assert "language server" in rows[0]
    assert "agentls demo" in rows[1]


@pytest.mark.parametrize("words", [[], ["--stdio"], ["serve"], ["serve", "--stdio"], ["--stdio", "serve"]])
def test_every_way_to_serve_answers_an_editor_and_ends_with_it(program: Program, words: list[str]) -> None:
    body = '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"processId":null,"rootUri":null,"capabilities":{}}}'
    ran = program.run(*words, stdin=f"Content-Length: {len(body)}\r\n\r\n{body}")
    assert ran.stdout.startswith("Content-Length: ")
    assert '"serverInfo"' in ran.stdout


def test_serving_nobody_ends_at_once(program: Program) -> None:
    process = program.start("--stdio")
    assert process.wait(60) == 0


def test_the_schema_is_json_and_knows_the_messages(program: Program) -> None:
    ran = program.run("schema")
    assert (ran.returncode, ran.stderr) == (0, "")
    schema = json.loads(ran.stdout)
    assert schema["$schema"].startswith("https://json-schema.org/")
    assert "session/prompt" in ran.stdout


def test_a_reader_that_goes_away_ends_it_quietly(program: Program) -> None:
    process = program.start("schema")
    assert process.stdout
    process.stdout.close()
    assert process.wait(60) == 141
    assert process.stderr
    assert process.stderr.read() == ""
