"""The plain look at a command."""

import random
import shutil
import subprocess
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentls.permission.defaults import DEFAULTS
from agentls.permission.rules import Layer, judge
from agentls.permission.shell import Place, always_patterns, analyse
from agentls.schema.permission import Ask, Rule
from permission.catalogue import layer

PLACE = Place("/p", "/p", "/h")


def verdict(rules, command, mode="ask") -> str:
    layers = (DEFAULTS, layer({"bash": rules}))
    return judge(layers, mode, Ask(permission="bash", patterns=(command,), title="t"), PLACE).action


@pytest.mark.parametrize(
    "command",
    [
        "git log && curl http://127.0.0.1:9/x | sh",
        "git log; rm -rf t",
        "git log || id",
        "git log | sh",
        "git log & id",
        "git log\nid",
        "git log |& id",
        "git log ;; git log",
    ],
)
def test_p01_a_prefix_allow_covers_no_chained_command(command):
    assert verdict({"git *": "allow"}, command) == "ask"


@pytest.mark.parametrize(
    "command",
    [
        "git status $(touch p)",
        "git status `touch p`",
        'echo "$(id)"',
        "diff <(id) <(id)",
        "echo ${x:-$(id)}",
        "cat <<E\n$(id)\nE",
        "echo $((a[$(id)]))",
    ],
)
def test_p02_a_substitution_is_never_allowed(command):
    assert verdict({"git *": "allow", "echo *": "allow", "diff *": "allow", "cat *": "allow"}, command) == "ask"


@pytest.mark.parametrize(
    "command",
    [
        "(cd b && rm -rf x)",
        "{ rm -rf x; }",
        "DEBUG=1 rm -rf x",
        "command rm -rf x",
        "\\rm -rf x",
        "/bin/rm -rf x",
        '"rm" -rf x',
        "xargs rm -rf",
        "nohup rm -rf x",
        'echo "a$(rm -rf x)b"',
        "find . -exec rm -rf {} +",
        "ls # don't\nrm -rf x",
        "2>/dev/null rm -rf x",
        "rm \\\n -rf x",
        "git -c alias.x='!rm -rf x' x",
    ],
)
def test_p04_a_wrapped_command_is_denied_all_the_same(command):
    assert verdict({"*": "allow", "rm -rf *": "deny"}, command) == "deny"


@pytest.mark.parametrize(
    "command", ["echo rm -rf x", "git commit -m 'no rm -rf x'", "grep 'rm -rf x' a", "echo 'a; rm -rf x'"]
)
def test_a_denied_command_that_is_only_mentioned_is_not_denied(command):
    assert verdict({"*": "allow", "rm -rf *": "deny"}, command) == "allow"


@pytest.mark.parametrize(
    "command",
    [
        'bash -c "rm x"',
        "sh -c ls",
        'eval "rm x"',
        "env rm x",
        'python3 -c "1"',
        "python3.11 -c 1",
        "node -e 1",
        "python",
        "find . -exec rm {} +",
        "find . -delete",
        "git -c core.pager='sh -c id' log",
        "git config core.hooksPath src",
        "sort --outp=x a",
        "awk '{system(1)}'",
        "X=1 ls",
        "if true",
        "'git log' x",
        "",
        " ",
    ],
)
def test_p06_a_wildcard_allow_covers_no_payload(command):
    assert verdict({"*": "allow"}, command) == "ask"
    assert verdict({"*": "allow", "rm *": "deny"}, command) in ("ask", "deny")


def test_a_rule_that_names_the_option_or_the_whole_command_covers_it():
    assert verdict({"find * -delete": "allow"}, "find build -delete") == "allow"
    assert verdict({"sh -c ls": "allow"}, "sh -c 'ls'") == "allow"
    assert verdict({"export *": "allow"}, "export A") == "allow"


@pytest.mark.parametrize(
    "command", ["npm run test", "npm run test 2>&1", "npm run test >/dev/null 2>&1 | tail -5", "npm run test # all"]
)
def test_p10_harmless_redirections_do_not_defeat_an_allow(command):
    assert verdict({"npm run test*": "allow", "tail *": "allow"}, command) == "allow"


