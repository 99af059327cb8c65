"""The verdict: what the rules say about a deed, before anybody is asked."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from agentls.permission import shell
from agentls.permission.patterns import is_literal, matches
from agentls.permission.shell import Part, Place, ShellPlan
from agentls.schema.permission import Action, Ask, Rule
from agentls.schema.session import Mode

_STRICTNESS: dict[Action, int] = {"allow": 0, "ask": 1, "deny": 2}
_ASKS_IN_AUTO = frozenset({"external_directory", "doom_loop"})


@dataclass(frozen=True, slots=True)
class Layer:
    """Rules of one origin, the last match wins. A deny of a `binding` layer is lifted by no later layer."""

    name: str
    rules: tuple[Rule, ...]
    binding: bool = False


@dataclass(frozen=True, slots=True)
class Verdict:
    """`rule` and `layer` say who decided; without them nothing matched. `reason` is for the person who is asked."""

    action: Action
    rule: Rule | None = None
    layer: str | None = None
    reason: str | None = None


def evaluate(layers: Sequence[Layer], permission: str, pattern: str) -> Verdict:
    """The last match of the whole list, unless a binding layer's own last match denies. No match asks."""
    verdict = Verdict("ask", reason="no rule matches")
    for layer in layers:
        rule = _last_match(layer.rules, permission, pattern)
        if rule is None:
            continue
        verdict = Verdict(rule.action, rule, layer.name)
        if layer.binding and rule.action == "deny":
            return verdict
    return verdict


def denied_wholly(layers: Sequence[Layer], permission: str) -> bool:
    """Whether a deny of everything makes it pointless to offer a tool of this permission."""
    for number, layer in enumerate(layers):
        rules = [rule for rule in layer.rules if matches(rule.permission, permission)]
        denied = bool(rules) and rules[-1].action == "deny" and rules[-1].pattern == "*"
        if denied and (layer.binding or not _touches(layers[number + 1 :], permission)):
            return True
    return False


def judge(layers: Sequence[Layer], mode: Mode, ask: Ask, place: Place | None = None) -> Verdict:
    """The strictest verdict over all patterns of `ask`, as the mode softens it. Protected deeds always ask.

    A `bash` pattern is a whole command: its parts are judged one by one, with the paths that it names.
    """
    verdicts = [_judge_one(layers, mode, ask.permission, pattern, place) for pattern in ask.patterns]
    verdict = strictest(verdicts) if verdicts else Verdict("ask", reason="nothing was named")
    if ask.protected and verdict.action == "allow":
        return Verdict("ask", reason="a protected path always asks")
    return verdict


def strictest(verdicts: Iterable[Verdict]) -> Verdict:
    """The first of the strictest; there must be one."""
    return max(verdicts, key=lambda verdict: _STRICTNESS[verdict.action])


def _judge_one(layers: Sequence[Layer], mode: Mode, permission: str, pattern: str, place: Place | None) -> Verdict:
    if permission == "bash":
        return _judge_command(layers, mode, pattern, place)
    return _softened(evaluate(layers, permission, pattern), mode, permission)


def _softened(verdict: Verdict, mode: Mode, permission: str) -> Verdict:
    if verdict.action != "ask":
        return verdict
    softens = (mode == "acceptEdits" and permission == "edit") or (mode == "auto" and permission not in _ASKS_IN_AUTO)
    return Verdict("allow", verdict.rule, verdict.layer, f"mode {mode}") if softens else verdict


def _judge_command(layers: Sequence[Layer], mode: Mode, command: str, place: Place | None) -> Verdict:
    plan = shell.analyse(command, place)
    denied = _first_deny(layers, plan)
    if denied is not None:
        return denied
    verdicts = [_softened(_by_parts(layers, plan), mode, "bash")]
    verdicts += [
        _softened(evaluate(layers, "external_directory", path), mode, "external_directory") for path in plan.outside
    ]
    verdicts += [_softened(verdict, mode, "read") for verdict in _reads(layers, plan)]
    if not plan.whole:
        verdicts.append(Verdict("ask", reason=plan.reason or "it is too much to look through"))
    if plan.protected:
        verdicts.append(Verdict("ask", reason=f"{plan.protected[0]} is protected"))
    return strictest(verdicts)


def _first_deny(layers: Sequence[Layer], plan: ShellPlan) -> Verdict | None:
    denies = {
        rule.pattern
        for layer in layers
        for rule in layer.rules
        if rule.action == "deny" and matches(rule.permission, "bash")
    }
    naming = {pattern for pattern in denies if pattern.strip("*? ")}
    return _denied(layers, plan.looks, denies) or _denied(layers, plan.payloads, naming)


def _denied(layers: Sequence[Layer], texts: Sequence[str], denies: Collection[str]) -> Verdict | None:
    for text in texts if denies else ():
        if not any(matches(pattern, text) for pattern in denies):
            continue
        verdict = evaluate(layers, "bash", text)
        if verdict.action == "deny" and verdict.rule is not None and verdict.rule.pattern in denies:
            return verdict
    return None


def _by_parts(layers: Sequence[Layer], plan: ShellPlan) -> Verdict:
    if plan.parts is None:
        return Verdict("ask", reason=plan.reason)
    return strictest([_judge_part(layers, part) for part in plan.parts])


def _judge_part(layers: Sequence[Layer], part: Part) -> Verdict:
    verdict = evaluate(layers, "bash", part.text)
    if verdict.action == "ask" and part.words[0] == "cd" and (verdict.rule is None or verdict.rule.pattern == "*"):
        return Verdict("allow", reason="where it leads is judged as a path")
    if verdict.action != "allow" or verdict.rule is None:
        return verdict
    pattern = verdict.rule.pattern
    if not matches(pattern, part.fused):
        return Verdict("ask", reason=f"the quotes in `{part.text}` hide where its words end")
    if is_literal(pattern) or part.risk is None or part.risk.covered_by(pattern):
        return verdict
    return Verdict("ask", verdict.rule, verdict.layer, part.risk.reason)


def _reads(layers: Sequence[Layer], plan: ShellPlan) -> list[Verdict]:
    """Only rules about certain files count here: one about every file would make each word of a command a file."""
    rules = [rule for layer in layers for rule in layer.rules if matches(rule.permission, "read")]
    patterns = {rule.pattern for rule in rules if rule.pattern != "*"}
    named = [path for path in plan.operands if any(matches(pattern, path) for pattern in patterns)]
    verdicts = [evaluate(layers, "read", path) for path in named]
    return [verdict for verdict in verdicts if verdict.rule is not None and verdict.rule.pattern != "*"]


def _last_match(rules: Sequence[Rule], permission: str, pattern: str) -> Rule | None:
    for rule in reversed(rules):
        if matches(rule.permission, permission) and matches(rule.pattern, pattern):
            return rule
    return None


def _touches(layers: Sequence[Layer], permission: str) -> bool:
    return any(matches(rule.permission, permission) for layer in layers for rule in layer.rules)
