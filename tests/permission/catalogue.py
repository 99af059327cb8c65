"""The catalogue of shell strings, with the rules they are judged by."""

import json
from collections.abc import Mapping
from pathlib import Path

from agentls.permission.rules import Layer
from agentls.schema.permission import Rule

_CASES = json.loads((Path(__file__).parent / "shell_cases.json").read_text(encoding="utf-8"))
CASES: list[dict[str, object]] = _CASES["cases"]


def layer(settings: Mapping[str, object], name: str = "user") -> Layer:
    rules: list[Rule] = []
    for permission, value in settings.items():
        patterns = value if isinstance(value, dict) else {"*": value}
        rules += [Rule(permission=permission, pattern=p, action=a) for p, a in patterns.items()]
    return Layer(name, tuple(rules), binding=True)


RULESETS = {name: layer(rules) for name, rules in _CASES["rulesets"].items()}
