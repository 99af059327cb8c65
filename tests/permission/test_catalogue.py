"""The catalogue of shell strings: nothing that must ask or be denied is ever allowed."""

from collections import Counter
from pathlib import Path

import pytest

from agentls.permission import places, shell
from agentls.permission.defaults import DEFAULTS
from agentls.permission.rules import evaluate, judge, strictest
from agentls.schema.permission import Ask
from permission.catalogue import CASES, RULESETS


@pytest.fixture(scope="module")
def workspace(tmp_path_factory):
    root = tmp_path_factory.mktemp("place")
    project, outside = root / "w", root / "outside"
    for folder in (project / "src", project / "build", outside / "repo"):
        folder.mkdir(parents=True)
    (project / "link_out").symlink_to(outside)
    (project / ".env").write_text("SECRET=1")
    (outside / "secret.txt").write_text("x")
    return project


def verdict_of(case, workspace: Path) -> str:
    command = (
        case["command"].replace("<outside>", str(workspace.parent / "outside")).replace("<workspace>", str(workspace))
    )
    layers = (DEFAULTS, RULESETS[case["ruleset"]])
    place = shell.Place(str(workspace), str(workspace), str(workspace.parent / "home"))
    verdict = judge(layers, "ask", Ask(permission="bash", patterns=(command,), title="t"), place)
    linked = places.outside(shell.analyse(command, place).operands, place)
    return strictest([verdict, *(evaluate(layers, "external_directory", path) for path in linked)]).action


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_no_string_of_the_catalogue_is_judged_laxer_than_it_must(case, workspace):
    action = verdict_of(case, workspace)
    assert action != "allow" or "allow" in case["accept"]


def test_the_catalogue_has_no_bypass_and_few_weakened_denies(workspace):
    count = Counter()
    named = {"weakened": [], "alarm": [], "overdone": []}
    for case in CASES:
        action, accept = verdict_of(case, workspace), case["accept"]
        if action in accept:
            continue
        kind = "bypass" if action == "allow" else "weakened" if accept == ["deny"] else "alarm"
        kind = "overdone" if action == "deny" else kind
        count[kind] += 1
        named.setdefault(kind, []).append((case["id"], case["command"]))
    print(count, named)
    assert count["bypass"] == 0
    assert named["weakened"] == []
    assert named["overdone"] == []
    assert count["alarm"] <= 5
