"""Settings from real files: order, mistakes, references, OpenCode's files."""

import json
import os
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from agentls.config.load import Loaded, SettingsLoader
from agentls.config.paths import Paths
from agentls.config.trust import Trust, TrustStore


@dataclass
class House:
    """A home, a project and a loader over them."""

    root: Path
    home: Path
    env: dict[str, str] = field(default_factory=dict)

    def __post_init__(self):
        self.env.setdefault("HOME", str(self.home))
        self.paths = Paths.from_environment(self.env)
        self.trust = Trust(TrustStore(self.paths.trust))
        self.loader = SettingsLoader(self.paths, self.env, self.trust)

    def write(self, path: str, value) -> Path:
        file = (self.home if path.startswith(".config") else self.root) / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(value if isinstance(value, str) else json.dumps(value))
        return file

    def load(self, directory="", editor=None, trusted: bool | None = True) -> Loaded:
        return self.loader.load(self.root / directory, self.root, editor, trusted=trusted)


@pytest.fixture
def house(tmp_path):
    (tmp_path / "project").mkdir()
    (tmp_path / "home").mkdir()
    return House(tmp_path / "project", tmp_path / "home")


def rules_of(loaded: Loaded, name: str) -> list[tuple[str, str, str]]:
    layer = next(layer for layer in loaded.layers if layer.name == name)
    return [(rule.permission, rule.pattern, rule.action) for rule in layer.rules]


def test_without_files_the_defaults_hold(house):
    loaded = house.load(trusted=None)
    assert (loaded.settings.model, loaded.settings.snapshot, loaded.settings.compaction.auto) == (None, True, True)
    assert loaded.problems == ()
    assert loaded.trust == "untrusted"


def test_later_files_override_earlier_ones(house, tmp_path):
    named = tmp_path / "named.jsonc"
    house.env["AGENTLS_CONFIG"] = str(named)
    order = [
        ".config/agentls/agentls.json",
        "",
        "agentls.json",
        ".agentls/agentls.jsonc",
        "sub/agentls.json",
        "sub/.agentls/agentls.json",
    ]
    (house.root / "sub").mkdir()
    for number, path in enumerate(order):
        value = {"model": f"p/{number}", "compaction": {"tail_turns": number}}
        if number == 0:
            value["username"] = "first"
        if path:
            house.write(path, value)
        else:
            named.write_text(json.dumps(value))
        assert house.load("sub").settings.model == f"p/{number}", path
    loaded = house.load("sub", {"model": "p/editor"})
    assert (loaded.settings.model, loaded.settings.username, loaded.settings.compaction.tail_turns) == (
        "p/editor",
        "first",
        5,
    )
    assert house.load("").settings.model == "p/3"
    assert {problem.severity for problem in loaded.problems} == {"info"}


def test_objects_merge_arrays_replace_instructions_join(house):
    house.write(
        ".config/agentls/agentls.json", {"instructions": ["a.md"], "mcp": {"x": {"command": ["a", "b"], "timeout": 5}}}
    )
    house.write("agentls.json", {"instructions": ["b.md", "~/c.md"], "mcp": {"x": {"command": ["c"]}}})
    settings = house.load().settings
    assert settings.instructions == ("a.md", str(house.root / "b.md"), str(house.home / "c.md"))
    assert settings.mcp["x"].command == ("c",)
    assert settings.mcp["x"].timeout == 5


def test_permissions_keep_their_order_and_their_origin(house):
    house.write(".config/agentls/agentls.json", {"permission": "ask"})
    house.write(
        "agentls.json", {"permission": {"bash": {"*": "ask", "rm *": "deny", "~/x *": "allow"}, "edit": "allow"}}
    )
    loaded = house.load(
        editor={"permission": {"read": {"$HOME/k": "deny"}}, "agent": {"build": {"permission": {"bash": "deny"}}}}
    )
    assert rules_of(loaded, "user") == [("*", "*", "ask")]
    assert rules_of(loaded, "project") == [
        ("bash", "*", "ask"),
        ("bash", "rm *", "deny"),
        ("bash", f"{house.home}/x *", "allow"),
        ("edit", "*", "allow"),
    ]
    assert rules_of(loaded, "editor") == [("read", f"{house.home}/k", "deny")]
    assert [layer.name for layer in loaded.layers if "build" in layer.agents] == ["editor"]


def test_a_wrong_value_names_its_place_and_the_rest_counts(house):
    house.write(
        "agentls.json",
        '{\n  "snapshot": "no",\n  "model": "a/b",\n  "agent": {\n    "x": {"prompt": "p", "temperature": []}\n  },\n'
        '  "permission": {"bash": {"rm *": "denyy", "": "deny"}, "edit": 3}\n}',
    )
    loaded = house.load()
    assert loaded.settings.model == "a/b"
    assert loaded.settings.snapshot is True
    assert loaded.settings.agent["x"].prompt == "p"
    places = {(problem.line, problem.column) for problem in loaded.problems}
    assert {(2, 3), (5, 26), (7, 27), (7, 44), (7, 57)} == places
    assert rules_of(loaded, "project") == [("bash", "rm *", "ask"), ("edit", "*", "ask")]
    assert all(problem.severity == "error" and problem.path.endswith("agentls.json") for problem in loaded.problems)


def test_an_unknown_key_is_a_warning_with_its_place(house):
    house.write("agentls.json", '{\n  "modle": "a/b",\n  "compaction": {\n    "autoo": true\n  }, "$schema": "x"\n}')
    found = [(p.line, p.column, p.severity) for p in house.load().problems]
    assert found == [(2, 3, "warning"), (4, 5, "warning"), (3, 3, "info")]


