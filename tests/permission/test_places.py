"""Operands as the disk resolves them."""

import pytest

from agentls.permission.places import outside
from agentls.permission.shell import Place, analyse


@pytest.fixture
def root(tmp_path):
    (tmp_path / "project" / "src").mkdir(parents=True)
    (tmp_path / "outside").mkdir()
    (tmp_path / "project" / "link").symlink_to(tmp_path / "outside")
    (tmp_path / "project" / "loop").symlink_to(tmp_path / "project" / "loop")
    return tmp_path / "project"


def at(cwd, root):
    return Place(root=str(root), cwd=str(cwd), home="/home/of/nobody")


@pytest.mark.parametrize(
    "operand", ["link", "link/x", "link/..", "src/../../outside", "/etc/passwd", "../project-evil"]
)
def test_pe14_what_leads_out_is_named_by_its_real_path(root, operand):
    found = outside((operand,), at(root, root))
    assert len(found) == 1
    assert not found[0].startswith(f"{root}/")


@pytest.mark.parametrize("operand", ["src", "src/..", "", "-n", "a b", "nul\0", "loop", "x" * 5000, "\ud800"])
def test_what_stays_inside_or_is_no_path_is_not_named(root, operand):
    assert outside((operand,), at(root, root)) == ()


def test_operands_of_a_command_are_followed_from_where_it_runs(root):
    command = "cat ../link/x --file=../link/y main.py"
    found = outside(analyse(command).operands, at(root / "src", root))
    assert found == (str(root.parent / "outside" / "x"), str(root.parent / "outside" / "y"))
    assert outside(("src",), at(root.parent / "project" / "link", root)) == (str(root.parent / "outside" / "src"),)


def test_home_is_the_places_own(root):
    assert outside(("~/x", "$HOME/y"), at(root, root)) == ("/home/of/nobody/x", "/home/of/nobody/y")


def test_what_is_known_by_name_is_not_told_again_under_its_real_name(tmp_path):
    root, tools = tmp_path / "project", tmp_path / "tools"
    root.mkdir()
    tools.mkdir()
    (tools / "python").symlink_to("/usr/bin/env")
    plan = analyse(f"{tools}/python -V", at(root, root))
    assert plan.outside == (f"{tools}/python",)
    assert outside(plan.operands, at(root, root), known=plan.outside) == ()