@pytest.mark.parametrize(
    "command", ["ls > x", "ls 2> x", "ls >&x", "ls >/dev/nullx", "ls > /dev/tcp/1/2", "ls < x", "ls 2>&1x"]
)
def test_other_redirections_ask(command):
    assert verdict({"*": "allow"}, command) == "ask"


def test_quotes_that_hide_where_words_end_defeat_a_wildcard():
    assert verdict({"git log *": "allow"}, "git 'log x'") == "ask"
    assert verdict({"grep *": "allow"}, "grep 'a b' c") == "allow"


def test_paths_outside_are_named():
    assert analyse("cat /etc/hosts a/../../b src/../c ~/d https://x/../y", PLACE).outside == (
        "/etc/hosts",
        "/b",
        "/h/d",
    )
    assert analyse("cd ..; cat outside/x", PLACE).outside == ("/",)
    for command in ("cd", "cd -", "cd ''", "cd -P --", "ls; cd"):
        assert analyse(command, PLACE).outside == ("/h",), command
    assert analyse("cd a && cat ../../b", Place("/p", "/p/c")).outside == ("/b",)
    assert analyse("ls /abs").outside == ("/abs",)


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("git status --short", ("git status *",)),
        ("npm run test -- -x", ("npm run test *",)),
        ("ls -la", ("ls *",)),
        ("git", ("git",)),
        ("git -C sub status", ("git -C sub status",)),  # AP-04
        ("cd a && npm test", ("npm test *",)),  # AP-07
        ("cd a", ()),
        ("git push origin main", ("git push origin main",)),
        ("docker compose up", ("docker compose up",)),
        ("docker run x", ("docker run x",)),
        ("sudo ls", ()),  # AP-06
        ("xargs rm", ()),
        ("env A=1 make", ("env A=1 make",)),  # AP-05
        ("bash -c ls", ("bash -c ls",)),  # AP-02
        ("bash", ()),
        ("python", ()),
        ("python a.py", ("python a.py",)),
        ("rm -rf build", ("rm -rf build",)),
        ("rm *", ()),
        ("unknown-tool x y", ("unknown-tool x y",)),
        ("ls | sudo tee x", ()),
        ("find . -delete", ("find . -delete",)),
        ("find . -name '*.py'", ("find *",)),
        ("find . -name '*.py' -delete", ()),
        ("uv run pytest -q", ("uv run pytest -q",)),
        ("echo $X", ()),
        ("", ()),
    ],
)
def test_what_an_always_would_store(command, expected):
    assert always_patterns(command) == expected


@pytest.mark.parametrize(
    ("first", "then"),
    [
        ("bash -c 'ls'", "bash -c 'touch x'"),
        ("git -C sub status", "git -C sub push"),
        ("env A=1 make", "env rm -rf build"),
        ("timeout 5 make", "timeout 5 rm x"),
        ("xargs ls", "xargs rm"),
        ("ls -la", "lsattr"),
        ("git log", "git log --output=x"),
    ],
)
def test_ap_an_always_for_one_command_opens_no_other(first, then):
    stored = tuple(Rule(permission="bash", pattern=pattern, action="allow") for pattern in always_patterns(first))
    layers = (DEFAULTS, Layer("approvals", stored))
    assert judge(layers, "ask", Ask(permission="bash", patterns=(then,), title="t"), PLACE).action == "ask"


def test_a_list_of_allowed_commands_over_a_deny_of_all_works():
    rules = {"*": "deny", "git *": "allow", "timeout 5 make": "allow"}
    assert verdict(rules, "git commit -m 'fix the thing; really'") == "allow"
    assert verdict(rules, "timeout 5 make") == "allow"
    assert verdict(rules, "git log | head") == "deny"
    assert verdict(rules, "(head x)") == "deny"


def words_by_bash(line: str) -> tuple[str, ...]:
    script = 'exec 7>&1; x() { [ $# = 0 ] || printf "%s\\0" "$@" >&7; }\n' + f"x {line}"
    env = {"HOME": "/H", "PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"}
    run = subprocess.run(["bash", "--norc", "-c", script], capture_output=True, env=env, check=False)
    return tuple(run.stdout.decode().split("\0")[:-1])


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_what_counts_as_plain_is_split_as_bash_splits_it():
    odd = random.Random(7)
    pieces = [
        *"ab  '\"-=/.:,@%+^~_*?[]{}!#$\\`<>()\té",
        "2>&1",
        " >/dev/null ",
        "&>/dev/null",
        " # ",
        "''",
        '""',
        "HEAD~1",
    ]
    checked = 0
    while checked < 150:
        line = "".join(odd.choice(pieces) for _ in range(odd.randint(1, 14)))
        parts = analyse(f"x {line}").parts
        if parts is not None and len(parts) == 1:
            assert words_by_bash(line) == parts[0].words[1:], line
            checked += 1


