"""Which instruction files hold."""

from pathlib import Path

import pytest

from agentls.config.instructions import instructions
from agentls.config.paths import Paths


@pytest.fixture
def paths(tmp_path):
    paths = Paths.from_environment({"HOME": str(tmp_path / "home")})
    paths.config.mkdir(parents=True)
    return paths


@pytest.fixture
def root(tmp_path):
    (tmp_path / "project" / "a" / "b").mkdir(parents=True)
    return tmp_path / "project"


def texts(found) -> list[str]:
    return [text for _, text in found.files]


def test_the_users_own_then_from_the_root_down_then_patterns(root, paths):
    (paths.config / "AGENTS.md").write_text("mine")
    (root / "AGENTS.md").write_text("root")
    (root / "CLAUDE.md").write_text("hidden by AGENTS.md")
    (root / "a" / "CLAUDE.md").write_text("inner")
    (root / "docs").mkdir()
    (root / "docs" / "x.md").write_text("x")
    (root / "docs" / "y.md").write_text("y")
    found = instructions(root / "a" / "b", root, paths, ("docs/*.md", str(root / "docs" / "x.md"), "none/*", ""))
    assert texts(found) == ["mine", "root", "inner", "x", "y"]
    assert found.problems == ()


def test_sizes_are_bounded_and_unreadable_files_skipped(root, paths):
    (root / "AGENTS.md").write_text("é" * 100_000)
    (root / "a" / "AGENTS.md").symlink_to(root / "missing")
    (root / "a" / "b" / "AGENTS.md").mkdir()
    found = instructions(root / "a" / "b", root, paths)
    assert len(texts(found)) == 1
    assert len(texts(found)[0].encode()) <= 64 * 1024 + 3
    assert {Path(problem.path).parent.name for problem in found.problems} == {"project", "a"}


def test_files_that_are_no_text_leave_no_room_below_zero(root, paths):
    (root / "AGENTS.md").write_bytes(b"\xff" * 64 * 1024)  # each byte becomes a sign of three
    for name in ("x", "y"):
        (root / f"{name}.md").write_bytes(b"\xff" * 64 * 1024)
    (root / "z.md").write_text("z" * 1000)
    found = instructions(root, root, paths, ("x.md", "y.md", "z.md"))
    assert "z" not in "".join(texts(found))
    assert any("z.md" in problem.path and "is cut" in problem.message for problem in found.problems)


def test_pe14_a_link_out_of_an_untrusted_project_is_not_followed(root, paths, tmp_path):
    (tmp_path / "secret").write_text("secret")
    (root / "AGENTS.md").symlink_to(tmp_path / "secret")
    found = instructions(root, root, paths)
    assert texts(found) == []
    assert "out of the project" in found.problems[0].message
    assert texts(instructions(root, root, paths, trusted=True)) == ["secret"]


def test_urls_are_reported(root, paths):
    found = instructions(root, root, paths, ("https://x.test/a.md",))
    assert texts(found) == []
    assert len(found.problems) == 1
