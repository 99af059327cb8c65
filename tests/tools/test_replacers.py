"""Where an edit's quote is found, and where it must not be."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from agentls.errors import ToolError
from agentls.tools.replacers import Found, replace


def applied(view: str, found: Found) -> str:
    for span in sorted(found.spans, key=lambda s: -s.start):
        view = view[: span.start] + span.text + view[span.end :]
    return view


@pytest.mark.parametrize(
    ("view", "old", "new", "result", "strategy"),
    [
        ("a\nb\nc\n", "b", "B", "a\nB\nc\n", "exact"),
        ("a \nb\t\nc", "a\nb\n", "x\n", "x\nc", "line-trimmed"),
        ("\tif x:\n\t\treturn 1\n", "    if x:\n        return 1\n", "    if y:\n        return 2\n            z\n",
         "\tif y:\n\t\treturn 2\n\t\t\tz\n", "indentation-flexible"),
        ("  def f():\n    pass\n", "def f():\n  pass", "def g():\n  pass", "  def g():\n    pass\n",
         "indentation-flexible"),
        ("x = 1;  y  = 2\n", "x = 1; y = 2", "x = 3", "x = 3\n", "whitespace-normalised"),
        ('s = "a"\nt = 1\n', 's = \\"a\\"\\nt = 1', 's = \\"b\\"', 's = "b"\n', "escape-normalised"),
        ("f(\n  'it’s',\n  1\n)\n", "f(\n  \"it's\",\n  1,\n)", "g()", "g()\n", "block-anchored"),
        ("begin\n\n  one\nend\n", "begin\n  one\nend", "x", "x\n", "block-anchored"),
    ],
)  # fmt: skip
def test_strategies_in_order(view: str, old: str, new: str, result: str, strategy: str) -> None:
    found = replace(view, old, new, every=False)
    assert (applied(view, found), found.strategy) == (result, strategy)


def test_e08_a_quote_of_lines_far_apart_is_refused() -> None:
    lines = [f"line {i} {{" if i % 7 else "}" for i in range(500)]
    old = f"{lines[10]}\n}}\n\n{lines[480]}"
    with pytest.raises(ToolError):
        replace("\n".join(lines), old, "x", every=False)


def test_e09_drift_inside_is_refused_and_shown() -> None:
    with pytest.raises(ToolError) as refused:
        replace("a\nb=2\nc\n", "a\nb=99\nc", "x", every=False)
    assert "line 2 of oldString is\nb=99\nand line 2 of the file is\nb=2" in refused.value.message


@pytest.mark.parametrize(
    ("line", "quote"), [("if a < b:", "if a > b:"), ("x = 30", "x = 31"), ("not ok", "ok"), ("a.b", "a->b")]
)
def test_e09_no_measure_of_likeness_lets_drift_pass(line: str, quote: str) -> None:
    with pytest.raises(ToolError):
        replace(f"start\n{line}\nmore\nend\n", f"start\n{quote}\nmore\nend", "x", every=False)


def test_e06_inconsistent_indentation_is_refused_with_the_real_lines() -> None:
    view = "\tif x:\n\t\treturn 1\n\treturn 2\n"
    with pytest.raises(ToolError) as refused:
        replace(view, "  if x:\n  return 1\n  return 2", "y", every=False)
    assert "indentation differs: the file uses tabs" in refused.value.message
    assert "2: \t\treturn 1" in refused.value.message


def test_a_quote_with_line_numbers_is_told_so() -> None:
    with pytest.raises(ToolError, match="line numbers"):
        replace("a\nb\n", "1: a\n2: b", "x", every=False)


@pytest.mark.parametrize("every", [True, False])
def test_loose_matches_must_be_the_only_ones(every: bool) -> None:
    with pytest.raises(ToolError, match="2 places"):
        replace("  a\n  b\n    a\n    b\n", "a\nb", "x", every=every)


def test_several_places_need_replace_all_even_when_they_overlap() -> None:
    with pytest.raises(ToolError, match="lines 1, 3"):
        replace("a\nb\na\n", "a", "x", every=False)
    with pytest.raises(ToolError, match="more than one place"):
        replace("aaa", "aa", "x", every=False)
    assert applied("a\nb\na\n", replace("a\nb\na\n", "a", "x", every=True)) == "x\nb\nx\n"


def test_nothing_to_change_is_an_error() -> None:
    with pytest.raises(ToolError, match="nothing to change"):
        replace("a", "a", "a", every=False)


def test_a_far_off_quote_names_the_nearest_lines() -> None:
    with pytest.raises(ToolError, match="2: compute_the_total"):
        replace("x\ncompute_the_total(items)\n", "compute_the_totals(item)", "y", every=False)


_LINES = st.lists(
    st.sampled_from(["a", "b", "  a", "\tb", "c ", "", "a b", "a  b", "'q'", '"q"', "}"]), min_size=1, max_size=12
)


@given(_LINES, _LINES, st.booleans())
def test_e08_e09_an_edit_changes_only_what_it_quoted(lines: list[str], quoted: list[str], every: bool) -> None:
    view, old, new = "\n".join(lines), "\n".join(quoted), "NEW"
    assume(old)
    try:
        found = replace(view, old, new, every=every)
    except ToolError:
        return
    for span in found.spans:
        replaced = view[span.start : span.end]
        assert abs(replaced.count("\n") - old.count("\n")) <= 1
        assert _letters(replaced) == _letters(old)
        if found.strategy != "exact":
            assert span.start == 0 or view[span.start - 1] == "\n"


def _letters(text: str) -> list[str]:
    return [c for c in text if not c.isspace() and c not in "'\""]
