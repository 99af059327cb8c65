"""Layers of rules, the modes, and what a bash question is judged on."""

import pytest

from agentls.permission.defaults import DEFAULTS
from agentls.permission.rules import Layer, denied_wholly, evaluate, judge
from agentls.permission.shell import Place
from agentls.schema.permission import Ask, Rule
from permission.catalogue import layer

PLACE = Place("/p", "/p", "/h")


def session(*rules: tuple[str, str, str]) -> Layer:
    return Layer("session", tuple(Rule(permission=p, pattern=x, action=a) for p, x, a in rules))


def verdict(layers, permission, *patterns, mode="ask", protected=False) -> str:
    return judge(
        layers, mode, Ask(permission=permission, patterns=patterns, title="t", protected=protected), PLACE
    ).action


@pytest.mark.parametrize(
    ("permission", "pattern", "expected"),
    [
        ("read", "src/a.py", "allow"),
        ("read", ".env", "ask"),
        ("read", "sub/.env.local", "ask"),
        ("read", ".env.example", "allow"),
        ("edit", "src/a.py", "ask"),
        ("bash", "ls", "ask"),
        ("webfetch", "https://a.test/", "ask"),
        ("external_directory", "/etc/*", "ask"),
        ("doom_loop", "read", "ask"),
        ("todowrite", "*", "allow"),
        ("question", "*", "allow"),
        ("some-server_tool", "*", "ask"),
        ("Bash", "ls", "ask"),
    ],
)
def test_p25_defaults(permission, pattern, expected):
    assert verdict((DEFAULTS,), permission, pattern) == expected


def test_the_last_match_of_the_whole_list_wins():
    layers = (DEFAULTS, layer({"edit": {"*": "allow", "*.lock": "ask"}}), session(("edit", "a.lock", "allow")))
    assert verdict(layers, "edit", "a.py") == "allow"
    assert verdict(layers, "edit", "b.lock") == "ask"
    assert verdict(layers, "edit", "a.lock") == "allow"
    assert verdict(layers, "edit", "a.py", "b.lock") == "ask"


def test_p12_no_later_layer_lifts_a_configured_deny():
    layers = (DEFAULTS, layer({"edit": {"*": "allow", "secret/*": "deny"}}), session(("edit", "*", "allow")))
    found = evaluate(layers, "edit", "secret/x")
    assert (found.action, found.layer) == ("deny", "user")
    assert verdict(layers, "edit", "secret/x", mode="auto") == "deny"
    assert verdict(layers, "edit", "a", "secret/x") == "deny"


def test_a_deny_that_its_own_layer_lifts_does_not_bind():
    layers = (DEFAULTS, layer({"edit": {"*": "deny", "docs/*": "allow"}}))
    assert verdict(layers, "edit", "docs/a") == "allow"
    assert verdict(layers, "edit", "src/a") == "deny"


def test_p12_an_approval_of_a_session_does_not_touch_another_agents_deny():
    plan = Layer("agent plan", (Rule(permission="edit", action="deny"),), binding=True)
    assert verdict((DEFAULTS, plan, session(("edit", "*", "allow"))), "edit", "a") == "deny"


def test_ap12_an_approval_of_a_look_alike_does_not_beat_a_deny():
    layers = (DEFAULTS, layer({"bash": {"git push *": "deny"}}), session(("bash", "git *", "allow")))
    assert verdict(layers, "bash", "git status") == "allow"
    assert verdict(layers, "bash", "git push") == "deny"
    assert verdict(layers, "bash", "git -C sub push") == "deny"


@pytest.mark.parametrize(
    ("mode", "permission", "pattern", "expected"),
    [
        ("acceptEdits", "edit", "a", "allow"),
        ("acceptEdits", "bash", "make", "ask"),
        ("acceptEdits", "external_directory", "/etc/*", "ask"),
        ("auto", "bash", "make $X > out", "allow"),
        ("auto", "bash", "cat /etc/passwd", "ask"),
        ("auto", "bash", "cat $(echo /etc/passwd)", "ask"),
        ("auto", "bash", "cp a .git/hooks/pre-commit", "ask"),
        ("auto", "bash", "mv .git .g2", "ask"),
        ("auto", "webfetch", "https://a.test/", "allow"),
        ("auto", "external_directory", "/etc/*", "ask"),
        ("auto", "doom_loop", "read", "ask"),
    ],
)
def test_what_a_mode_softens(mode, permission, pattern, expected):
    assert verdict((DEFAULTS,), permission, pattern, mode=mode) == expected


@pytest.mark.parametrize("mode", ["ask", "acceptEdits", "auto"])
def test_a_protected_deed_asks_in_every_mode_whatever_allows(mode):
    layers = (DEFAULTS, layer({"*": "allow"}))
    assert verdict(layers, "edit", ".git/config", mode=mode, protected=True) == "ask"
    assert verdict((*layers, layer({"edit": "deny"})), "edit", ".git/config", mode=mode, protected=True) == "deny"


@pytest.mark.parametrize("path", [".claude/skills/x/SKILL.md", ".exrc", ".git/hooks/x", ".g\u200cit/hooks/x"])
def test_a_command_that_writes_a_protected_path_asks_in_every_mode(path):
    layers = (DEFAULTS, layer({"*": "allow"}))
    assert verdict(layers, "bash", f"cp a {path}", mode="auto") == "ask"
    assert verdict(layers, "bash", f"echo x > {path}", mode="auto") == "ask"


def test_an_ask_that_names_nothing_is_not_allowed():
    assert verdict((DEFAULTS, layer({"*": "allow"})), "read") == "ask"


def test_a_tool_is_not_offered_only_where_everything_is_denied_for_good():
    assert denied_wholly((DEFAULTS, layer({"edit": "deny"}), session(("edit", "*", "allow"))), "edit")
    assert not denied_wholly((DEFAULTS, layer({"edit": {"*": "deny", "docs/*": "allow"}})), "edit")
    assert not denied_wholly((DEFAULTS,), "edit")


def test_p08_allowing_a_command_does_not_allow_the_folder_outside():
    layers = (DEFAULTS, layer({"bash": {"ls*": "allow", "cat*": "allow"}}))
    assert verdict(layers, "bash", "cat src/a.txt") == "allow"
    assert verdict(layers, "bash", "cat /p/src/a.txt") == "allow"
    for command in ("cat /etc/hosts", "ls '~'", "cat ../x", "cat --file=/etc/x", "cat -f../x", "ls ~"):
        assert verdict(layers, "bash", command) == "ask", command
    denied = (*layers, layer({"external_directory": {"/h/.ssh/*": "deny"}}))
    assert verdict(denied, "bash", "cat ~/.ssh/id_rsa") == "deny"


def test_p25_a_command_reads_a_secret_file_under_the_read_rules():
    layers = (DEFAULTS, layer({"bash": {"cat *": "allow"}}))
    assert verdict(layers, "bash", "cat .env") == "ask"
    assert verdict(layers, "bash", "cat sub/.env.local") == "ask"
    assert verdict(layers, "bash", "cat .env.example") == "allow"
    assert verdict((*layers, layer({"read": {"*.env": "allow"}})), "bash", "cat .env") == "allow"
    assert verdict((*layers, layer({"read": {"*.pem": "deny"}})), "bash", "cat a.pem") == "deny"
