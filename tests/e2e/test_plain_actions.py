"""A client with no code of ours: code actions about the text in the editor."""

import re

from e2e.model import Script, says
from e2e.plain import Plain, heard, range_of


async def test_asking_about_the_selection_sends_its_text_as_it_stands_in_the_editor(
    plain: Plain, model: Script
) -> None:
    uri = plain.opens("a.py", "x = '🙂' + old\ny = 2\n")
    change = {"range": range_of(0, 11, 0, 14), "text": "fresh"}
    versioned = {"textDocument": {"uri": uri, "version": 2}, "contentChanges": [change]}
    plain.client.notify("textDocument/didChange", versioned)
    [action] = await plain.actions(uri, range_of(0, 5, 1, 0))
    assert action["title"] == "Ask about the selection"
    assert action["tags"] == [1]
    model.plays(says("A face."))
    await plain.run(action["command"]["command"], *action["command"]["arguments"])
    await plain.told("A face.")
    assert f"lines 1 to 1 of {plain.folder}/a.py" in heard(model)
    assert "🙂' + fresh\n" in heard(model)
    assert "Explain this." in heard(model)


async def test_fixing_a_diagnostic_sends_it_with_its_lines(plain: Plain, model: Script) -> None:
    uri = plain.opens("a.py", "import os\nprint(undefined_name)\n")
    where = range_of(1, 6, 1, 20)
    diagnostic = {"range": where, "severity": 1, "source": "lint", "message": "undefined\nname " + "x" * 80}
    actions = await plain.actions(uri, range_of(1, 6, 1, 6), diagnostics=[diagnostic])
    assert [action["kind"] for action in actions] == ["quickfix"]
    [action] = actions
    assert action["title"].startswith("Fix this diagnostic: undefined name xxx")
    assert len(action["title"]) <= 85
    assert action["diagnostics"][0]["message"] == diagnostic["message"]
    model.plays(says("Fixed."))
    await plain.run(action["command"]["command"], *action["command"]["arguments"])
    await plain.told("Fixed.")
    assert re.search(r"2:7 error: undefined\sname xxx", heard(model))
    assert "[lint]" in heard(model)
    assert "lines 2 to 2" in heard(model)
    assert "print(undefined_name)" in heard(model)


async def test_a_selection_in_a_document_that_is_not_open_is_refused(plain: Plain) -> None:
    part = {"type": "selection", "uri": "file:///nowhere.py", "range": range_of(0, 0, 1, 0)}
    error = await plain.refused("agentls.prompt", {"text": "Explain", "parts": [part]})
    assert "file:///nowhere.py is not open" in error.message