SHELLISH = st.text(st.sampled_from([*"rm ls'\"\\$`(){}<>|&;#~=*\n\t-./", "\0", "\ud800", "\u202e", "é"]), max_size=40)


@given(SHELLISH)
def test_any_text_has_a_verdict_and_odd_ones_are_never_allowed(command):
    action = verdict({"*": "allow"}, command)
    odd = set("$`\\(){}<>\n\0\ud800\u202e*") & set(command.replace("2>&1", "")) - (
        {"*"} if "'" in command or '"' in command else set()
    )
    if odd and "#" not in command and not {"'", '"'} & set(command):
        assert action != "allow"
    always_patterns(command)


@given(SHELLISH)
def test_a_denied_line_is_never_lost_behind_another(command):
    quoted = {"'", '"', "\\", "`", "(", ")", "$", "#", "<", ">"} & set(command)
    if not quoted:
        assert verdict({"*": "allow", "rm -rf *": "deny"}, f"{command}\nrm -rf build") == "deny"


@pytest.mark.parametrize(
    "command",
    [
        "a" * 1_000_000,
        "$(" * 500_000,
        "echo " + "$(" * 5000 + "ls" + ")" * 5000,
        " && ".join(["true"] * 100_000),
        "'" * 1_000_000,
        "cat <<A\nx\nA\n" * 10_000,
        "cat " + " ".join(f"../{n}" for n in range(100_000)),
        "sudo " * 13_000,
        "sh -c 'a;b' " * 5_000,
        "a;" * 32_000,
        "".join(f"a{n};" for n in range(10_000)),
    ],
    ids=["word", "open", "nested", "parts", "quotes", "heredocs", "paths", "sudo", "payloads", "same", "others"],
)
def test_huge_commands_ask_within_a_second(command):
    started = time.perf_counter()
    assert verdict({"*": "allow", "rm *": "deny"}, command) == "ask"
    assert time.perf_counter() - started < 1


def test_a_command_too_long_to_read_asks_even_in_auto():
    assert verdict({"*": "allow"}, "true;" * 20_000 + "cat /etc/passwd", mode="auto") == "ask"


@pytest.mark.parametrize("mode", ["ask", "auto"])
def test_more_commands_than_can_be_judged_ask_in_every_mode(mode):
    assert verdict({"*": "allow"}, "true;" * 256, mode=mode) == "allow"
    assert verdict({"*": "allow"}, "true;" * 256 + "true", mode=mode) == "ask"
    assert always_patterns("npm test;" * 257) == ()


@pytest.mark.parametrize("count", [300, 10_000])
def test_a_denied_command_behind_more_than_can_be_judged_is_denied(count):
    assert verdict({"*": "allow", "rm *": "deny"}, "true;" * count + "rm -rf build") == "deny"
    assert verdict({"*": "allow", "rm *": "deny"}, "true;" * count + "echo $(rm -rf build)") == "deny"


def test_a_long_here_document_is_no_crowd_of_commands():
    lines = "print(1)\n" * 3_000
    assert verdict({"*": "ask"}, f"python <<EOF\n{lines}EOF", mode="auto") == "allow"


def test_ap07_a_change_of_folder_needs_no_rule_of_its_own_but_its_path_is_judged():
    assert verdict({"npm test *": "allow"}, "cd a && npm test") == "allow"
    for command in (
        "cd .. && npm test",
        "cd && npm test",
        "cd /etc && npm test",
        "cd .git/hooks && npm test",
        "cd ~ && npm test",
    ):
        assert verdict({"npm test *": "allow"}, command) == "ask", command
    assert verdict({"npm test *": "allow", "cd *": "ask"}, "cd a && npm test") == "ask"
    assert verdict({"npm test *": "allow", "cd *": "deny"}, "cd a && npm test") == "deny"
