"""Searching with the real ripgrep, and with one that never ends."""

import time
from pathlib import Path

import pytest

from agentls.errors import ToolError
from agentls.workspace.find import find_files, rank
from agentls.workspace.globs import matcher
from agentls.workspace.search import Search


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name in ("a.py", "src/b.py", "src/deep/c.py", "src/d.txt", ".hidden/e.py", ".git/config", "build/f.py", ".env"):
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"needle in {name}\r\nother\n")
    (tmp_path / ".gitignore").write_text("build/\n*.log\n")
    (tmp_path / "x.log").write_text("needle")
    (tmp_path / ".env.example").write_text("needle=\n")
    (tmp_path / "link").symlink_to("/etc")
    return tmp_path


async def test_ignore_rules_hold_hidden_files_are_searched_and_secrets_left_out(tree: Path) -> None:
    found = await Search().grep(tree, "need.e")
    names = [str(hit.path.relative_to(tree)) for hit in found.items]
    assert names == [".env.example", ".hidden/e.py", "a.py", "src/b.py", "src/d.txt", "src/deep/c.py"]
    assert found.items[2].text == "needle in a.py"
    assert found.items[2].line == 1
    assert found.withheld == {tree / ".env"}


async def test_include_does_not_lift_the_ignore_rules(tree: Path) -> None:
    found = await Search().grep(tree, "needle", include="*.{py,log}")
    assert [hit.path.name for hit in found.items] == ["e.py", "a.py", "b.py", "c.py"]
    found = await Search().grep(tree, "needle", include="src/**/*.py")
    assert [hit.path.name for hit in found.items] == ["b.py", "c.py"]


async def test_one_file_can_be_searched(tree: Path) -> None:
    found = await Search().grep(tree / ".env", "needle")
    assert [hit.path for hit in found.items] == [tree / ".env"]


async def test_glob_gives_files_in_order_and_says_when_there_are_more(tree: Path) -> None:
    found = await Search().glob(tree, "**/*.py", limit=3)
    assert [str(path.relative_to(tree)) for path in found.items] == [".hidden/e.py", "a.py", "src/b.py"]
    assert found.more
    assert not (await Search().glob(tree, "*.py", limit=4)).more
    assert (await Search().glob(tree, "*env")).withheld == {tree / ".env"}


async def test_a_bad_pattern_is_an_error_for_the_model(tree: Path) -> None:
    with pytest.raises(ToolError, match="unclosed group"):
        await Search().grep(tree, "a(")
    with pytest.raises(ToolError, match="not valid"):
        await Search().glob(tree, "[z-a]")


async def test_a_pattern_that_looks_like_an_option_is_none(tree: Path) -> None:
    (tree / "a.py").write_text("--pre=x\n")
    assert [hit.text for hit in (await Search().grep(tree, "--pre")).items] == ["--pre=x"]


async def test_w02_a_timeout_keeps_what_was_found(tmp_path: Path) -> None:
    fake = tmp_path / "rg"
    fake.write_text("#!/bin/sh\nfor i in 1 2 3 4 5; do printf './f\\0%s:match\\n' $i; done\nexec sleep 60\n")
    fake.chmod(0o755)
    start = time.monotonic()
    found = await Search(str(fake)).grep(tmp_path, "match", timeout=1)
    assert time.monotonic() - start < 3
    assert found.timed_out
    assert [hit.line for hit in found.items] == [1, 2, 3, 4, 5]


async def test_a_missing_ripgrep_is_said_clearly(tmp_path: Path) -> None:
    with pytest.raises(ToolError, match="was not started"):
        await Search(str(tmp_path / "no-rg")).glob(tmp_path, "*")


@pytest.mark.parametrize(
    ("pattern", "path", "fits"),
    [
        ("*.py", "a/b.py", True), ("*.py", "a.pyc", False), ("src/*.py", "src/a.py", True),
        ("src/*.py", "src/x/a.py", False),
        ("src/**", "src/x/a.py", True), ("**/a.py", "a.py", True), ("a/**/b", "a/b", True), ("a/**/b", "a/x/y/b", True),
        ("*.{ts,tsx}", "x.tsx", True), ("[!a].py", "b.py", True), ("[!a].py", "a.py", False), ("a?c", "abc", True),
        ("a?c", "a/c", False), ("./x", "x", True), (r"\*", "*", True), (r"\*", "a", False), ("{a", "{a", True),
    ],
)  # fmt: skip
def test_globs(pattern: str, path: str, fits: bool) -> None:
    assert matcher(pattern)(path) is fits


async def test_files_are_found_by_parts_of_their_names(tree: Path) -> None:
    found = await find_files(Search(), tree, "b.py")
    assert found[0] == tree / "src" / "b.py"
    assert tree / "src" / "deep" / "c.py" in await find_files(Search(), tree, "sdc")
    assert len(await find_files(Search(), tree, "", limit=2)) == 2


def test_the_better_fit_comes_first() -> None:
    paths = ["deep/app.py", "app/x.py", "my_app.py", "a/p/p/y", "app"]
    fits = {path: rank(path, "app") for path in paths}
    order = sorted(paths, key=lambda path: fits[path] or (9, 0, 0))
    assert order == ["app", "deep/app.py", "my_app.py", "app/x.py", "a/p/p/y"]
    assert rank("xyz", "app") is None
