"""A whole piece of work, as the README shows it: look, plan, ask, change, run, tell."""

from collections.abc import Callable

from nvim import Nvim
from steps import dialog, idle, send

from conftest import Desk

CODE = '''"""Prices."""


def total(items, discount=0.0):
    amount = 0
    for item in items:
        amount += item["price"]
    return amount - discount


def average(items):
    return total(items) / len(items)
'''
TEST = """from prices import average


def test_nothing_costs_nothing():
    assert average([]) == 0
"""
TODOS = [
    {"content": "Read average() and its callers", "status": "completed", "priority": "high"},
    {"content": "Return 0 for an empty list", "status": "in_progress", "priority": "high"},
    {"content": "Run the tests", "status": "pending", "priority": "medium"},
]
OLD = "    return total(items) / len(items)"
NEW = "    if not items:\n        return 0\n    return total(items) / len(items)"
ANSWER = """`average` divided by the number of items, which is 0 for an empty list. It returns **0** for one now:

```python
if not items:
    return 0
```

The test passes."""


def call(name: str, **arguments: object) -> dict[str, object]:
    return {"calls": [{"name": name, "arguments": arguments}]}


def test_a_bug_is_found_asked_about_mended_and_told(desk: Desk, picture: Callable[[Nvim, str], None]) -> None:
    desk.project = desk.home / "prices"
    desk.project.mkdir()
    (desk.project / "prices.py").write_text(CODE, encoding="utf-8")
    (desk.project / "test_prices.py").write_text(TEST, encoding="utf-8")
    done = [TODOS[0], *({**todo, "status": "completed"} for todo in TODOS[1:])]
    desk.model(
        {"reasoning": "An empty list has length 0.", **call("read", filePath="prices.py")},
        call("todowrite", todos=TODOS),
        call("edit", filePath="prices.py", oldString=OLD, newString=NEW),
        call("bash", command="python3 -c 'from prices import average; print(average([]))'"),
        call("todowrite", todos=done),
        {"text": ANSWER},
    )
    nvim = desk.editor(width=118, height=36)
    nvim.lua("vim.o.laststatus, vim.o.ruler, vim.o.number = 2, false, true")
    nvim.keys(":edit prices.py<CR>:Agent<CR>")
    nvim.screen.wait_for("@ attach")
    send(nvim, "average([]) fails. Mend it.")
    dialog(nvim, "Permission · edit")
    picture(nvim, "neovim-permission")
    nvim.keys("o")
    dialog(nvim, "Permission · bash")
    nvim.keys("o")
    nvim.screen.wait_for("The test passes.")
    idle(nvim)
    nvim.screen.wait_gone("● working")
    assert nvim.lua("return vim.fn.getbufline('prices.py', 12, 13)") == NEW.split("\n")[:2]
    assert (desk.project / "prices.py").read_text(encoding="utf-8") == CODE.replace(OLD, NEW)
    picture(nvim, "neovim-chat")