def test_a_broken_file_leaves_its_last_good_content(house):
    file = house.write("agentls.json", {"model": "a/b"})
    assert house.load().settings.model == "a/b"
    file.write_text('{\n  "model": "c/d",\n  oops\n}')
    loaded = house.load()
    assert loaded.settings.model == "a/b"
    assert [(p.line, p.column, p.severity) for p in loaded.problems] == [(3, 3, "error")]
    assert "last good" in loaded.problems[0].message
    file.write_text('{"model": "c/d"}')
    assert house.load().settings.model == "c/d"
    assert house.load().problems == ()


@pytest.mark.parametrize(
    "content",
    [
        b"{",
        b"\xff\xfe",
        b"[1]",
        b"[" * 100_000,
        b" " * 1_100_000,
        b"null",
        b"3",
        b'{"mcp":' + b"[" * 900 + b"]" * 900 + b"}",
    ],
)
def test_uc18_a_file_that_is_no_settings_is_a_problem_and_never_more(house, content):
    (house.root / "agentls.json").write_bytes(content)
    loaded = house.load()
    assert len(loaded.problems) == 1
    assert loaded.settings.model is None


@pytest.mark.parametrize("make", [os.mkdir, os.mkfifo])
def test_a_folder_or_pipe_in_place_of_the_file_is_a_problem_and_is_not_waited_for(house, make):
    make(house.root / "agentls.json")
    [problem] = house.load().problems
    assert "is no file" in problem.message


def test_opencodes_files_are_read_where_ours_do_not_stand(house):
    house.write(
        ".config/opencode/opencode.json",
        {"theme": "x", "model": "a/user", "small_model": "a/small", "provider": {"a": {"npm": "x"}}},
    )
    house.write("opencode.jsonc", {"model": "a/project", "tools": {"bash": False}})
    house.write(".opencode/opencode.json", {"username": "u"})
    loaded = house.load()
    assert (loaded.settings.model, loaded.settings.small_model, loaded.settings.username) == (
        "a/project",
        "a/small",
        "u",
    )
    assert rules_of(loaded, "project") == [("bash", "*", "deny")]
    assert {problem.severity for problem in loaded.problems} == {"info"}
    house.write(".agentls/agentls.json", {})
    house.write(".config/agentls/agentls.json", {})
    assert house.load().settings.model is None


def test_references_are_filled_and_never_reported(house):
    house.env["THE_KEY"] = "s3cret"
    house.write("key.txt", "from-file\n")
    house.write(
        "agentls.json",
        {
            "provider": {
                "p": {"options": {"apiKey": "{env:THE_KEY}", "baseURL": "{file:key.txt}", "headers": {"h": "{env:NO}"}}}
            }
        },
    )
    loaded = house.load()
    options = loaded.settings.provider["p"].options
    assert (options.api_key, options.base_url, options.headers) == ("s3cret", "from-file", {"h": ""})
    assert "s3cret" not in repr(loaded)
    assert ["NO is not set" in p.message for p in loaded.problems] == [True]


def test_a_named_file_that_is_missing_is_a_problem(house):
    house.env["AGENTLS_CONFIG"] = str(house.home / "none.json")
    assert "cannot be read" in house.load().problems[0].message


def test_a_key_that_stands_twice_is_reported(house):
    house.write("agentls.json", '{"permission": {"bash": {"rm *": "deny"}, "bash": "allow"}}')
    assert "twice" in house.load().problems[0].message


def test_the_editors_mistakes_are_reported_too(house):
    loaded = house.load(editor={"snapshot": 3, "what": 1, "model": "a/b"})
    assert loaded.settings.model == "a/b"
    assert {p.severity for p in loaded.problems} == {"error", "warning"}
    assert all(p.path == "editor settings" for p in loaded.problems)


def test_paths_follow_the_environment(tmp_path):
    paths = Paths.from_environment(
        {"HOME": "/h", "XDG_CONFIG_HOME": "relative", "AGENTLS_DATA_DIR": str(tmp_path / "d")}
    )
    assert (paths.config, paths.data, paths.cache) == (
        Path("/h/.config/agentls"),
        tmp_path / "d",
        Path("/h/.cache/agentls"),
    )
    made = Paths.from_environment({"HOME": str(tmp_path)})
    made.make()
    assert made.data.stat().st_mode & 0o777 == 0o700
    assert made.log.stat().st_mode & 0o777 == 0o700


def test_keys_that_change_nothing_yet_are_one_note_for_each_file(house):
    house.write(
        "agentls.json", '{\n  "model": "a/b",\n  "small_model": "a/c", "snapshot": false,\n  "toolOutput": {}\n}'
    )
    house.write(
        ".agentls/agentls.json", {"mcp": {}, "skills": {}, "compaction": {}, "subagent_depth": 1, "shell": "sh"}
    )
    loaded = house.load(editor={"username": "u", "command": {}})
    assert [(problem.line, problem.column, problem.severity) for problem in loaded.problems] == [
        (3, 3, "info"),
        (1, 2, "info"),
        (0, 0, "info"),
    ]
    assert [problem.message for problem in loaded.problems] == [
        "`small_model`, `snapshot`, `toolOutput` are not used by this version yet",
        "`mcp`, `skills`, `compaction`, `subagent_depth`, `shell` are not used by this version yet",
        "`username`, `command` are not used by this version yet",
    ]
    assert (loaded.settings.small_model, loaded.settings.snapshot) == ("a/c", False)


def test_keys_that_are_used_are_not_noted(house):
    house.write("agentls.json", {"model": "a/b", "agent": {}, "permission": {}, "provider": {}, "instructions": []})
    assert house.load().problems == ()
