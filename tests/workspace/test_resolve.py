"""From a tool's path to the real file."""

import os
import subprocess
from pathlib import Path

import pytest

from agentls.config.protected import is_secret
from agentls.errors import ToolError
from agentls.workspace.project import project_of
from agentls.workspace.resolve import resolve


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    (root / "src").mkdir(parents=True)
    (root / "src" / "a.py").write_text("x")
    return root


@pytest.mark.parametrize(
    ("argument", "pattern"),
    [
        ("a.py", "src/a.py"),
        ("./../src/a.py", "src/a.py"),
        ("../new/deep/b.py", "new/deep/b.py"),
        ("{root}/src/a.py", "src/a.py"),
        ("file://{root}/src/a.py", "src/a.py"),
        ("file://localhost{root}/src/%61.py", "src/a.py"),
        ("/proc/self/root{root}/src/a.py", "src/a.py"),
    ],
)
def test_spellings_of_a_path_are_one_path(root: Path, argument: str, pattern: str) -> None:
    found = resolve(argument.format(root=root), root / "src", root)
    assert found.inside
    assert found.shown == pattern
    assert found.path == root / pattern


def test_home_is_outside(root: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    found = resolve("~/notes.txt", root, root)
    assert not found.inside
    assert found.shown == str(tmp_path / "notes.txt")
    assert resolve("~notes.txt", root, root).shown == "~notes.txt"


def test_a_link_is_judged_by_where_it_leads(root: Path, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("s")
    (root / "link").symlink_to(tmp_path / "secret")
    (root / "dangling").symlink_to(tmp_path / "not-yet")
    (root / "folder").symlink_to(tmp_path)
    (root / "within").symlink_to("src/a.py")
    assert not resolve("link", root, root).inside
    assert not resolve("dangling", root, root).inside
    assert not resolve("folder/x", root, root).inside
    assert resolve("within", root, root).shown == "src/a.py"
    assert resolve("folder/../x", root, root).path == tmp_path.parent / "x"


@pytest.mark.parametrize(
    "argument", ["", "  ", "a\0b", "file://host/x", "/dev/fd/0", "/dev/stdin", "/proc/self/fd/0", "a\ud800"]
)
def test_what_is_no_path_of_a_file_is_an_error(root: Path, argument: str) -> None:
    with pytest.raises(ToolError):
        resolve(argument, root, root)


def test_a_descriptor_in_a_links_disguise_is_an_error(root: Path) -> None:
    (root / "x").symlink_to("/dev/fd")
    read_end, write_end = os.pipe()
    try:
        with pytest.raises(ToolError):
            resolve(f"x/{read_end}", root, root)
    finally:
        os.close(read_end)
        os.close(write_end)


@pytest.mark.parametrize(
    "path",
    [
        ".git/hooks/pre-commit", ".git/config", ".GIT/hooks/x", ".g\u200cit/config", "sub/.git/hooks/x", ".gitmodules",
        ".vscode/tasks.json", "pkg/.idea/x.xml", ".bashrc", ".zshenv", ".envrc", ".mcp.json", "agentls.json",
        "sub/agentls.jsonc", ".agentls/agent/x.md", "opencode.json", ".opencode/command/x.md", ".npmrc", "pip.conf",
        ".claude/skills/x/SKILL.md", ".git", ".cargo/config.toml",
    ],
)  # fmt: skip
def test_protected_paths_are_told_also_when_missing(root: Path, path: str) -> None:
    assert resolve(path, root, root).protected


@pytest.mark.parametrize(
    "path", ["src/a.py", "git/config", ".github/workflows/x.yml", "config", "hooks/x", ".gitignore", "vscode/x"]
)
def test_common_paths_are_not_protected(root: Path, path: str) -> None:
    assert not resolve(path, root, root).protected


def test_a_link_to_a_protected_file_is_protected(root: Path) -> None:
    (root / ".vscode").mkdir()
    (root / "innocent").symlink_to(".vscode")
    assert resolve("innocent/settings.json", root, root).protected


@pytest.mark.parametrize(
    ("name", "secret"),
    [
        (".env", True),
        ("prod.env", True),
        (".env.local", True),
        (".ENV", True),
        (".env.example", False),
        ("env.py", False),
    ],
)
def test_p25_names_of_secret_files(name: str, secret: bool) -> None:
    assert is_secret(Path("sub") / name) is secret


def test_the_project_is_the_worktrees_root_or_the_folder_itself(tmp_path: Path) -> None:
    plain = tmp_path / "plain" / "deep"
    plain.mkdir(parents=True)
    assert project_of(plain).root == plain
    assert not project_of(plain).is_git
    repository = tmp_path / "repository"
    subprocess.run(["git", "init", "-q", str(repository)], check=True)
    (repository / "a" / "b").mkdir(parents=True)
    found = project_of(repository / "a" / "b")
    assert (found.root, found.is_git) == (repository, True)
    assert found.id == project_of(repository).id != project_of(plain).id


def test_a_linked_worktree_and_a_link_to_the_folder_are_found(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    (tree / "x").mkdir(parents=True)
    (tree / ".git").write_text("gitdir: /elsewhere\n")
    (tmp_path / "alias").symlink_to(tree)
    assert project_of(tmp_path / "alias" / "x") == project_of(tree)


WINDOWS = ("C:\\tmp\\x.py", "c:/tmp/x.py", "C:\\tmp/x.py", "file:///c%3A/tmp/x.py", "file:///C:/tmp/x.py", "C:", "D:\\")


@pytest.mark.parametrize("argument", WINDOWS)
def test_b16_a_path_of_windows_is_told_what_to_give_in_its_place(root: Path, argument: str) -> None:
    with pytest.raises(ToolError, match=r"a path of Windows.*Give "):
        resolve(argument, root, root)
    assert list(root.iterdir()) == [root / "src"]


@pytest.mark.parametrize("argument", WINDOWS[:5])
def test_b16_where_windows_drives_are_mounted_the_path_is_given(
    root: Path, argument: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    is_dir = Path.is_dir
    monkeypatch.setattr(Path, "is_dir", lambda path: str(path) == "/mnt/c" or is_dir(path))
    with pytest.raises(ToolError, match=r"Give /mnt/c/tmp/x\.py\.$"):
        resolve(argument, root, root)


@pytest.mark.parametrize(
    ("argument", "slashed"),
    [
        ("src\\a.py", "src/a.py"),
        (".\\src\\a.py", "./src/a.py"),
        ("\\\\host\\x", "//host/x"),
        ("src/deep\\b", "src/deep/b"),
    ],
)
def test_b16_backslashes_are_no_separators_here_and_the_error_says_what_is(
    root: Path, argument: str, slashed: str
) -> None:
    with pytest.raises(ToolError, match="backslashes") as refused:
        resolve(argument, root, root)
    assert str(refused.value).endswith(slashed)


@pytest.mark.parametrize("name", ["odd\\name.txt", "C:\\odd", "a:b.txt"])
def test_b16_a_file_that_has_such_a_name_is_found(root: Path, name: str) -> None:
    (root / name).write_text("x")
    assert resolve(name, root, root).shown == name


@pytest.mark.parametrize("argument", ["a:b", "x:1", "ab:/x", "time 12:30.txt"])
def test_b16_a_colon_makes_no_drive(root: Path, argument: str) -> None:
    assert resolve(argument, root, root).shown == argument
