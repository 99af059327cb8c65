"""`agentls models`: what there is, what answers if nobody chooses, and no network for it."""

import json

from cli.program import Program


def test_the_models_of_the_settings_are_there_and_the_default_is_marked(program: Program) -> None:
    ran = program.run("models")
    assert ran.returncode == 0
    rows = ran.stdout.splitlines()
    marked = [row for row in rows if row.startswith("* ")]
    assert len(marked) == 1
    assert marked[0].split()[1] == "fake/test-model"
    assert "200,000 tokens" in marked[0]
    assert "$1 in, $2 out" in marked[0]
    assert any(row.split()[0] == "demo/demo" for row in rows)
    assert "answers if nobody chooses" in ran.stderr


def test_json_is_what_the_protocol_gives(program: Program) -> None:
    ran = program.run("models", "--json")
    assert (ran.returncode, ran.stderr) == (0, "")
    models = json.loads(ran.stdout)
    default = [model for model in models if model.get("default")]
    assert [(model["providerId"], model["modelId"]) for model in default] == [("fake", "test-model")]
    assert default[0]["limit"]["context"] == 200_000
    assert "a-key-of-the-tests" not in ran.stdout


def test_where_nothing_is_set_up_the_demo_answers_and_it_is_said(program: Program) -> None:
    program.machine.config.unlink()
    ran = program.run("models")
    assert ran.returncode == 0
    assert "* demo/demo" in ran.stdout
    assert "no model is set up" in ran.stderr


def test_a_default_that_there_is_not_is_said(program: Program) -> None:
    program.machine.settings("http://127.0.0.1:9/v1", model="nobody/model")
    ran = program.run("models")
    assert "*" not in ran.stdout
    assert "the settings choose nobody/model, which is none of these" in ran.stderr


def test_another_folder_has_its_own_settings(program: Program) -> None:
    other = program.machine.project("other", {"agentls.json": '{"model": "demo/demo"}'})
    ran = program.run("models", "-C", str(other))
    assert "* demo/demo" in ran.stdout


def test_broken_settings_are_told_with_their_place(program: Program) -> None:
    (program.project / "agentls.json").write_text('{\n  "model" "x"\n}\n', encoding="utf-8")
    ran = program.run("models")
    assert ran.returncode == 0
    assert "agentls.json:2:" in ran.stderr
    assert "* fake/test-model" in ran.stdout
